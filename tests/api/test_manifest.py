# SPDX-License-Identifier: MIT
"""Kernels launched by manifest.json alone (hsaco_by_manifest.py) are right, and a broken rule is refused in its words."""

from __future__ import annotations

import ctypes
import random
import struct
import unittest
from types import SimpleNamespace

from calling import SANITIZED

if not SANITIZED:
    from hsaco_by_manifest import MANIFEST, hip, launch, must

GFX = "gfx1151"
runs = unittest.skipIf(SANITIZED, "Python would have to be started with the sanitizer's runtime")


class Memory:
    """Device memory with the bytes of `data` in it."""

    def __init__(self, data: bytes) -> None:
        self.size, pointer = len(data), ctypes.c_void_p()
        must(hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(self.size)))
        self.address = pointer.value
        must(hip.hipMemcpy(pointer, data, ctypes.c_size_t(self.size), 1))

    def read(self) -> bytes:
        data = ctypes.create_string_buffer(self.size)
        must(hip.hipMemcpy(data, ctypes.c_void_p(self.address), ctypes.c_size_t(self.size), 2))
        return data.raw


def pack(kind: str, values: list) -> bytes:
    return struct.pack(f"<{len(values)}{kind}", *values)


def unpack(kind: str, data: bytes) -> list:
    return list(struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data))


