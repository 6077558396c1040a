# SPDX-License-Identifier: MIT
"""A part of a family's kernels for targets of equal facts, rendered (gen/render.py) and assembled (gen/assemble.py) by one process."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dual
from assemble import Tools, add_tools, assemble_all, objects_of, report
from render import render_family


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="the source tree (holds asm/ and gen/)")
    parser.add_argument("build", type=Path, help="where asm/ and hsaco/ go")
    parser.add_argument("--family", type=Path, required=True, help="its family.toml")
    parser.add_argument("--references", action="store_true", help="build its reference kernels, which are never chosen, instead of the others")
    parser.add_argument("--gfx", required=True, help="targets of equal facts, comma-separated")
    parser.add_argument("--scheduler", type=Path, required=True, help="the program of gen/list_schedule.cpp")
    add_tools(parser)
    options = parser.parse_args()
    dual.use(options.scheduler)
    try:
        texts = render_family(options.root, options.build, options.gfx.split(","), options.family, options.references)
    except ValueError as error:
        print(f"render: {error}", file=sys.stderr)
        return 1
    return report(assemble_all(Tools(options.clang, options.lld, options.fork_server), objects_of(options.build, texts)), len(texts))


if __name__ == "__main__":
    sys.exit(main())
