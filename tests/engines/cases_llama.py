# SPDX-License-Identifier: MIT
"""llama.cpp, unmodified: its own test of backends, and models of random weights whose logits are compared with the CPU's."""

from __future__ import annotations

import os
import subprocess
import unittest

import sources

MOST_NMSE = 5e-4  # that of one product in test-backend-ops
OPS = ["-o", "MUL_MAT,MUL_MAT_ID", "-p", "type_a=(q4_0|q8_0|q4_K|q6_K)"]
COMPARE = """
import numpy, sys
got, want = (numpy.fromfile(name, numpy.float32).astype(float) for name in sys.argv[1:])
assert got.shape == want.shape and want.any(), (got.shape, want.shape)
print(((got - want) ** 2).sum() / (want ** 2).sum())
"""


class Llama(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        sources.build_llama()
        cls.backend = sources.build_backend()
        cls.program = sources.build_program("model_logits", "llama", "ggml", "ggml-base")
        cls.python = sources.python_with_gguf()

    def said(self, *command: object, gfx: str = "gfx1151", **environment: str) -> str:
        simulated = {"LD_LIBRARY_PATH": str(sources.BUILD / "hipsim"), "HIPSIM_ARCH": gfx}
        done = subprocess.run([str(word) for word in command], env=os.environ | simulated | environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-3000:])
        return done.stdout + done.stderr

    def model(self, arch: str, quantization: str) -> str:
        out = sources.HOME / f"{arch}.{quantization}.gguf"
        maker = sources.SOURCE / "tests/engines/make_model.py"
        self.said(self.python, "-B", maker, sources.LIBRARIES / "libggml-base.so", arch, quantization, out)
        return str(out)

    def logits(self, model: str, name: str, *overrides: str, backend: bool = True, **options: str) -> tuple[str, str]:
        """The file of logits, and what llama.cpp said."""
        libraries = str(sources.LIBRARIES / "libggml-cpu.so") + (f":{self.backend}" if backend else "")
        out = str(sources.HOME / f"{name}.logits")
        return out, self.said(self.program, libraries, model, out, *overrides, **options)

    def nmse(self, got: str, want: str) -> float:
        return float(self.said(self.python, "-c", COMPARE, got, want))

    def compare(self, arch: str, quantization: str) -> None:
        model = self.model(arch, quantization)
        want, _ = self.logits(model, "cpu", backend=False)
        for gfx in ("gfx1151", "gfx1100"):
            with self.subTest(arch=arch, quantization=quantization, gfx=gfx):
                got, said = self.logits(model, gfx, gfx=gfx)
                self.assertIn("NW0 model buffer size", said)
                error = self.nmse(got, want)
                print(f"{arch} {quantization} {gfx}: NMSE {error:.2e}")
                self.assertLess(error, MOST_NMSE)

    def test_its_test_of_backends(self) -> None:
        environment = {"GGML_BACKEND_PATH": str(self.backend)}
        with_cpu = sources.LIBRARIES  # where it looks for the CPU's library
        said = self.said("sh", "-c", f"cd {with_cpu} && {sources.HOME}/test-backend-ops -b NW0 {OPS[0]} {OPS[1]} {OPS[2]} '{OPS[3]}'", **environment)
        self.assertRegex(said, r"Backend NW0: .*OK")
        self.assertNotIn("FAIL", said)
        self.assertGreater(said.count("OK"), 300)

    def test_models(self) -> None:
        for arch in ("llama", "qwen3", "qwen3moe"):
            for quantization in ("q4_0", "q8_0", "q4_K_M"):
                self.compare(arch, quantization)

    def test_layers_on_two_devices_give_the_same_bits(self) -> None:
        model = self.model("qwen3", "q4_K_M")
        one, _ = self.logits(model, "one")
        two, said = self.logits(model, "two", r"blk\.1\..*weight=NW1", gfx="gfx1151,gfx1151")
        self.assertIn("NW1 model buffer size", said)
        self.assertEqual(self.nmse(two, one), 0)

    def test_a_model_larger_than_the_device(self) -> None:
        """Its load fails, and says why: in a GPU's own memory, and in an APU's."""
        model = self.model("huge", "q4_0")
        self.addCleanup(os.unlink, model)  # 150 GB for tools that read holes
        for gfx in ("gfx1100", "gfx1151"):
            with self.subTest(gfx=gfx):
                simulated = {"LD_LIBRARY_PATH": str(sources.BUILD / "hipsim"), "HIPSIM_ARCH": gfx}
                libraries = f"{sources.LIBRARIES / 'libggml-cpu.so'}:{self.backend}"
                done = subprocess.run([self.program, libraries, f"{model}+", "/dev/null"], env=os.environ | simulated, capture_output=True, text=True)
                said = done.stdout + done.stderr
                self.assertEqual(done.returncode, 1, said[-3000:])
                self.assertRegex(said, r"nibblewave: \d+ MiB do not fit into NW0, which has \d+ of \d+ MiB free: leave tensors to the CPU")
                self.assertIn("the model is not loaded", said)

    def test_types_without_kernels_stay_with_the_cpu(self) -> None:
        _, said = self.logits(self.model("qwen3moe", "q8_0"), "types")
        self.assertEqual(said.count("not on NW0: f32: "), 1)  # said once, of two layers


if __name__ == "__main__":
    unittest.main()
