# SPDX-License-Identifier: MIT
"""The container of a compiled HIP program's code objects, for where there is no clang-offload-bundler."""

from __future__ import annotations

import struct


def bundle(images: dict[str, bytes]) -> bytes:
    """__CLANG_OFFLOAD_BUNDLE__ with an empty host entry, as a fat binary has it."""
    entries = {"host-x86_64-unknown-linux-gnu-": b""} | {
        f"hipv4-amdgcn-amd-amdhsa--{gfx}": image for gfx, image in images.items()
    }
    at = 4096
    header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    body = b""
    for name, image in entries.items():
        header += struct.pack("<QQQ", at + len(body), len(image), len(name)) + name.encode()
        body += image
    return header.ljust(at, b"\0") + body
