# SPDX-License-Identifier: MIT
"""run.py ENGINE: builds an engine from its sources in the package index, and the backend for it, and runs its cases
(cases_ENGINE.py) on the simulated GPU. The last line is `N passed, N failed`.

ggml: the libraries alone, with a small program. llama: llama.cpp, which takes six minutes of a core to build; so it runs if the
environment's NIBBLEWAVE_ENGINES is `llama` or `all`. What can't be fetched is skipped: the index is pip's own, as it is configured.
"""

from __future__ import annotations

import os
import sys
import unittest
from importlib import import_module

import sources
from packages import Skip

ASKED = {"ggml": ("", "ggml", "all"), "llama": ("llama", "all")}


def main(engine: str) -> int:
    if os.environ["NW_SANITIZE"] == "ON":
        raise Skip("the library needs ASan's runtime in the program")
    if (asked := os.environ.get("NIBBLEWAVE_ENGINES", "")) not in ASKED[engine]:
        raise Skip(f"NIBBLEWAVE_ENGINES is {asked!r}; set it to {engine} or all")
    sources.HOME.mkdir(parents=True, exist_ok=True)
    sources.fetch()
    suite = unittest.defaultTestLoader.loadTestsFromModule(import_module(f"cases_{engine}"))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed", flush=True)
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except Skip as why:
        print(f"{sys.argv[1]}: skipped: {why}\n0 passed, 0 failed, 1 skipped")
