# SPDX-License-Identifier: MIT
"""Products with 4-bit weights and with GGUF weights, mixtures of experts, and attention, on AMD RDNA GPUs.

    import nibblewave as nw
    context = nw.Context()                      # for the current HIP device; nw.simulate("gfx1151") first: a simulated one
    context.linear(x, w, scales, group=128, out=y, stream=stream)

Arguments are anything with data_ptr() (torch), __cuda_array_interface__ (CuPy) or __dlpack__ on a ROCm device, or a
DeviceArray. No call copies or waits: the work is queued on the caller's stream. Errors are nibblewave.Error, with the value,
the rule and the remedy. nibblewave.reference has the packing of weights, and all products in plain NumPy.
"""

from . import reference
from .context import Context
from .hip import DeviceArray, simulate, synchronize
from .library import Error
from .reference import pack, pack_zeros

__all__ = ["Context", "DeviceArray", "Error", "pack", "pack_zeros", "reference", "simulate", "synchronize"]
