# SPDX-License-Identifier: MIT
"""Targets that bench/run builds for a suite exist: each line of `nw_bench --needs` is a target of the build."""

from __future__ import annotations

import os
import re
import subprocess
import unittest
from pathlib import Path

from suite import bench

BUILD = Path(os.environ["NW_BUILD_DIR"])


def targets() -> set[str]:
    """Not by the target `help`, a build of its own: the build that runs this test is under way there."""
    listed = subprocess.run(["ninja", "-C", BUILD, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^(\w+): phony$", listed, re.MULTILINE))


def suites() -> list[str]:
    """The names in the bench's message for an unknown one."""
    return bench("--suite", "?").stderr.partition("there are ")[2].strip().split(", ")


class Needs(unittest.TestCase):
    def test_every_line_is_a_target_for_every_suite_and_gfx(self) -> None:
        known = targets()
        self.assertGreater(len(suites()), 10)
        for suite in suites():
            for options in ([], ["--gfx", "all"]):
                with self.subTest(suite, options=options):
                    run = bench("--suite", suite, *options, "--needs")
                    self.assertEqual(run.returncode, 0, run.stderr)
                    self.assertEqual(set(run.stdout.split()) - known, set())
