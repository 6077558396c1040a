# SPDX-License-Identifier: MIT
"""gfx10's names of instructions (gen/spelling.py)."""

from __future__ import annotations

import unittest

from generator import spelling

KERNEL = """
        global_load_b128 v[v_a:v_a+3], v1, s[2:3] offset:16 // a global_load_b128
        ds_store_2addr_stride64_b32 v1, v2, v3 offset1:1
        s_and_not1_b32  s0, s1, s2
        s_endpgm
L_end:
"""


class Spelling(unittest.TestCase):
    def test_names_and_columns(self) -> None:
        old = spelling.old_names(KERNEL).splitlines()
        self.assertEqual(old[1], "        global_load_dwordx4 v[v_a:v_a+3], v1, s[2:3] offset:16 // a global_load_b128")
        self.assertEqual(old[2], "        ds_write2st64_b32           v1, v2, v3 offset1:1")
        self.assertEqual(old[3], "        s_andn2_b32     s0, s1, s2")
        self.assertEqual(old[4:], ["        s_endpgm", "L_end:"])

    def test_each_name_is_given_once(self) -> None:
        self.assertEqual(len(set(spelling.NAMES.values())), len(spelling.NAMES))

    def test_two_mixed_multiply_adds_for_a_dot2(self) -> None:
        text = "        v_dot2acc_f32_f16 v[v_acc+1], s[s_ones], v[v_a]    // r0 k2\n        v_mov_b32       v1, v2\n"
        self.assertEqual(spelling.with_dots(text, {"dot2": True}), text)
        self.assertEqual(
            spelling.with_dots(text, {"dot2": False}),
            "        v_fma_mix_f32   v[v_acc+1], s[s_ones], v[v_a], v[v_acc+1] op_sel_hi:[1,1,0]    // r0 k2\n"
            "        v_fma_mix_f32   v[v_acc+1], s[s_ones], v[v_a], v[v_acc+1] op_sel:[1,1,0] op_sel_hi:[1,1,0]    // r0 k2\n"
            "        v_mov_b32       v1, v2\n",
        )

    def test_a_text_without_dots_does_not_depend_on_them(self) -> None:
        text = "        v_mov_b32       v1, v2\n"
        self.assertEqual(spelling.with_dots(text, {}), text)


if __name__ == "__main__":
    unittest.main()
