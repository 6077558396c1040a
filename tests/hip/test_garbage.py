# SPDX-License-Identifier: MIT
"""Every function of HIP's headers, called with handles, pointers and numbers that mean nothing."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

from garbage_host import complaints

BUILD = Path(os.environ["NW_BUILD_DIR"])
CODE = BUILD / "tests/hip/code/basic_gfx1151.hsaco"


@unittest.skipIf(os.environ["NW_SANITIZE"] == "ON", "the library needs ASan's runtime in the program")
class Garbage(unittest.TestCase):
    def test_is_an_error_and_never_a_crash(self) -> None:
        include = Path(os.environ["NW_HIP_INCLUDE"])
        library = BUILD / "hipsim/libamdhip64.so"
        self.assertEqual(complaints(os.environ["NW_CLANG"], include, library, CODE, rounds=60), [])


if __name__ == "__main__":
    unittest.main()
