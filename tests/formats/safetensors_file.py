# SPDX-License-Identifier: MIT
"""A minimal reader and writer of safetensors files, independent of nw's own."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Tensor:
    dtype: str
    shape: list[int]
    data: bytes


def encode(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    header: dict = {"__metadata__": metadata} if metadata else {}
    at = 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [at, at + len(tensor.data)]}
        at += len(tensor.data)
    return with_header(json.dumps(header), b"".join(tensor.data for tensor in tensors.values()))


def with_header(header: str | bytes, data: bytes, length: int | None = None) -> bytes:
    """Any header before any data: also one that lies."""
    text = header.encode() if isinstance(header, str) else header
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def decode(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    blob = path.read_bytes()
    (length,) = struct.unpack_from("<Q", blob)
    header = json.loads(blob[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    begin = 8 + length
    return {
        name: Tensor(row["dtype"], row["shape"], blob[begin + row["data_offsets"][0] : begin + row["data_offsets"][1]])
        for name, row in header.items()
    }, metadata
