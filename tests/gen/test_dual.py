# SPDX-License-Identifier: MIT
"""gen/vopd.py: the rules of VOPD (note H-001) against the assembler; gen/dual.py: constraints of a schedule;
gen/listing.py: comments of a schedule."""

from __future__ import annotations

import itertools
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from generator import dual, listing, tools, vopd

NO_SYMBOLS: dict[str, int] = {}


def assembles(line: str, gfx: str = "gfx1151") -> bool:
    command = [tools().clang, "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-x", "assembler", "-c", "-", "-o", "/dev/null"]
    return subprocess.run(command, input=line + "\n", capture_output=True, text=True).returncode == 0


def pair(x: str, y: str) -> str | None:
    parser = vopd.Parser(NO_SYMBOLS)
    return vopd.pair(*(vopd.Half(parser, parser.op(i, text)) for i, text in enumerate((x, y))))


def as_written(x: str, y: str) -> str:
    return f"{x} :: {y}".replace("v_", "v_dual_")


# (x, y, why); the first of two lines keeps the rule that the second breaks
KEPT_AND_BROKEN = [
    ("src0 banks", ("v_mul_f32 v0, v4, v8", "v_mul_f32 v1, v5, v9"), ("v_sub_f32 v0, v4, v8", "v_sub_f32 v1, v16, v9")),
    ("vsrc1 banks", ("v_sub_f32 v0, v4, v8", "v_sub_f32 v1, v5, v9"), ("v_sub_f32 v0, v4, v8", "v_sub_f32 v1, v5, v12")),
    ("destination parity", ("v_mov_b32 v0, v4", "v_mov_b32 v3, v5"), ("v_mov_b32 v0, v4", "v_mov_b32 v2, v5")),
    ("two scalars", ("v_mul_f32 v0, s4, v8", "v_mul_f32 v1, s5, v9"), ("v_mul_f32 v0, s4, v8", "v_mul_f32 v1, s5, s6")),
    ("one literal", ("v_mul_f32 v0, 0x1234567, v8", "v_mul_f32 v1, 0x1234567, v9"),
     ("v_mul_f32 v0, 0x1234567, v8", "v_mul_f32 v1, 0x7654321, v9")),
    ("Y only", ("v_mul_f32 v0, v4, v8", "v_and_b32 v1, v5, v9"), ("v_and_b32 v0, v4, v8", "v_and_b32 v1, v5, v9")),
]


