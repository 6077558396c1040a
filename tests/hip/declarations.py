# SPDX-License-Identifier: MIT
"""Functions that HIP's headers declare for a library to define, as clang reads them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Every header that declares functions of libamdhip64; which of them there are depends on the version.
HEADERS = ("hip_runtime_api", "hip_ext", "hip_hcc", "hip_gl_interop", "hip_profile", "hiprtc")


@dataclass(frozen=True)
class Function:
    name: str  # the linker's
    returns: str
    parameters: tuple[tuple[str, str], ...]  # as written, and without typedefs


def declarations(clang: str, include: Path, *options: str) -> Iterator[dict]:
    """clang's nodes of all functions whose name has `hip` in it."""
    source = "".join(f"#if __has_include(<hip/{name}.h>)\n#include <hip/{name}.h>\n#endif\n" for name in HEADERS)
    done = subprocess.run(
        [clang, "-x", "c++", "-std=c++17", "-w", "-D__HIP_PLATFORM_AMD__=1", *options, f"-I{include}", "-fsyntax-only",
         "-Xclang", "-ast-dump=json", "-Xclang", "-ast-dump-filter=hip", "-"],
        input=source, capture_output=True, text=True, check=True,
    )
    decoder, at = json.JSONDecoder(), 0
    while (at := done.stdout.find("{", at)) >= 0:  # one object after the other
        node, at = decoder.raw_decode(done.stdout, at)
        if node["kind"] == "FunctionDecl":
            yield node


def functions(clang: str, include: Path, *options: str) -> dict[str, Function]:
    declared, defined = {}, set()
    for node in declarations(clang, include, *options):
        name, parts = node["mangledName"], node.get("inner", ())
        if any(part["kind"] == "CompoundStmt" for part in parts):
            defined.add(name)
        types = [part["type"] for part in parts if part["kind"] == "ParmVarDecl"]
        parameters = tuple((t["qualType"], t.get("desugaredQualType", t["qualType"])) for t in types)
        declared[name] = Function(name, node["type"]["qualType"].split(" (")[0], parameters)
    return {name: function for name, function in declared.items() if name not in defined}
