# SPDX-License-Identifier: MIT
"""A plugin of vLLM (0.33), by the entry point vllm.general_plugins: it is there once the wheel is installed beside vLLM.

Dense W4A16 layers of GPTQ, AWQ and compressed-tensors, and their mixtures of experts, use nibblewave's kernels on gfx11 and
gfx12. Unsupported layers are left to vLLM, except act-order, which vLLM lacks (act_order.py).
VLLM_DISABLED_KERNELS=NibblewaveW4A16LinearKernel leaves dense layers to vLLM, and VLLM_PLUGINS= (empty) all of it.

Tests run it on the CPU with vLLM's own classes. Neither a ROCm build of vLLM nor a card has run it.
"""

from __future__ import annotations


VLLM = "0.33."  # whose classes it derives from and whose functions it wraps


def register() -> None:
    """The entry point. Any number of times: each process of vLLM calls it."""
    import vllm
    from vllm.logger import init_logger

    from . import device

    reason = device.missing_kernels()
    if reason is None and not vllm.__version__.startswith(VLLM):
        reason = f"vLLM is {vllm.__version__}: the plugin is for {VLLM}x; install that"
    if reason is None:
        install()
    else:
        init_logger(__name__).warning_once("nibblewave is not used: %s", reason)


def install() -> None:
    from vllm.model_executor.kernels.linear import _POSSIBLE_KERNELS  # register_linear_kernel appends: the first that fits wins
    from vllm.platforms import PlatformEnum

    from . import methods
    from .linear import NibblewaveW4A16LinearKernel

    kernels = _POSSIBLE_KERNELS.setdefault(PlatformEnum.ROCM, [])
    if NibblewaveW4A16LinearKernel not in kernels:
        kernels.insert(0, NibblewaveW4A16LinearKernel)
    methods.install()
