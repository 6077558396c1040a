# SPDX-License-Identifier: MIT
"""linear.py [--gpu]: a product with 4-bit weights, on the simulated gfx1151 or on the machine's GPU."""

import sys

import nibblewave as nw
import numpy

if "--gpu" not in sys.argv:
    nw.simulate("gfx1151")
context = nw.Context()

M, N, K, GROUP = 4, 64, 512, 128
random = numpy.random.default_rng(1)
x = random.standard_normal((M, K)).astype(numpy.float16)
q, z = random.integers(0, 16, (N, K)), random.integers(0, 16, (N, K // GROUP))
scales = (random.random((N, K // GROUP)) / 64).astype(numpy.float16)

y = nw.DeviceArray.zeros((M, N), "float16")
context.linear(nw.DeviceArray(x), nw.DeviceArray(nw.pack(q)), nw.DeviceArray(scales), zeros=nw.DeviceArray(nw.pack_zeros(z)), group=GROUP, out=y)

exact = nw.reference.linear(x, q, scales, z, GROUP)
print(f"{context.gfx}: largest error {abs(y.numpy() - exact).max():.4f} of {abs(exact).max():.2f}")
