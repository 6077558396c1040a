// SPDX-License-Identifier: MIT
// A store to where the program counter points; reading there is fine.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        s_getpc_b64     s[12:13]
        v_mov_b32       v2, 0
.if BUG
        global_store_b32 v2, v2, s[12:13] // expect: mem write_to_code
.else
        global_load_b32 v2, v2, s[12:13]
.endif
        .include        "end.s"
