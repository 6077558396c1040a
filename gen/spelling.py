# SPDX-License-Identifier: MIT
"""Mnemonics of gfx11 as gfx10 spells them (note A-013). Templates use the names of gfx11 throughout.

    spelling.py OUT  writes them for host/sim/isa/gfx10_names.cpp: OLD_NAME("of gfx10", "of gfx11"), and SECOND_NAME
                     where gfx10 has the latter, too
    spelling.py OUT IN GFX  writes the assembly IN as GFX spells it
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import targets

UNITS = ("global", "flat", "scratch", "buffer", "tbuffer", "s", "s_buffer", "s_scratch")
WIDTHS = {"b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4", "b256": "dwordx8", "b512": "dwordx16"}
FORMATS = {f"d16_format_{c}": f"format_d16_{c}" for c in ("x", "xy", "xyz", "xyzw")} | {"d16_hi_format_x": "format_d16_hi_x"}
LOADED = WIDTHS | FORMATS | {
    "u8": "ubyte", "i8": "sbyte", "u16": "ushort", "i16": "sshort", "d16_u8": "ubyte_d16", "d16_i8": "sbyte_d16",
    "d16_b16": "short_d16", "d16_hi_u8": "ubyte_d16_hi", "d16_hi_i8": "sbyte_d16_hi", "d16_hi_b16": "short_d16_hi",
    "addtid_b32": "dword_addtid",
}  # fmt: skip
STORED = WIDTHS | FORMATS | {
    "b8": "byte", "b16": "short", "d16_hi_b8": "byte_d16_hi", "d16_hi_b16": "short_d16_hi", "addtid_b32": "dword_addtid",
}  # fmt: skip
ATOMICS = {
    "swap_b": "swap", "cmpswap_b": "cmpswap", "add_u": "add", "sub_u": "sub", "min_i": "smin", "min_u": "umin", "max_i": "smax",
    "max_u": "umax", "and_b": "and", "or_b": "or", "xor_b": "xor", "inc_u": "inc", "dec_u": "dec", "cmpswap_f": "fcmpswap",
    "min_f": "fmin", "max_f": "fmax", "csub_u": "csub",
}  # fmt: skip
DS_LOADED = ("b32", "b64", "b96", "b128", "u8", "i8", "u16", "i16", "u8_d16", "i8_d16", "u16_d16", "u8_d16_hi", "i8_d16_hi", "u16_d16_hi", "addtid_b32")
DS_STORED = ("b8", "b16", "b32", "b64", "b96", "b128", "b8_d16_hi", "b16_d16_hi", "addtid_b32")
LOGIC = {"and_not1": "andn2", "or_not1": "orn2", "and_not0": "andn1", "or_not0": "orn1"}
OTHERS = {
    "s_ctz_i32_b32": "s_ff1_i32_b32", "s_ctz_i32_b64": "s_ff1_i32_b64", "s_clz_i32_u32": "s_flbit_i32_b32",
    "s_clz_i32_u64": "s_flbit_i32_b64", "s_cls_i32": "s_flbit_i32", "s_cls_i32_i64": "s_flbit_i32_i64",
    "s_set_inst_prefetch_distance": "s_inst_prefetch",
    "v_ctz_i32_b32": "v_ffbl_b32", "v_clz_i32_u32": "v_ffbh_u32", "v_cls_i32": "v_ffbh_i32",
    "v_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32", "v_cvt_nearest_i32_f32": "v_cvt_rpi_i32_f32", "v_cvt_floor_i32_f32": "v_cvt_flr_i32_f32",
    "v_mul_dx9_zero_f32": "v_mul_legacy_f32", "v_fma_dx9_zero_f32": "v_fma_legacy_f32", "v_fmac_dx9_zero_f32": "v_fmac_legacy_f32",
    "v_dot2acc_f32_f16": "v_dot2c_f32_f16",
    "v_interp_attribute_p2_f32": "v_interp_p2_f32", "v_interp_attribute_p2_f16": "v_interp_p2_f16",  # not gfx11's of these names
}  # fmt: skip

SECOND = {"v_mul_lo_i32": "v_mul_lo_u32"}  # a second name of gfx10's, by that


def memory() -> Iterator[tuple[str, str]]:
    for unit in UNITS:
        for what, kinds in (("load", LOADED), ("store", STORED)):
            yield from ((f"{unit}_{what}_{new}", f"{unit}_{what}_{old}") for new, old in kinds.items())
        for new, old in ATOMICS.items():
            yield f"{unit}_atomic_{new}32", f"{unit}_atomic_{old}"
            yield f"{unit}_atomic_{new}64", f"{unit}_atomic_{old}_x2"


def lds() -> Iterator[tuple[str, str]]:
    for what, old, kinds in (("load", "read", DS_LOADED), ("store", "write", DS_STORED)):
        yield from ((f"ds_{what}_{kind}", f"ds_{old}_{kind}") for kind in kinds)
    for kind in ("b32", "b64"):
        for stride, st64 in (("", ""), ("stride64_", "st64")):
            yield f"ds_load_2addr_{stride}{kind}", f"ds_read2{st64}_{kind}"
            yield f"ds_store_2addr_{stride}{kind}", f"ds_write2{st64}_{kind}"
            yield f"ds_storexchg_2addr_{stride}rtn_{kind}", f"ds_wrxchg2{st64}_rtn_{kind}"
        yield f"ds_storexchg_rtn_{kind}", f"ds_wrxchg_rtn_{kind}"
    for kind in ("b32", "b64", "f32", "f64"):
        for returns in ("", "rtn_"):
            yield f"ds_cmpstore_{returns}{kind}", f"ds_cmpst_{returns}{kind}"


def names() -> dict[str, str]:
    """gfx11's name -> gfx10's."""
    out = dict(memory()) | dict(lds()) | OTHERS
    for size in ("b32", "b64"):
        for new, old in LOGIC.items():
            out |= {f"s_{new}_saveexec_{size}": f"s_{old}_saveexec_{size}", f"s_{new}_wrexec_{size}": f"s_{old}_wrexec_{size}"}
            if new.endswith("1"):
                out[f"s_{new}_{size}"] = f"s_{old}_{size}"
    for kind in ("f16", "f32", "f64"):
        out |= {f"v_cmp_t_{kind}": f"v_cmp_tru_{kind}", f"v_cmpx_t_{kind}": f"v_cmpx_tru_{kind}"}
        if kind != "f64":
            out |= {f"v_cvt_pk_norm_{sign}16_{kind}": f"v_cvt_pknorm_{sign}16_{kind}" for sign in "iu"}
    return out


NAMES = names()
MNEMONIC = re.compile(r"^( +)([a-z]\w+)( *)", re.MULTILINE)


def old_names(text: str) -> str:
    """The lines of a rendered body; operands stay in their column where the name allows."""

    def renamed(at: re.Match[str]) -> str:
        indent, name, space = at.groups()
        old = NAMES.get(name, name)
        return f"{indent}{old}{' ' * max(len(name) + len(space) - len(old), 1) if space else ''}"

    return MNEMONIC.sub(renamed, text)


DOT2 = re.compile(r"^( +)v_dot2acc_f32_f16 +([^,]+), ([^,]+), ([^/\n]+?)( *//.*)?$", re.MULTILINE)


def with_dots(text: str, facts: Mapping[str, object]) -> str:
    """Without dot2, each v_dot2acc_f32_f16 as two multiply-adds of its halves, rounded one by one (note S-072). A text
    without the instruction doesn't depend on the fact."""
    if "v_dot2acc_f32_f16" not in text or facts["dot2"]:
        return text
    two = r"\1v_fma_mix_f32   \2, \3, \4, \2 op_sel_hi:[1,1,0]\5" "\n" r"\1v_fma_mix_f32   \2, \3, \4, \2 op_sel:[1,1,0] op_sel_hi:[1,1,0]\5"
    return DOT2.sub(two, text)


def main() -> int:
    if len(sys.argv) > 2:
        out, source, gfx = sys.argv[1:]
        facts, text = targets.arches_of(Path(__file__).with_name("targets.toml"))[gfx], Path(source).read_text()
        Path(out).write_text(old_names(text) if facts["old_names"] else text)
        return 0
    rows = [f'OLD_NAME("{old}", "{new}")\n' for new, old in NAMES.items()]
    rows += [f'SECOND_NAME("{second}", "{first}")\n' for second, first in SECOND.items()]
    Path(sys.argv[1]).write_text("".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
