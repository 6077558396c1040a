# SPDX-License-Identifier: MIT
"""The generator under test, as modules: gen/ is scripts, not a package."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("NW_BUILD_DIR", ROOT / "build"))
sys.path.insert(0, str(ROOT / "gen"))

import assemble  # noqa: E402
import catalogue  # noqa: E402
import contract  # noqa: E402
import cover  # noqa: E402
import dual  # noqa: E402
import emit_header  # noqa: E402
import emit_manifest  # noqa: E402
import expressions  # noqa: E402
import family  # noqa: E402
import fold  # noqa: E402
import listing  # noqa: E402
import occupancy  # noqa: E402
import regs  # noqa: E402
import render  # noqa: E402
import series_waits  # noqa: E402
import shared  # noqa: E402
import spelling  # noqa: E402
import targets  # noqa: E402
import templates  # noqa: E402
import vopd  # noqa: E402

dual.use(BUILD / "gen/list_schedule")

__all__ = [
    "BUILD", "ROOT", "catalogue", "contract", "cover", "dual", "emit_header", "emit_manifest", "expressions", "family", "fold", "listing", "occupancy",
    "regs", "render", "series_waits", "shared", "spelling", "targets", "templates", "tools", "vopd",
]  # fmt: skip


def tools() -> assemble.Tools:
    """The assembler and linker that the build found."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    found = (re.search(rf"^{name}:\w+=(.*)$", cache, re.MULTILINE)[1] for name in ("LLVM_CLANG", "LLVM_LLD"))
    return assemble.Tools(*found, str(BUILD / "gen/libfork_server.so"))
