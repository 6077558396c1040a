# SPDX-License-Identifier: MIT
"""The parameter g_idx of a layer with weights of act-order: loaded, checked, and replaced by the order of the kernels' columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from vllm.model_executor.utils import replace_parameter

from . import layouts

T = torch.Tensor
GROUP = ("group", "dynamic")  # compressed-tensors' words for an order with a list


class Loader:
    """A g_idx parameter's weight_loader. Gate and up, or q, k and v, are one product of activations in one order: all must have the same."""

    def __init__(self, local: Callable[[int], int] | None = None) -> None:
        """`local`: of a global expert the place on this device, or -1."""
        self.local, self.seen = local, set[int | None]()

    def __call__(self, param: T, loaded_weight: T, *name: Any, expert_id: int | None = None, return_success: bool = False,
                 **shard: Any) -> bool | None:  # fmt: skip
        place = self.local(expert_id) if self.local and expert_id is not None else None
        if place == -1:
            return False if return_success else None
        kept, given = param.data if place is None else param.data[place], loaded_weight.to(param.device, param.dtype)
        if place in self.seen and not torch.equal(kept, given):
            of = f", expert {expert_id}, {shard.get('shard_id')}" if place is not None else ""
            raise ValueError(f"{shard.get('weight_name', name[0] if name else 'g_idx')}{of}: its activation order differs from that of a matrix "
                             "that is joined with it; quantize these on the same activations")  # fmt: skip
        kept.copy_(given)
        self.seen.add(place)
        return True if return_success else None


def register(layer: torch.nn.Module, name: str, shape: tuple[int, ...], local: Callable[[int], int] | None = None) -> None:
    parameter = torch.nn.Parameter(torch.full(shape, -1, dtype=torch.int32), requires_grad=False)
    parameter.weight_loader = Loader(local)  # type: ignore[attr-defined]
    layer.register_parameter(name, parameter)


def replace(layer: torch.nn.Module, name: str, group: int) -> T:
    """Columns by group, in place of g_idx: of a layer [K], of experts [E, K]."""
    parameter = getattr(layer, name)
    lists = parameter.data.view(-1, parameter.shape[-1])
    orders = [layouts.by_group(of, group, f"{name}{f' of expert {i}' if parameter.dim() == 2 else ''}") for i, of in enumerate(lists)]
    parameter.weight_loader.seen.clear()  # weights may be loaded anew
    order = torch.stack(orders).view(parameter.shape)
    replace_parameter(layer, name, order)
    return order
