# SPDX-License-Identifier: MIT
"""nw doctor on the simulated GPU: all is well by default, and each thing that cards are reported to do wrong is found by its check."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

from command import BUILD, SOURCE, run

sys.path[:0] = [str(SOURCE / "tests/check")]
from reported_faults import FAULTS  # noqa: E402

# Verdicts that fail under each choice; no other does.
SICK = {
    "host_lines=stale": {"host_memory"},
    "staged_copies=lost": {"hip_copies"},
    "staged_copies=late": {"hip_copies"},
    "mappings=late": {"pools"},
    "graph_packets=old": {"graph_updates"},
    "graph_copies=after": {"hip_graphs"},
    FAULTS: {"host_memory", "hip_copies", "pools", "graph_updates", "hip_graphs"},
}
CHECKS = ["versions", "hip_copies", "copies", "host_memory", "host_memory", "host_memory", "pools", "graphs", "hip_graphs", "graph_updates"]


class Doctor(unittest.TestCase):
    def doctor(self, *words: str, gfx: str = "gfx1151", choices: str = "") -> tuple[int, str, list[dict]]:
        """Exit code, what it says, and the verdicts of its file."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "doctor.json")
            device = f"sim:{gfx}" + (f"?choices={choices}" if choices else "")
            done = run([BUILD / "bin/nw", "doctor", "--device", device, "--copies", "512", "--json", file, *words])
            self.assertEqual(done.stderr, "")
            told = json.loads(file.read_text())
        self.assertEqual(told["schema"], "nibblewave.doctor.v1")
        self.assertEqual((told["versions"]["gfx"], told["versions"]["simulated"]), (gfx, True))
        for verdict in told["verdicts"]:
            self.assertIn(f"{verdict['state']:<4}  {verdict['check']:<13} {verdict['text']}\n", done.stdout)
        return done.returncode, done.stdout, told["verdicts"]

    def test_well(self) -> None:
        code, said, verdicts = self.doctor()
        self.assertEqual(code, 0, said)
        self.assertEqual([v["check"] for v in verdicts], [*CHECKS, "kernels", "kernels"])
        self.assertEqual({v["state"] for v in verdicts}, {"ok"})
        self.assertIn("512 copies of 4 to 64 bytes from pageable memory: all arrived\n", said)
        self.assertRegex(said, r"ok    kernels       alone: (\d+) of \1 are as plain C\+\+ has it\n")
        self.assertRegex(said, r"ok    kernels       on a full device: (\d+) of \1 are as plain C\+\+ has it\n")
        self.assertTrue(said.endswith("\n0 of 12 verdicts are FAIL\n"))

    def test_what_cards_do_wrong(self) -> None:
        for choices, sick in SICK.items():
            with self.subTest(choices=choices):
                code, said, verdicts = self.doctor(choices=choices)
                self.assertEqual(code, 1)
                self.assertEqual({v["check"] for v in verdicts if v["state"] == "FAIL"}, sick, said)
        self.assertIn("FAIL  host_memory   hipHostMalloc, not coherent: a kernel read old data in round 1;", said)
        self.assertIn("ok    host_memory   hipHostMalloc, coherent: ", said)

    def test_another_generation(self) -> None:
        """gfx12 acquires at system scope, and has no such staging."""
        code, said, _ = self.doctor("--families", "permute_a", gfx="gfx1201", choices="host_lines=stale,staged_copies=lost")
        self.assertEqual(code, 0, said)

    def test_a_wrong_kernel(self) -> None:
        code, said, verdicts = self.doctor("--families", "no_such_family")
        self.assertEqual(code, 1, said)
        self.assertEqual({v["check"] for v in verdicts if v["state"] == "FAIL"}, {"kernels"})

    def test_a_device_that_is_not_there(self) -> None:
        done = run([BUILD / "bin/nw", "doctor", "--device", "hip:7"])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("device hip:7: ", done.stderr)

    def test_a_file_that_cannot_be_written(self) -> None:
        done = run([BUILD / "bin/nw", "doctor", "--device", "sim:gfx1151", "--json", "/no/such/folder/x.json"])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("/no/such/folder/x.json: can't be written", done.stderr)


if __name__ == "__main__":
    unittest.main()
