# SPDX-License-Identifier: MIT
"""One layer, for packages to quantize and pack, and what nw pack makes of it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "formats"))
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # before torch: the numbers of the CPU

import torch  # noqa: E402
from packing import Folder, Packed, nw  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

N, K = 64, 256  # N: AutoRound packs 32 rows at a time
STEM = "model.layers.0.mlp.down_proj"


def weights(dtype: torch.dtype = torch.float32, n: int = N) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(n, K, generator=generator) * 0.02 + 0.003).to(dtype)


def linear() -> torch.nn.Linear:
    out = torch.nn.Linear(K, N, bias=False)
    out.weight.data = weights()
    return out


def grid(group: int, symmetric: bool) -> tuple[torch.Tensor, torch.Tensor | int]:
    """Scales that f16 has, and zero points, [N, K / group]."""
    blocks = weights().view(N, K // group, group)
    scale = ((blocks.amax(-1) - blocks.amin(-1)) / 15).half().float()
    return scale, 8 if symmetric else (-blocks.amin(-1) / scale).round().clamp(1, 15)


def shuffled_groups(group: int) -> torch.Tensor:
    """g_idx of act-order."""
    return torch.arange(K, dtype=torch.int32)[torch.randperm(K, generator=torch.Generator().manual_seed(2))] // group


class Checkpoint(Folder):
    def write(self, tensors: dict[str, torch.Tensor], config: dict, stem: str = STEM) -> None:
        save_file({f"{stem}.{key}": value.contiguous() for key, value in tensors.items()}, self.input / "model.safetensors")
        (self.input / "config.json").write_text(json.dumps({"quantization_config": config}, default=str))

    def pack(self) -> None:
        done = nw("pack", self.input, self.packed, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_packed(self, want: torch.Tensor) -> None:
        self.pack()
        torch.testing.assert_close(torch.tensor(Packed(self.packed).values(STEM)[0]), want, rtol=0, atol=0)