@runs
class Carrier(unittest.TestCase):
    """carrier_w4a16_f16: s | f16(-z * s) << 16, rows padded."""

    N, K, GROUP, PAD = 21, 384, 128, 2  # PAD: more groups than a row has

    def setUp(self) -> None:
        self.rng = random.Random(5)
        self.groups = self.K // self.GROUP
        self.row = self.groups + self.PAD
        self.s = [self.rng.uniform(-2, 2) for _ in range(self.N * self.row)]
        self.z = [self.rng.getrandbits(32) for _ in range(-(-self.N // 8) * self.row)]
        self.out = [0xDEADBEEF] * (self.N * self.row)
        self.memory = {"s": Memory(pack("e", self.s)), "z": Memory(pack("I", self.z)), "carrier": Memory(pack("I", self.out))}
        self.op = {name: memory.address for name, memory in self.memory.items()} | {
            "n": self.N, "k": self.K, "group": self.GROUP,
            "s_stride": 2 * self.row, "z_stride": 4 * self.row, "carrier_stride": 4 * self.row,
        }  # fmt: skip

    def want(self) -> list[int]:
        out = list(self.out)
        for n in range(self.N):
            for g in range(self.groups):
                s = struct.unpack("<e", struct.pack("<e", self.s[n * self.row + g]))[0]
                z = self.z[n // 8 * self.row + g] >> 4 * (n % 8) & 15
                low, high = unpack("H", pack("e", [s, -float(z) * s]))
                out[n * self.row + g] = low | high << 16
        return out

    def test_right(self) -> None:
        launch("carrier_w4a16_f16", GFX, **self.op)
        self.assertEqual(unpack("I", self.memory["carrier"].read()), self.want())

    def refused(self, text: str, **change) -> None:
        with self.assertRaisesRegex(ValueError, f"^{text}"):
            launch("carrier_w4a16_f16", GFX, **self.op | change)
        self.assertEqual(unpack("I", self.memory["carrier"].read()), self.out)

    def test_broken_rules(self) -> None:
        self.refused(r"n = 0: must be 1\.\.", n=0)
        self.refused("k = 385: must be a multiple of .*128; pad", k=385)
        self.refused("s_stride = 4: must be at least .* 6 bytes", s_stride=4)
        self.refused("z = 0x[0-9a-f]+: must be 4-byte aligned", z=self.op["z"] + 2)
        self.refused("s is null", s=0)
        self.refused(r"carrier = 0x[0-9a-f]+, \d+ bytes, overlaps s = ", carrier=self.op["s"])


@runs
class MoeAlign(unittest.TestCase):
    """moe_align: the slots of each expert in blocks; integers, three results, derived and chosen arguments."""

    def test_right(self) -> None:
        rng, slots, experts, block = random.Random(7), 70, 9, 16
        ids = [rng.randrange(-1, experts + 1) for _ in range(slots)]
        blocks = (slots + min(slots, experts) * (block - 1)) // block
        names = ("sorted_token_ids", "expert_ids", "num_tokens_post_padded")
        memory = {"topk_ids": Memory(pack("i", ids))} | {name: Memory(bytes(4 * n)) for name, n in zip(names, (block * blocks, blocks, 1))}
        launch("moe_align", GFX, slots=slots, experts=experts, block_size=block, blocks=blocks, **{name: m.address for name, m in memory.items()})

        listed, owners = [], []
        for expert in range(experts):
            own = [slot for slot, e in enumerate(ids) if e == expert]
            own += [slots] * (-len(own) % block)
            listed += own
            owners += [expert] * (len(own) // block)
        got = [unpack("i", memory[name].read()) for name in names]
        self.assertEqual(got[2], [len(listed)])
        self.assertEqual(got[0], listed + [slots] * (block * blocks - len(listed)))
        self.assertEqual(got[1], owners + [-1] * (blocks - len(owners)))


@runs
class GgufDecode(unittest.TestCase):
    """gguf_decode_q8_0_m1 after quantize_q8_f32, which makes its activations: dynamic LDS for the steps of a stage."""

    N, K = 40, 2560  # three steps of 1024 k

    def product(self, **given) -> tuple[list[float], list[float]]:
        rng = random.Random(11)
        x = [rng.uniform(-1, 1) for _ in range(self.K)]
        scales = [rng.uniform(0.001, 0.01) for _ in range(self.N * self.K // 32)]
        quants = [rng.randrange(-127, 128) for _ in range(self.N * self.K)]
        blocks = b"".join(pack("e", [d]) + pack("b", quants[32 * b : 32 * b + 32]) for b, d in enumerate(scales))
        memory = {"x": Memory(pack("f", x)), "y": Memory(bytes(3 * 1152)), "w": Memory(blocks), "c": Memory(bytes(4 * self.N))}
        at = {name: m.address for name, m in memory.items()}
        launch("quantize_q8_f32", GFX, x=at["x"], y=at["y"], k=self.K, m=1, x_stride=4 * self.K, by_row=0)
        launch("gguf_decode_q8_0_m1", GFX, a=at["y"], w=at["w"], c=at["c"], k=self.K, n=self.N, m=1, part=SimpleNamespace(wgps=20), **given)
        exact = [sum(scales[(n * self.K + k) // 32] * quants[n * self.K + k] * x[k] for k in range(self.K)) for n in range(self.N)]
        return unpack("f", memory["c"].read()), exact

    def test_right(self) -> None:
        for given in ({}, {"stage": 1}, {"stage": 2, "groups": 1}):
            got, exact = self.product(**given)
            for g, e in zip(got, exact):
                self.assertAlmostEqual(g, e, delta=0.5)  # of a sum of 2560 terms of up to 1.3, activations rounded to 8 bits
            self.assertGreater(max(map(abs, exact)), 5)

    def test_more_than_lds_holds(self) -> None:
        with self.assertRaisesRegex(ValueError, r"^stage = 99: must be "):
            self.product(stage=99)


@runs
class Contents(unittest.TestCase):
    def test_every_family_of_a_kernel_is_there(self) -> None:
        self.assertEqual(MANIFEST["version"], 2)
        self.assertEqual({k["family"] for k in MANIFEST["kernels"]}, set(MANIFEST["families"]))

    def test_every_expression_is_pythons(self) -> None:
        for name, family in MANIFEST["families"].items():
            texts = [*family["let"].values(), *family["grid"], family["dynamic_lds_bytes"]]
            texts += [rule[key] for rule in family["rules"] for key in ("when", "expr") if key in rule]
            texts += [a[key] for a in family["arguments"] for key in ("value", "default", "bytes", "when") if key in a]
            for text in texts:
                with self.subTest(name):
                    compile(text, name, "eval")


if __name__ == "__main__":
    unittest.main()
