# SPDX-License-Identifier: MIT
"""llama.cpp, unmodified: its own test of backends, and models of random weights whose logits are compared with the CPU's."""

from __future__ import annotations

import os
import re
import subprocess
import unittest
from pathlib import Path

import sources

# An APU's buffers are host memory only by this wish (isa_notes/A-024).
HOST = {"NIBBLEWAVE_GGML_MEMORY": "host"}
HYBRIDS = ("qwen3next", "qwen35")
VOCABULARY = 320  # make_model.py
MOST_NMSE = 5e-4  # that of one product in test-backend-ops
PRODUCTS = "type_a=(q4_0|q8_0|q4_K|q6_K)"
# Views of a cache, permuted as llama.cpp has them; and no mask.
ATTENTIONS = "hsk=(64|128),hsv=(64|128),.*(kv=512,nb=(1|75),.*type_K=f16,.*permute=.0,2|kv=113,nb=3,mask=0,.*type_K=f16,)"
# Other heads, types, soft caps and ALiBi; MLA.
OTHER_ATTENTIONS = (
    "hsk=72,.*nr23=.1,1.,kv=113,nb=3,|hsk=(40|80|96|192|256),.*nr23=.4,1.,kv=512,nb=1,mask=1,sinks=1,max_bias=8|"
    "hsk=576,.*nh=1,nr23=.4,1.,kv=512,nb=3,mask=1,sinks=0|hsk=128,.*nr23=.1,1.,kv=113,nb=1,.*softcap=10.*prec=f32|hsk=64,.*type_K=q(4|8)_0,type_V=(f16|q4_0)"
)
# Ops beside products and attention, and of each how many cases there are at least.
BETWEEN = {
    "RMS_NORM,NORM,L2_NORM,GROUP_NORM,SCALE,ADD_ID": 120,
    "ADD,SUB,MUL,DIV": 450,
    "ROPE": 100,
    "REGLU,GEGLU,SWIGLU,SWIGLU_OAI,GEGLU_ERF,GEGLU_QUICK": 38,
    "GET_ROWS,SET_ROWS,CPY,CONT,DUP,CONCAT,REPEAT": 400,
    "SOFT_MAX,SUM,SUM_ROWS,MEAN,ARGMAX,ARGSORT,TOP_K": 200,
    "SILU,GELU,SIGMOID,SOFTPLUS,TANH,EXP,RELU,NEG,XIELU,SQR,SQRT,SIN,COS,LOG,CLAMP,LEAKY_RELU": 80,
    "RMS_NORM_MUL_ADD,RMS_NORM_MUL_ROPE": 20,
    "GATED_DELTA_NET,SSM_CONV": 75,
    "SSM_SCAN,RWKV_WKV6,RWKV_WKV7,GATED_LINEAR_ATTN": 20,
    "PAD,ROLL,TRI,DIAG,DIAG_MASK_INF,FILL,ARANGE,CUMSUM": 60,
}
# Not 8192 tokens, nor pixels by the ten thousand, nor scans of 256 tokens and more; of ROPE two of its eight mixes of parameters.
BETWEEN_SAMPLE = "^(?!.*(8192|1920|2560|262144|65536|n_seq_tokens=(256|300|512)))(?!.*fs=1.000000,ef=0.746100)(?!.*fs=1.424500,ef=0.000000)"
DENSE = "type_a=(f32|f16|bf16),type_b=f32,m=16,n=(1|8|9|16|17),k=256"
COMPARE = """
import numpy, sys
got, want = (numpy.fromfile(name, numpy.float32).astype(float) for name in sys.argv[1:])
assert got.shape == want.shape and want.any(), (got.shape, want.shape)
print(((got - want) ** 2).sum() / (want ** 2).sum())
"""
# Where the largest logit leads by a tenth of their spread, it is the same token.
GREEDY = """
import numpy, sys
got, want = (numpy.fromfile(name, numpy.float32).astype(float).reshape(-1, int(sys.argv[3])) for name in sys.argv[1:3])
best = numpy.sort(want, 1)
clear = best[:, -1] - best[:, -2] > 0.1 * want.std()
print((got.argmax(1) == want.argmax(1))[clear].sum(), clear.sum(), len(want))
"""
# A line of the scheduler's dump: a node, its op, its name and where it runs; and the beginning of a split.
NODE = re.compile(r"node #\s*\d+ \(\s*(\w+)\):\s*(.*?) \(.{5}\) \[\s*(\w+)")
SPLIT = re.compile(r"## SPLIT #(\d+): (\w+)")


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

    def model(self, arch: str, quantization: str, head: int = 64) -> str:
        out = sources.HOME / f"{arch}.{quantization}.{head}.gguf"
        maker = sources.SOURCE / "tests/engines" / ("make_hybrid.py" if arch in HYBRIDS else "make_model.py")
        self.said(self.python, "-B", maker, sources.LIBRARIES / "libggml-base.so", arch, quantization, out, head)
        return str(out)

    def logits(self, model: str, name: str, *words: str, backend: bool = True, **options: str) -> tuple[str, str]:
        """The file of logits, and what llama.cpp said. The words are model_logits'."""
        libraries = str(sources.LIBRARIES / "libggml-cpu.so") + (f":{self.backend}" if backend else "")
        out = str(sources.HOME / f"{name}.logits")
        return out, self.said(self.program, libraries, model, out, *words, **options)

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
                same, clear, rows = map(int, self.said(self.python, "-c", GREEDY, got, want, VOCABULARY).split())
                print(f"{arch} {quantization} {gfx}: NMSE {error:.2e}, {same} of {clear} greedy tokens, of {rows} rows")
                self.assertLess(error, 1e-7 if quantization == "f32" else MOST_NMSE)
                self.assertEqual(same, clear)
                self.assertGreater(clear, rows // 3)

    def pass_backend_ops(self, ops: str, pattern: str, least: int, gfx: str = "gfx1151") -> None:
        """test-backend-ops computes at least `least` cases, all correctly."""
        folder = sources.LIBRARIES  # where it looks for the CPU's library
        command = f"cd {folder} && {sources.HOME}/test-backend-ops -b NW0 -o {ops} -p '{pattern}'"
        said = self.said("sh", "-c", command, gfx=gfx, GGML_BACKEND_PATH=str(self.backend))
        self.assertRegex(said, r"Backend NW0: .*OK")
        self.assertNotIn("FAIL", said)
        self.assertGreaterEqual(said.count("OK"), least)

    def test_its_test_of_products(self) -> None:
        self.pass_backend_ops("MUL_MAT,MUL_MAT_ID", PRODUCTS, 300)
        for gfx in ("gfx1151", "gfx1030"):
            with self.subTest(gfx=gfx):
                self.pass_backend_ops("MUL_MAT", DENSE, 20, gfx)

    def test_its_test_of_what_stands_between(self) -> None:
        for gfx in ("gfx1151", "gfx1030"):
            with self.subTest(gfx=gfx):
                for ops, least in BETWEEN.items():
                    self.pass_backend_ops(ops, BETWEEN_SAMPLE, least, gfx)

    def test_its_test_of_attention(self) -> None:
        for gfx in ("gfx1151", "gfx1100", "gfx1030"):
            with self.subTest(gfx=gfx):
                self.pass_backend_ops("FLASH_ATTN_EXT", ATTENTIONS, 40, gfx)
                self.pass_backend_ops("FLASH_ATTN_EXT", OTHER_ATTENTIONS, 40, gfx)

    def test_models(self) -> None:
        for arch in ("llama", "qwen3", "qwen3moe"):
            for quantization in ("q4_0", "q8_0", "q4_K_M"):
                self.compare(arch, quantization)
        for arch in HYBRIDS:
            for quantization in ("q8_0", "q4_K_M", "f32"):
                self.compare(arch, quantization)

    def place(self, said: str) -> tuple[int, dict[str, set[str]]]:
        """Splits of the last graph that the scheduler made, and by device the ops there."""
        last = said[said.rindex("## SPLIT #0: ") :]
        where: dict[str, set[str]] = {}
        for op, name, device in NODE.findall(last):
            where.setdefault(device, set()).add(f"{op} {name}")
        return len(SPLIT.findall(last)), where

    def test_a_token_is_one_split(self) -> None:
        """All of a token runs on the device, but for its embedding, which llama.cpp keeps with the CPU."""
        for arch, gfx, words in (
            ("llama", "gfx1151", ("--flash",)),
            ("qwen3", "gfx1100", ("--flash",)),
            ("qwen3", "gfx1151", ("--no-flash",)),
            ("qwen3moe", "gfx1100", ("--flash",)),
            ("qwen3moe", "gfx1030", ()),
            ("qwen35", "gfx1151", ("--sequences=2",)),
            ("qwen3next", "gfx1100", ()),
            ("qwen35", "gfx1030", ()),
        ):
            with self.subTest(arch=arch, gfx=gfx, words=words):
                model = self.model(arch, "q4_K_M")
                want, _ = self.logits(model, "cpu", *words, backend=False)
                got, said = self.logits(model, "place", *words, gfx=gfx, GGML_SCHED_DEBUG="2")
                splits, where = self.place(said)
                self.assertRegex(" ".join(where.pop("CPU")), r"^GET_ROWS \S*embe?d\S*$")
                self.assertEqual(list(where), ["NW0"])
                self.assertGreater(len(where["NW0"]), 30)
                self.assertEqual(splits, 2)  # the embedding's, and the device's
                self.assertLess(self.nmse(got, want), MOST_NMSE)

    def attention(self, model: str, *words: str, gfx: str = "gfx1151", **environment: str) -> dict[str, int]:
        """In whose memory results of FLASH_ATTN_EXT are, and how many, of 9 graphs with 2 layers. The logits are right."""
        want, _ = self.logits(model, "cpu", *words, backend=False)
        got, said = self.logits(model, "attention", *words, gfx=gfx, **environment)
        error = self.nmse(got, want)
        print(f"{Path(model).stem} {gfx} {' '.join(words)}: NMSE {error:.2e}")
        self.assertLess(error, MOST_NMSE)
        counts = re.findall(r"FLASH_ATTN_EXT in memory of (\w+): (\d+)", said)
        return {"CPU" if memory.endswith("_Host") else memory: int(times) for memory, times in counts}  # pinned: the CPU's

    def test_attention_on_the_device(self) -> None:
        """The cache is in its memory, of its own or of the host."""
        for arch, quantization, head in (("llama", "q4_K_M", 64), ("qwen3", "q4_0", 128)):
            model = self.model(arch, quantization, head)
            for words in ((), ("--flash",), ("--flash", "--sequences=2"), ("--flash", "--sequences=3", "--unified")):
                with self.subTest(arch=arch, head=head, words=words):
                    self.assertEqual(self.attention(model, *words), {"NW0": 18})
            for gfx, environment in (("gfx1100", {}), ("gfx1151", HOST)):
                with self.subTest(arch=arch, head=head, gfx=gfx, **environment):
                    self.assertEqual(self.attention(model, "--flash", gfx=gfx, **environment), {"NW0": 18})

    def test_a_cache_that_is_edited(self) -> None:
        """Its state is saved and restored, a sequence is copied, positions are moved."""
        model = self.model("qwen3", "q4_0", 128)
        for where, words in (
            ("NW0", ("--flash",)),
            ("NW0", ("--flash", "--sequences=2")),
            ("NW0", ("--flash", "--sequences=2", "--unified")),
            ("NW0", ("--quantized-cache", "--sequences=2")),
        ):
            with self.subTest(words=words):
                self.assertEqual(self.attention(model, "--edit", *words), {where: 18})

    def test_a_shift_of_heads_of_36(self) -> None:
        """Keys in the cache, of f16, are turned in pairs whose number is no multiple of four."""
        model = self.model("llama", "f16", 36)
        want, _ = self.logits(model, "cpu", "--edit", backend=False)
        for gfx in ("gfx1151", "gfx1030"):
            with self.subTest(gfx=gfx):
                got, said = self.logits(model, "shift", "--edit", gfx=gfx, GGML_SCHED_DEBUG="2")
                self.assertNotIn("nibblewave: not on NW0: ROPE", said)
                self.assertLess(self.nmse(got, want), 1e-5)

    def test_where_attention_runs(self) -> None:
        """The logits are right, too, where llama.cpp keeps the cache with the CPU, and with other heads and caches."""
        model, other, long = self.model("qwen3", "q4_0", 128), self.model("llama", "q4_0", 96), self.model("llama", "q4_0", 256)
        flash = "--flash"
        for where, path, words, environment in (
            ({"CPU": 18}, model, [flash, "--layers=0"], {}),
            ({"CPU": 9, "NW0": 9}, model, [flash, "--layers=2"], {}),
            ({"CPU": 18}, model, [flash, "--cpu-cache"], {}),
            ({"NW0": 18}, model, ["--quantized-cache"], {}),
            ({"NW0": 18}, model, ["--quantized-cache"], {"gfx": "gfx1030"}),
            ({"NW0": 18}, model, [flash], {"gfx": "gfx1030"}),
            ({"NW0": 18}, other, [flash], {}),
            ({"NW0": 18}, other, [], {}),
            ({"NW0": 18}, long, [flash], {}),
            ({"NW0": 18}, long, ["--quantized-cache"], {}),
            ({"NW0": 9, "NW1": 9}, model, [flash, "--both"], {"gfx": "gfx1151,gfx1151"}),
            ({"NW0": 9, "NW1": 9}, model, [flash, "--both"], {"gfx": "gfx1100,gfx1100"}),
            ({"NW0": 18}, model, [flash], {"gfx": "gfx1100,gfx1151"}),
            ({"CPU": 18}, model, [flash], {"NIBBLEWAVE_GGML_TYPE": "accel"}),
        ):
            with self.subTest(model=path, words=words, **environment):
                self.assertEqual(self.attention(path, *words, **environment), where)

    def test_layers_on_two_devices_give_the_same_bits(self) -> None:
        """By llama.cpp's split, caches too; or, of devices that get no layers, by the names of weights."""
        model = self.model("qwen3", "q4_K_M")
        for words, environment in (("--both", {}), ("--both", HOST), (r"blk\.1\..*weight=NW1", {"NIBBLEWAVE_GGML_TYPE": "accel"})):
            with self.subTest(words=words):
                one, _ = self.logits(model, "one", **environment)
                two, said = self.logits(model, "two", words, gfx="gfx1151,gfx1151", **environment)
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


if __name__ == "__main__":
    unittest.main()
