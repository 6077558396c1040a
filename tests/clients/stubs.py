# SPDX-License-Identifier: MIT
"""Parts of ROCm that CuPy expects but no package has: libraries that it links (hipBLAS, hipFFT, RCCL, ...), whose functions
return 0, since without them its modules can't be loaded; a hipcc that tells its include folders; a header of rocThrust.

What those libraries would compute is not tested here.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

OURS = ("libamdhip64.so", "libhiprtc.so")
NEEDED = re.compile(r"\(NEEDED\).*\[(lib(?:hip|roc|rccl|amd)[^\]]*)\]")
UNDEFINED = re.compile(r"UND ((?:hip(?:blas|fft|rand|sparse)|roc|nccl|roctx|roctracer)\w*)(?:@(\w[\w.]*))?")


def stub(cc: str, soname: str, symbols: dict[str, str], folder: Path) -> None:
    """One library; `symbols` are names with their version node, or ""."""
    source, script = folder / f"{soname}.c", folder / f"{soname}.map"
    source.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in sorted(symbols)))
    nodes = {version: [name for name in symbols if symbols[name] == version] for version in sorted(set(symbols.values()) - {""})}
    script.write_text("".join(f"{node} {{ global: {'; '.join(names)}; }};\n" for node, names in nodes.items()))
    versions = [f"-Wl,--version-script={script}"] if nodes else []
    subprocess.run([cc, "-shared", "-fPIC", "-w", f"-Wl,-soname,{soname}", *versions, source, "-o", folder / soname], check=True)


def libraries(cc: str, readelf: str, packages: Path, folder: Path) -> None:
    """Stubs of all that CuPy's modules in site-packages need."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted: dict[str, dict[str, str]] = {}
    for module in sorted(packages.glob("cupy*/**/*.so")):
        shown = subprocess.run([readelf, "-dW", "--dyn-syms", module], capture_output=True, text=True, check=True).stdout
        symbols = dict(UNDEFINED.findall(shown))
        for soname in NEEDED.findall(shown):
            if not soname.startswith(OURS):
                wanted.setdefault(soname, {}).update(symbols)
    for soname, symbols in wanted.items():
        prefix = re.match(r"lib(rocm_)?([a-z]+)", soname)[2].rstrip("0123456789")
        own = {name: node for name, node in symbols.items() if node == "" or node.lower().startswith(prefix)}
        stub(cc, soname, own, folder)


def rocm(clang: str, folder: Path) -> None:
    """A ROCM_HOME. Its hipcc has no include folders but clang's, so that hiprtc takes its own headers."""
    hipcc, header = folder / "bin/hipcc", folder / "include/thrust/detail/config/namespace.h"
    for file in (hipcc, header):
        file.parent.mkdir(parents=True, exist_ok=True)
    hipcc.write_text(f'#!/bin/sh\nexec "{clang}" -nogpuinc -nogpulib -nostdlibinc --cuda-host-only "$@"\n')
    hipcc.chmod(0o755)
    header.write_text("#define THRUST_NAMESPACE_BEGIN namespace thrust {\n#define THRUST_NAMESPACE_END }\n#define THRUST_NS_QUALIFIER ::thrust\n")
