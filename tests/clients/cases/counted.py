# SPDX-License-Identifier: MIT
"""counted.py MODULE: runs a module's unittest cases; the last line is `N passed, N failed` (`, N skipped` may follow)."""

from __future__ import annotations

import sys
import unittest


def main(module: str) -> int:
    suite = unittest.defaultTestLoader.loadTestsFromName(f"{module}_cases")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    passed = max(result.testsRun - failed - len(result.skipped), 0)
    print(f"{passed} passed, {failed} failed" + (f", {len(result.skipped)} skipped" if result.skipped else ""), flush=True)
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
