# SPDX-License-Identifier: MIT
"""nw constants: every value of the model says where it is from."""

from __future__ import annotations

import json
import re
import tempfile
import unittest
from pathlib import Path

from command import SOURCE, nw


class Constants(unittest.TestCase):
    def listed(self, *arguments: str) -> dict:
        done = nw("constants", "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_every_row_of_the_tables_is_listed_with_its_note(self) -> None:
        said = {row["name"]: row for row in self.listed()["constants"]}
        tables = [SOURCE / "host/sim/timing/constants" / name for name in ("costs.inc", "core_costs.inc", "parts.inc")]
        rows = re.findall(r"^(?:COST|FACT)\((\w+),", "".join(t.read_text() for t in tables), re.MULTILINE)
        self.assertEqual(sorted(said), sorted(rows))
        notes = {path.name[:5] for path in (SOURCE / "isa_notes").glob("T-*.md")}
        for row in said.values():
            self.assertIn(row["note"], notes)
            self.assertTrue(row["lowest"] <= row["value"] <= row["highest"], row)
            self.assertTrue(row["likely_low"] <= row["value"] <= row["likely_high"], row)

    def test_a_guess_is_printed_with_its_likely_range(self) -> None:
        guesses = {line.split()[0]: line for line in nw("constants", "--origin", "guess").stdout.splitlines()[1:]}
        self.assertRegex(guesses["vopd_latency"], r"guess +5 to 9 +T-053")
        facts = {line.split()[0]: line for line in nw("constants", "--origin", "fact").stdout.splitlines()[1:]}
        self.assertRegex(facts["valu_latency"], r"fact +T-050")

    def test_at_most_fifteen_are_fitted(self) -> None:
        self.assertLessEqual(len(self.listed("--origin", "fit")["constants"]), 15)
        self.assertEqual({row["origin"] for row in self.listed("--origin", "guess")["constants"]}, {"guess"})

    def test_a_profile_shows(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            profile = Path(folder, "p.json")
            profile.write_text(
                json.dumps({"schema": "nibblewave.profile.v1", "part": "7600", "constants": {"l2_latency": 321}})
            )
            said = self.listed("--part", "7600", "--profile", str(profile))
            self.assertIn(("l2_latency", 321), [(row["name"], row["value"]) for row in said["constants"]])
            done = nw("constants", "--profile", str(profile))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn('give --part "7600"', done.stderr)

    def test_an_unknown_part_is_named(self) -> None:
        done = nw("constants", "--part", "9999")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn('--part 9999: unknown; choose one of "7900 XTX" (gfx1100), ', done.stderr)


if __name__ == "__main__":
    unittest.main()
