# SPDX-License-Identifier: MIT
"""A kernel's header and its family's row of the manifest match the contract, with the kernel's parameters."""

from __future__ import annotations

import dataclasses
import json
import re
import unittest
from types import SimpleNamespace

from generator import ROOT, catalogue, emit_header, emit_manifest, expressions, family, fold, targets

ARCHES = targets.arches_of(ROOT / "gen/targets.toml")
FAMILIES = catalogue.families_of(ROOT)
KERNELS = {(k.gfx, k.symbol): k for k in catalogue.kernels(FAMILIES, ARCHES)}


def rendered(symbol: str, gfx: str = "gfx1151", **change) -> SimpleNamespace:
    k = KERNELS[gfx, symbol]
    return SimpleNamespace(kernel=dataclasses.replace(k, **change), vgprs=96, sgprs=40, lds_bytes=512, waves_per_simd=16)


def header(symbol: str) -> str:
    return emit_header.header(rendered(symbol), ARCHES["gfx1151"])


class Header(unittest.TestCase):
    def says(self, text: str, *lines: str) -> None:
        plain = re.sub(r"\s+", " ", text.replace("\n//", " "))
        for line in lines:
            self.assertIn(line, plain)

    def test_arguments(self) -> None:
        self.says(
            header("carrier_w4a16_f16"), " carrier_w4a16_f16 Packs scales and packed zero points", "0 s read f16[n, groups], stride s_stride, 2-byte aligned", "28 groups u32 = k // group",
            "32 s_stride u32 bytes, >= 2 * groups, a multiple of 2", "16 carrier written u32[n, groups]", "no overlap", "x = ceil_div(n, 8); 256 work-items each",
            "gfx1151: 96 VGPRs, 40 SGPRs, 16 waves per SIMD", "512 bytes",
        )  # fmt: skip

    def test_parameters_are_put_in(self) -> None:
        self.says(header("mid_w4a16_f16_g128_16x32"), "k u32 >= 1, a multiple of 128", "blocks u32 = ceil_div(m, 16)", "z read not read: null", "z_stride u32 not read")
        text = header("mid_w4a16_f16_g64_zp_16x32")
        self.says(text, "a multiple of 64", "z read u32[ceil_div(n, 8), scales], stride z_stride, 4-byte aligned", "scales = k // 64")
        for name in ("p.", "zeros ==", "size_", "kernel."):
            self.assertNotIn(name, text.split("// args")[1].split("// grid")[0])

    def test_lines_are_short_and_of_every_section_one(self) -> None:
        for family in FAMILIES.values():
            gfx, symbol = next(at for at, k in KERNELS.items() if k.family == family.name and at[0] in ("gfx1151", "gfx1201", "gfx1030"))
            lines = emit_header.header(rendered(symbol, gfx), ARCHES[gfx]).splitlines()
            self.assertEqual((lines[0], lines[-1]), (emit_header.RULER, emit_header.RULER))
            self.assertEqual(lines[1], f"// {symbol}")
            self.assertLessEqual(max(map(len, lines)), emit_header.WIDTH, symbol)
            keys = [line.split()[1] for line in lines[2 + len(family.title) : -1] if re.match(r"// \w", line)]
            sections = [key for key in keys if key in {"kernel", "args", "rules", "grid", "lds", *family.promises}]
            self.assertEqual(len(sections), len(set(sections)), (symbol, sections))

    def test_a_rule_that_no_launch_could_keep_to(self) -> None:
        f = FAMILIES["carrier_w4a16"]
        bad = dataclasses.replace(f, rules=[*f.rules, family.Rule("operands", "p.waves > 8", "waves = {p.waves}", about="rules")])
        with self.assertRaisesRegex(ValueError, r"carrier_w4a16_f16: `p\.waves > 8` never holds"):
            emit_header.header(rendered("carrier_w4a16_f16", contract=bad))


class Manifest(unittest.TestCase):
    def setUp(self) -> None:
        first = {k.family: rendered(k.symbol, k.gfx) for k in KERNELS.values()}
        self.manifest = json.loads(emit_manifest.manifest(list(first.values()), ARCHES))

    def test_families(self) -> None:
        self.assertEqual(self.manifest["families"].keys(), FAMILIES.keys())
        for name, row in self.manifest["families"].items():
            f = FAMILIES[name]
            self.assertEqual([a["name"] for a in row["arguments"]], f.order)
            self.assertEqual([r["text"] for r in row["rules"]], [fold.inserted(r.says, lambda x: fold.substituted(x, fold.known_of(f))) for r in f.rules])
            self.assertEqual(row["kernarg_bytes"], f.kernarg_bytes)

    def test_a_stranger_knows_every_name(self) -> None:
        """The caller's values, derived values, a kernel row's parameters and facts, facts of targets and of the part: wgps."""
        kernels = {row["family"]: row for row in self.manifest["kernels"]}
        for name, f in self.manifest["families"].items():
            k = kernels[name]
            known = {a["name"] for a in f["arguments"]} | f["let"].keys() | f["sizes"].keys() | {"part.wgps"}
            known |= {f"p.{p}" for p in k["params"]} | {f"kernel.{fact}" for fact in k} | {f"target.{fact}" for fact in self.manifest["targets"][k["gfx"]]}
            texts = [*f["let"].values(), *f["grid"], f["dynamic_lds_bytes"], *(w["bytes"] for w in f["workspace"].values())]
            texts += [rule[key] for rule in f["rules"] for key in ("when", "expr") if key in rule]
            texts += [x[0] for rule in f["rules"] for x in fold.INSERTED.findall(rule["text"])]
            texts += [a[key] for a in f["arguments"] for key in ("value", "default", "bytes", "when") if key in a]
            texts += [d for a in f["arguments"] for d in a.get("shape", [])]
            for text in texts:
                self.assertEqual(expressions.names_of(text) - known, set(), (name, text))

    def test_kernels(self) -> None:
        for row in self.manifest["kernels"]:
            k = KERNELS[row["gfx"], row["symbol"]]
            self.assertEqual((row["params"], row["block"], row["purpose"]), (dict(k.params), [k.block, 1, 1], k.purpose))
            self.assertEqual(row["reference"], k.purpose in family.NEVER_CHOSEN)


if __name__ == "__main__":
    unittest.main()
