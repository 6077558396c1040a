# SPDX-License-Identifier: MIT
"""The faces of an op: nibblewave.h has what gen/faces/c_header.py writes, which reads as the rest of it; mistakes in an op.toml are named."""

from __future__ import annotations

import shutil
import tempfile
import unittest
from pathlib import Path

from generator import ROOT, catalogue

from faces import c_functions, c_header, face, python_module

FAMILIES = catalogue.families_of(ROOT)
FACES = face.load_all(ROOT)
RMS_NORM = next(one for one in FACES if one.op == "rms_norm")


class Header(unittest.TestCase):
    def test_is_as_written(self) -> None:
        header = (ROOT / "host/capi/nibblewave.h").read_text()
        self.assertEqual(header, c_header.with_parts(header, FACES), "an op.toml has changed: python3 -B gen/faces/c_header.py .")

    def test_columns(self) -> None:
        for one in FACES:
            for line in c_header.header(one).splitlines():
                self.assertLessEqual(len(line), c_header.WIDTH, line)

    def test_types(self) -> None:
        text = c_header.header(RMS_NORM)
        for line in ("size_t size;    /* sizeof(nw_norm); NW_NORM_INIT sets it */", "int32_t y_type; /* type of y: NW_F32 or NW_F16 */", "const float *x; /*",
                     "void *y;        /*", "uint64_t x_stride; /*", "float eps; "):  # fmt: skip
            self.assertIn(line, text)

    def test_a_header_without_a_place(self) -> None:
        with self.assertRaisesRegex(ValueError, "has no place for rms_norm: write the line `/\\* op: rms_norm \\*/` where it belongs"):
            c_header.with_parts("/* ---- layouts ---- */", [RMS_NORM])


    def test_lists_and_operators(self) -> None:
        text = c_header.header(next(one for one in FACES if one.op == "linear_w4a16"))
        self.assertIn("\n * - decode, up to 8 rows: less than", text)
        self.assertNotRegex(text, r"\n \* [*=<>] ")  # no line of a comment begins with an operator


class Code(unittest.TestCase):
    def test_every_member_is_set(self) -> None:
        for one in FACES:
            functions, typed = c_functions.functions([one]), c_functions.typed([one])
            for m in [*([] if one.like else one.members), *one.arguments]:
                self.assertIn(f"op.{m.sets} = ", functions)
            for m in [*one.members, *one.arguments]:
                self.assertIn(f"op.{m.sets} = ", typed)

    def test_what_is_not_read(self) -> None:
        functions = c_functions.functions([one for one in FACES if one.op == "moe_gguf_act"])
        self.assertIn('if (o.act == word("swiglu")) op.alpha = bits_of(p->alpha);', functions)
        self.assertIn("op.alpha = 1071242019;", functions)  # the example's, where a call reads other members

    def test_a_member_beside_another(self) -> None:
        functions = c_functions.functions([one for one in FACES if one.op == "gguf_joint"])
        self.assertIn("op.type3 = third_type_of(p->type3, p->type);", functions)

    def test_another_struct(self) -> None:
        functions = c_functions.functions([one for one in FACES if one.op == "act_order_w4a16"])
        self.assertIn("nw::Op op = nw::api::linear_w4a16_op(context, product);", functions)
        self.assertIn("op.kind = nw::OpKind::act_order_w4a16;", functions)
        self.assertIn("const nw_w4a16 *product, const void *perm, void *workspace, uint64_t workspace_bytes, void *stream", functions)

    def test_zeros_of_prepare(self) -> None:
        functions = c_functions.functions([one for one in FACES if one.op in ("linear_w4a16", "linear_gguf")])
        self.assertIn("for_each_of(op, &nw::Op::m, {1, 2, 3, 4, 5, 6, 7, 8}", functions)
        self.assertIn("prepare_any(*context, op, &nw::Op::m, 4294967295u);", functions)

    def test_a_flag_is_no_word(self) -> None:
        typed = c_functions.typed([one for one in FACES if one.op == "linear_w4a8"])
        self.assertIn("bool silu{};", typed)
        self.assertIn("op.silu = silu;", typed)
        self.assertIn("op.zeros = find_word(zeros);", typed)

    def test_a_word_that_no_operand_decides_is_named(self) -> None:
        text = python_module.python([one for one in FACES if one.op == "glu"])
        self.assertIn('Choice("act", {"swiglu": abi.NW_GLU_SWIGLU, ', text)
        self.assertIn("out: Any, act: str, alpha: float = 1.702, ", text)

    def test_python_compiles(self) -> None:
        compile(python_module.python(FACES), "ops.py", "exec")


class Mistakes(unittest.TestCase):
    def refused(self, old: str, new: str) -> str:
        text = (ROOT / "asm/ops/rms_norm/op.toml").read_text()
        self.assertIn(old, text)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "asm/ops/rms_norm/op.toml"
            file.parent.mkdir(parents=True)
            file.write_text(text.replace(old, new))
            with self.assertRaises(ValueError) as raised:
                face.load(Path(folder), FAMILIES)
            shutil.rmtree(folder, ignore_errors=True)
            return str(raised.exception)

    def test_are_named(self) -> None:
        for old, new, says in (
            ('family = "rms_norm"', 'family = "rms"', "[face] family: 'rms' is no family"),
            ('w = "', 'v = "', "[face] v: is no size or argument of rms_norm: y_type, m, k, x"),
            ('y_stride = ">= 4 * K, a multiple of 16; NW_F16: >= 2 * K, of 8"\n', "", "[face] members: y_stride missing"),
            ('f32 = "NW_F32", ', "", "[face] y_type: enumerators are of f16: they must be of every word"),
            ('says = "finite, >= 0", init', 'says = "finite, >= 0", start', "[face] eps: start: no key of a member: "),
            ("operand = ", "argument = ", "[face] argument: no key of [face]"),
            ('"finite, >= 0", init', '"finite, >= 0", when = "rows > 1", init', "[face] eps: when = `rows > 1`: rows: must be sizes or arguments of rms_norm"),
            ('struct  = "nw_norm"', 'like    = "norm"', "[face] like: 'norm' has no face with a struct of its own"),
        ):
            with self.subTest(says):
                self.assertIn(says, self.refused(old, new))


if __name__ == "__main__":
    unittest.main()
