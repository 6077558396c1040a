# SPDX-License-Identifier: MIT
"""The command `nw` of this package."""

from __future__ import annotations

import os
import sys

from .library import HERE


def main() -> None:
    program = HERE / "bin/nw"
    if not program.is_file():
        sys.exit("nw: this wheel was built without it: build the target nw before the wheel")
    os.environ.setdefault("NIBBLEWAVE_HSACO", str(HERE / "hsaco"))
    os.execv(program, ["nw", *sys.argv[1:]])