class Kept(unittest.TestCase):
    def kept_in(self, folder: str) -> list[Path]:
        return [f for f in Path(folder).rglob("*") if f.is_file()]

    def test_a_schedule_is_kept_and_taken_from_there(self) -> None:
        block = "v_mov_b32 v0, v4\nv_mov_b32 v1, v5\n"
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(dual.keep, None)
            dual.keep(Path(folder))
            first = dual.schedule(block, NO_SYMBOLS)
            (file,) = self.kept_in(folder)
            self.assertEqual(file.read_text(), first)
            self.assertEqual(dual.schedule(block, NO_SYMBOLS), first)
            file.write_text("        s_nop 0\n")
            self.assertEqual(dual.schedule(block, NO_SYMBOLS), "        s_nop 0\n")
            self.assertIn("v2", dual.schedule(block + "v_mov_b32 v2, v6\n", NO_SYMBOLS))
            self.assertEqual(len(self.kept_in(folder)), 2)

    def test_other_sgprs_need_no_other_schedule(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(dual.keep, None)
            dual.keep(Path(folder))
            block = "v_mul_f32 v[v_a], s[s_x], v4\nv_mul_f32 v[v_a+1], s[s_y], v5\n"
            first = dual.schedule(block, {"v_a": 8, "s_x": 4, "s_y": 5})
            self.assertEqual(dual.schedule(block, {"v_b": 1, "s_x": 8, "s_y": 2, "v_a": 8}), first)
            self.assertEqual(len(self.kept_in(folder)), 1)
            dual.schedule(block, {"v_a": 9, "s_x": 4, "s_y": 5})
            self.assertEqual(len(self.kept_in(folder)), 2)


class Spread(unittest.TestCase):
    def test_slots_are_spread_unless_told_not_to(self) -> None:
        chains = "".join(f"v_mul_f32 v{i}, v{i}, v{i}\n" * 8 for i in range(8))
        spread, plain = (
            [line.split()[1] for line in dual.schedule(chains, NO_SYMBOLS, pairs=False, spread=wanted).splitlines()]
            for wanted in (True, False)
        )
        self.assertEqual(sorted(spread), sorted(plain))
        self.assertGreaterEqual(self.least_distance(spread), dual.LATENCY)
        self.assertLess(self.least_distance(plain), dual.LATENCY)

    def least_distance(self, results: list[str]) -> int:
        last: dict[str, int] = {}
        least = len(results)
        for at, result in enumerate(results):
            least = min(least, at - last.get(result, -len(results)))
            last[result] = at
        return least


class Listing(unittest.TestCase):
    """Comments of a scheduled block, and blank lines."""

    def test_a_pair_has_the_words_of_both(self) -> None:
        self.assertEqual(
            dual.schedule("v_mov_b32 v0, v4 // gate\nv_mov_b32 v1, v5 // up\n", NO_SYMBOLS).split("//")[1].strip(), "gate; up"
        )
        self.assertEqual(dual.schedule("v_mov_b32 v0, v4 // up\nv_mov_b32 v1, v5 // up\n", NO_SYMBOLS).count("up"), 1)

    def test_headings_stand_where_most_of_their_phase_begins(self) -> None:
        source = listing.Source("// one: loads\nA\nB\n// two\n// of it\nC // third\nD\n")
        slots = [((0,), "A"), ((2,), "C"), ((1,), "B"), ((3,), "D")]
        got = [" ".join(line.split()) for line in listing.scheduled(source, slots).splitlines()]
        self.assertEqual(got, ["// one: loads", "A", "// two", "// of it", "C // third", "B // [one]", "D"])

    def test_what_issues_among_another_phase_names_its_own(self) -> None:
        source = listing.Source("A\n// two: sums\nB\nC\nD\n// three\nE\nF\n")
        slots = [((0,), "A"), ((1, 4), "B :: E"), ((2, 3), "C :: D"), ((5,), "F")]
        got = [" ".join(line.split()) for line in listing.scheduled(source, slots).splitlines()]
        self.assertEqual(got, ["A", "// two: sums", "B :: E // [three]", "C :: D", "// three", "F"])

    def test_no_heading_and_no_word_is_lost(self) -> None:
        text = "".join(
            f"// phase {i}\n" + "".join(f"v_mul_f32 v{8 * i + j}, v{64 + j}, v{72 + j} // w{i}{j}\n" for j in range(8)) for i in range(6)
        )
        said = dual.schedule(text, NO_SYMBOLS)
        headings = [line.strip() for line in said.splitlines() if line.strip().startswith("//")]
        self.assertEqual(headings, [f"// phase {i}" for i in range(6)])
        for i in range(6):
            for j in range(8):
                self.assertEqual(said.count(f"w{i}{j}"), 1)

    def test_blank_lines_stand_alone_and_before_comments_and_labels(self) -> None:
        text = "\n   \n  // contract\n\n\n.set s_a, 2\n\n.set s_b, 3\n\n\nL_main:\n\n        s_nop 0\n   \n        // next\n        s_endpgm\n\n"
        self.assertEqual(
            listing.tidy(text),
            "// contract\n.set s_a, 2\n.set s_b, 3\n\nL_main:\n        s_nop 0\n\n        // next\n        s_endpgm\n",
        )


class Rules(unittest.TestCase):
    def test_kept_and_broken(self) -> None:
        for rule, kept, broken in KEPT_AND_BROKEN:
            with self.subTest(rule):
                self.assertIsNotNone(pair(*kept))
                self.assertIsNone(pair(*broken))

    def test_the_assembler_agrees(self) -> None:
        for rule, kept, broken in KEPT_AND_BROKEN:
            with self.subTest(rule):
                self.assertTrue(assembles(pair(*kept)))
                self.assertFalse(assembles(as_written(*broken)))

    def test_operands_swap_to_keep_a_rule(self) -> None:
        text = pair("v_mul_f32 v0, v4, v9", "v_mul_f32 v1, v8, v5")
        self.assertIsNone(pair("v_sub_f32 v0, v4, v9", "v_sub_f32 v1, v8, v5"))
        self.assertTrue(assembles(text), text)

    def test_dependent_halves_stay_apart(self) -> None:
        self.assertIsNone(pair("v_mov_b32 v0, v4", "v_mul_f32 v1, v0, v5"))
        self.assertIsNone(pair("v_mov_b32 v4, v0", "v_mov_b32 v1, v4"))

    def test_dots_exist_in_both_halves_on_both_generations(self) -> None:
        for dot in ("v_dot2acc_f32_f16", "v_dot2acc_f32_bf16"):
            text = pair(f"{dot} v0, v4, v8", f"{dot} v1, v5, v9")
            for gfx in ("gfx1100", "gfx1151", "gfx1201"):
                with self.subTest(dot=dot, gfx=gfx):
                    self.assertTrue(assembles(text, gfx))
                    alone = vopd.single(f"{dot} v0, v4, v8")
                    self.assertTrue(assembles(alone, gfx))


class Schedule(unittest.TestCase):
    def lines(self, text: str) -> list[str]:
        return [line.split("//")[0].strip() for line in dual.schedule(text, NO_SYMBOLS).splitlines()]

    def test_two_independent_halves_share_a_slot(self) -> None:
        self.assertEqual(len(self.lines("v_mov_b32 v0, v4\nv_mov_b32 v1, v5")), 1)

    def test_a_read_stays_behind_its_write(self) -> None:
        got = self.lines("v_mov_b32 v0, v4\nv_mul_f32 v1, v0, v5\nv_mov_b32 v0, v6\nv_mul_f32 v3, v0, v7")
        order = [next(i for i, line in enumerate(got) if part in line) for part in ("v0, v4", "v1, v0, v5", "v0, v6", "v3, v0, v7")]
        self.assertEqual(order, sorted(order))
        self.assertEqual(len(set(order)), 4)

    def test_nothing_reads_what_a_wait_makes_ready_before_it(self) -> None:
        text = "v_mov_b32 v9, v8\ns_waitcnt vmcnt(0) // ready v[4:7]: weights\nv_mov_b32 v0, v4\nv_mov_b32 v1, v5"
        got = self.lines(text)
        wait = got.index("s_waitcnt       vmcnt(0)")
        self.assertFalse([line for line in got[:wait] if "v4" in line or "v5" in line])

    def test_a_load_stays_behind_the_last_read_of_its_registers(self) -> None:
        text = "v_mov_b32 v0, v4\nglobal_load_b128 v[4:7], v9, s[2:3]\nv_mov_b32 v1, v8"
        got = self.lines(text)
        self.assertLess(
            next(i for i, line in enumerate(got) if "v4" in line and "v_" in line[:2]),
            next(i for i, line in enumerate(got) if line.startswith("global_load")),
        )

    def test_memory_and_waits_keep_their_order(self) -> None:
        text = "\n".join(["ds_load_b32 v0, v9", "s_waitcnt lgkmcnt(0) // ready v0: x", "ds_store_b32 v9, v0", "ds_load_b32 v1, v9"])
        self.assertEqual([line.split()[0] for line in self.lines(text)], ["ds_load_b32", "s_waitcnt", "ds_store_b32", "ds_load_b32"])

    def test_every_operation_comes_out_once(self) -> None:
        text = "\n".join(f"v_dot2acc_f32_f16 v{i % 2}, v{8 + 4 * (i % 3) + i % 4}, v{32 + i % 4}" for i in range(24))
        out = "\n".join(self.lines(text))
        self.assertEqual(out.count("dot2"), 24)

    def test_chains_written_one_after_another_issue_in_turn(self) -> None:
        chains = [f"v_perm_b32 v{i}, v{i}, v{i}, s2 // chain {i}" for i in range(5) for _ in range(3)]
        got = [line.split("chain ")[1] for line in dual.schedule("\n".join(chains), NO_SYMBOLS).splitlines()]
        self.assertEqual(got, [str(i) for _ in range(3) for i in range(5)])

    def test_slow_instructions_count_as_long_as_they_take(self) -> None:
        lines = tuple(f"v_dot2acc_f32_bf16 v0, v{4 + i}, v{8 + i}" for i in range(3))
        cycles, slots = dual.schedule_of(dual.Block(lines, NO_SYMBOLS, pairs=False), False, True)
        self.assertEqual((cycles, slots), (12, [(i, None, "") for i in range(3)]))

    def test_blocks_at_random_keep_their_dependencies(self) -> None:
        choose = random.Random(1)
        for pairs, spread in itertools.product((True, False, None), (True, False)):
            for _ in range(20):
                lines = tuple(
                    f"{choose.choice(('v_mul_f32', 'v_add_f32', 'v_and_b32', 'v_perm_b32', 'ds_load_b32'))} "
                    f"v{choose.randrange(24)}, v{choose.randrange(24)}, v{choose.randrange(24)}"
                    for _ in range(choose.randrange(1, 60))
                )
                block = dual.Block(lines, NO_SYMBOLS, bool(pairs))
                cycles, slots = dual.schedule_of(block, pairs, spread)
                at = {op: slot for slot, (first, second, _) in enumerate(slots) for op in (first, second) if op is not None}
                self.assertEqual(sorted(at), list(range(len(lines))))
                self.assertTrue(all(at[before] < at[op.index] for op in block.ops for before in op.before))
                self.assertTrue(all(text for _, second, text in slots if second is not None))
                self.assertGreaterEqual(cycles, sum(not block.ops[first].ordered for first, _, _ in slots))

    def test_the_scheduler_refuses_what_is_no_block(self) -> None:
        lines = ["1 1 1 1 0", "1 1 1 1 0 0 1 1 0 7 0", "1 1 2 1 0 0 1 0 0 0 0 0 1 0 0 0 1 5 1", ""]
        done = subprocess.run([dual._scheduler], input="".join(f"{line}\n" for line in lines), capture_output=True, text=True)
        self.assertEqual(done.stdout, "not a block\n" * len(lines))

    def test_a_wait_must_say_what_it_makes_ready(self) -> None:
        with self.assertRaisesRegex(ValueError, "ready"):
            dual.schedule("s_waitcnt vmcnt(0)", NO_SYMBOLS)

    def test_branches_and_scalars_are_refused(self) -> None:
        for line in ("s_branch L", "s_add_u32 s0, s1, s2", "buffer_load_b32 v0, v1, s[0:3], 0"):
            with self.subTest(line), self.assertRaisesRegex(ValueError, "straight|VALU"):
                dual.schedule(line, NO_SYMBOLS)
