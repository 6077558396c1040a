// SPDX-License-Identifier: MIT
// Several bugs in one launch, for nw check: each is found though others come before it.
        .include        "begin.s"
        global_load_b32 v2, v1, s[4:5]
        v_add_nc_u32    v3, 1, v2               // no wait
        v_add_nc_u32    v3, 2, v2               // of the same load: told once
        wait_loads
        global_store_b32 v1, v40, s[6:7]        // uninitialised
        global_store_b32 v1, v3, s[4:5] offset:256 // past the end
        ds_store_b32    v1, v0
        wait_lds
        v_xor_b32       v4, 0x80, v1
        ds_load_b32     v5, v4                  // no barrier
        wait_lds
        s_cmp_eq_u32    s30, 1                  // uninitialised
        s_cbranch_scc1  .Lskipped
        s_nop           0
.Lskipped:
        .include        "end.s"
