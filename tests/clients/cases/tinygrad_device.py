# SPDX-License-Identifier: MIT
"""tinygrad's HIP device on the simulated GPU: import this before tinygrad.

Two adaptations: HIPDevice uses the LLVM renderer (its own calls libamd_comgr, which no package has), and its object
files are linked, since hipModuleLoadData takes no relocatable file.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

os.environ |= {
    "DEV": "HIP:AMDLLVM",
    "HIP_PATH": os.environ["NW_BUILD_DIR"] + "/hipsim/libamdhip64.so",
    "LLVM_PATH": os.environ["NW_LIBLLVM"],
    "CACHELEVEL": "0",
    "PARALLEL": "0",  # other processes would compile without these adaptations
}

from tinygrad.renderer.llvmir import AMDLLVMRenderer  # noqa: E402
from tinygrad.runtime import ops_hip  # noqa: E402
from tinygrad.runtime.support.compiler_llvm import AMDLLVMCompiler  # noqa: E402

ops_hip.HIPRenderer = AMDLLVMRenderer
emit = AMDLLVMCompiler.compile


def linked(self: AMDLLVMCompiler, source: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        relocatable, shared = Path(folder) / "code.o", Path(folder) / "code.so"
        relocatable.write_bytes(emit(self, source))
        subprocess.run([os.environ["NW_LLD"], "-shared", relocatable, "-o", shared], check=True)
        return shared.read_bytes()


AMDLLVMCompiler.compile = linked
