# SPDX-License-Identifier: MIT
"""HIPSIM_CHOICES under which the simulated GPU does all that cards are reported to do wrong: the last group of choices.inc."""

from __future__ import annotations

import os
import re
from pathlib import Path

_TABLE = (Path(os.environ["NW_SOURCE_DIR"]) / "host/sim/func/choices.inc").read_text().rpartition("\n// ----")[2]
FAULTS = ",".join(f"{name}={bad}" for name, bad in re.findall(r'^CHOICE\((\w+), .*", \w+, (\w+)', _TABLE, re.MULTILINE))
assert FAULTS.startswith("host_lines=stale,staged_copies=lost,"), FAULTS
