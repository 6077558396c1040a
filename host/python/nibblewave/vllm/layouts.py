# SPDX-License-Identifier: MIT
"""From the layouts of checkpoints, as vLLM has them after loading, to the kernels'. PyTorch alone: vLLM is not imported.

Words are int32 with eight nibbles. A nibble is named by its position from bit 0 up.
"""

from __future__ import annotations

import torch

from ..reference import ORDER

AWQ_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)  # nibble that holds value i of a word of an AWQ file
STANDARD = tuple(range(8))
PER_ROW_GROUP = 128  # a scale for all of a row is repeated for groups of that size, or of 32 where K is no multiple
T = torch.Tensor


def permute(words: T, order: tuple[int, ...]) -> T:
    """Nibble i of the result is nibble order[i]."""
    out = torch.zeros_like(words)
    for place, source in enumerate(order):
        out |= (words >> 4 * source & 15) << 4 * place
    return out


def repack(words: T, order: tuple[int, ...]) -> T:
    """int32 [K/8, N] with eight k to a word, of [K, N/8] with eight n to a word in that order: nibble i is the i-th value."""
    rows, columns = words.shape
    values = torch.stack([words >> 4 * source & 15 for source in order], -1).reshape(rows // 8, 8, columns * 8)
    out = torch.zeros_like(values[:, 0])
    for place in range(8):
        out |= values[:, place] << 4 * place
    return out


def padded(words: T, row_bytes: int) -> T:
    """The same words, with rows of that number of bytes, otherwise contiguous."""
    dwords = row_bytes // 4
    if dwords == words.shape[-1]:
        return words.contiguous()
    out = words.new_zeros((*words.shape[:-1], dwords))
    out[..., : words.shape[-1]] = words
    return out[..., : words.shape[-1]]


def weights(words: T, row_bytes: int) -> T:
    """Kernels' w of int32 [..., N, K/8] in standard order; the layout of compressed-tensors."""
    return padded(permute(words, ORDER), row_bytes)


def by_group(g_idx: T, group: int, name: str) -> T:
    """int32 [K], the columns in the order of their groups: the i-th of kernels' weights is column by_group[i], and their i-th
    activation is x[by_group[i]]. ValueError unless each group has as many columns as it must."""
    groups = g_idx.numel() // group
    if not bool(((g_idx >= 0) & (g_idx < groups)).all()):
        raise ValueError(f"{name} has groups {int(g_idx.min())} to {int(g_idx.max())}: they must be 0 to {groups - 1}; is it in the checkpoint?")
    members = torch.bincount(g_idx.long(), minlength=groups)
    if bool((members != group).any()):
        worst = int((members - group).abs().argmax())
        raise ValueError(f"{name} gives group {worst} {int(members[worst])} columns: each must have {group}")
    return torch.argsort(g_idx, stable=True).to(torch.int32)


def columns(words: T, order: T) -> T:
    """int32 [N, K/8] in standard order whose value i of a row is value order[i] of `words`."""
    values = torch.stack([words >> 4 * place & 15 for place in STANDARD], -1).flatten(-2)[:, order.long()].unflatten(-1, (-1, 8))
    out = torch.zeros_like(words)
    for place in STANDARD:
        out |= values[..., place] << 4 * place
    return out


def per_row_group(k: int) -> int:
    return PER_ROW_GROUP if k % PER_ROW_GROUP == 0 else 32


def scales(s: T, k: int, group: int) -> T:
    """[..., N, K/group], contiguous; of [..., N, 1] where there is one scale to a row."""
    wanted = k // group
    return (s if s.shape[-1] == wanted else s.expand(*s.shape[:-1], wanted)).contiguous()
