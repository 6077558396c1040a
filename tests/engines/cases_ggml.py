# SPDX-License-Identifier: MIT
"""ggml's libraries and a small program: products on the backend beside ggml's CPU, and the backend's messages where it can't work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import launches
import sources
from reported_faults import FAULTS

MOST_TIMES = 1.5  # host time of a product, or of a node of a token, over that of nw_gguf_linear in the same run
# of a layer at one token
MOST_LAUNCHES = {"small": 6, "small of two types": 6, "small experts": 8, "small experts with a bias": 8, "small experts and a shared one": 14, "small oss": 9, "small delta": 7}
UNFUSED = {"small": 30, "small of two types": 30, "small experts": 41, "small experts with a bias": 42, "small experts and a shared one": 44, "small oss": 42, "small delta": 42}
OF_FOUR_ROWS = {"small": 10, "small delta": 11}
HOST = {"NIBBLEWAVE_GGML_MEMORY": "host"}
ACCEL = {"NIBBLEWAVE_GGML_TYPE": "accel"}


class Host(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        sources.build_ggml()
        cls.backend = sources.build_backend()
        cls.program = sources.build_program("backend_host", "ggml", "ggml-base")

    def run_cases(self, *cases: str, gfx: str = "gfx1151", backend: Path | None = None, check: str = "off", **environment: str) -> str:
        """Output of the program, all of whose cases must pass."""
        libraries = f"{sources.LIBRARIES / 'libggml-cpu.so'}:{backend or self.backend}"
        defaults = {"LD_LIBRARY_PATH": str(sources.BUILD / "hipsim"), "HIPSIM_ARCH": gfx, "HIPSIM_CHECK": check}
        done = subprocess.run([self.program, libraries, *cases], env=os.environ | defaults | environment, capture_output=True, text=True)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertIn(" passed, 0 failed", said)
        return said

    def test_dense_products(self) -> None:
        for gfx in ("gfx1151", "gfx1100"):
            with self.subTest(gfx=gfx):
                self.run_cases("dense", gfx=gfx, check="all")

    def test_experts_by_a_view_of_sorted_rows(self) -> None:
        for gfx in ("gfx1151", "gfx1100"):
            with self.subTest(gfx=gfx):
                self.run_cases("experts", gfx=gfx, check="all")

    def test_attention(self) -> None:
        for gfx in ("gfx1151", "gfx1100"):
            with self.subTest(gfx=gfx):
                self.run_program("attention_host", gfx)

    def run_program(self, name: str, gfx: str, *arguments: str, **environment: str) -> str:
        """Output of a program of this folder, whose cases must pass, under all checkers."""
        program = sources.build_program(name, "ggml", "ggml-base")
        libraries = f"{sources.LIBRARIES / 'libggml-cpu.so'}:{self.backend}"
        simulated = {"LD_LIBRARY_PATH": str(sources.BUILD / "hipsim"), "HIPSIM_ARCH": gfx, "HIPSIM_CHECK": "all"}
        done = subprocess.run([program, libraries, *arguments], env=os.environ | simulated | environment, capture_output=True, text=True)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertRegex(said, r"[1-9]\d* passed, 0 failed")
        return said

    def test_what_stands_between_products(self) -> None:
        for gfx in ("gfx1151", "gfx1100"):
            with self.subTest(gfx=gfx):
                self.assertIn("NW0 does not compute CROSS_ENTROPY_LOSS (", self.run_program("ops_host", gfx))

    def test_copies_and_events(self) -> None:
        for gfx in ("gfx1151", "gfx1100,gfx1151"):
            with self.subTest(gfx=gfx):
                self.run_program("transfer_host", gfx)

    def test_a_cache(self) -> None:
        """A device's type in ggml, and attention over a cache in the memory that llama.cpp takes for it."""
        kinds: list[tuple[str, dict[str, str], list[str]]] = [
            ("gfx1151", {}, ["IGPU"]),
            ("gfx1100", {}, ["GPU"]),
            ("gfx1151", ACCEL, ["ACCEL"]),
            ("gfx1151", HOST, ["IGPU"]),
            ("gfx1151", HOST | {"HIPSIM_CHOICES": FAULTS}, ["IGPU"]),
            ("gfx1151,gfx1100", {}, ["IGPU", "GPU"]),
        ]
        for gfx, environment, types in kinds:
            with self.subTest(gfx=gfx, **environment):
                self.see_types(gfx, types, **environment)

    def test_what_cards_do_wrong(self) -> None:
        """Nothing that the backend does by default depends on it."""
        for gfx in ("gfx1151", "gfx1100", "gfx1151,gfx1100"):
            with self.subTest(gfx=gfx):
                self.run_cases("dense", "experts", "graph_reuse", "scheduler", "two_contexts", "weights_of_a_file", gfx=gfx, HIPSIM_CHOICES=FAULTS)

    def test_host_memory_is_asked_for_and_tested(self) -> None:
        """Where a kernel finds old data of the host in L2, the backend refuses such memory by name, and stays right."""
        unproven = "its self-test passed, but no card has proved it"
        self.assertIn(f"NW0 reads the host's memory, as NIBBLEWAVE_GGML_MEMORY=host asks: {unproven}", self.run_cases("dense", **HOST))
        self.assertNotIn("self-test", self.run_cases("dense"))
        said = self.run_cases("dense", "weights_of_a_file", HIPSIM_CHOICES="host_lines=stale", **HOST)
        self.assertIn("NW0 takes no host memory, as NIBBLEWAVE_GGML_MEMORY=host asks: its self-test failed, a kernel read old data in round 1;", said)
        self.assertIn("copied: ", said)
        said = self.run_cases("dense", gfx="gfx1100", **HOST)
        self.assertIn("NW0 has memory of its own: NIBBLEWAVE_GGML_MEMORY=host is for APUs", said)
        said = self.run_cases("dense", NIBBLEWAVE_GGML_MEMORY="mapped")
        self.assertIn("NIBBLEWAVE_GGML_MEMORY=mapped: must be device, the default, or host", said)

    def see_types(self, gfx: str, types: list[str], **environment: str) -> str:
        said = self.run_program("cache_host", gfx, **environment)
        self.assertEqual(re.findall(r"NW\d is a (\w+)", said), types)
        self.assertIn(f"{len(types)} passed, 0 failed", said)
        return said

    def test_two_devices(self) -> None:
        said = self.run_cases("dense", "experts", gfx="gfx1151,gfx1100")
        self.assertIn("NW1 q4_0", said)

    def test_two_contexts(self) -> None:
        self.run_cases("two_contexts", check="all")

    def test_a_graph_again(self) -> None:
        for gfx in ("gfx1151", "gfx1100"):
            with self.subTest(gfx=gfx):
                self.run_cases("graph_reuse", "scheduler", gfx=gfx, check="all")

    def test_weights_of_a_file(self) -> None:
        """Where memory is shared they stay there; else there is one copy."""
        pattern = r"(mapped|copied): ([\d.]+) MiB more for weights of ([\d.]+) MiB"
        for gfx, memory, how, most in (("gfx1151", "", "copied", 1.25), ("gfx1151", "host", "mapped", 0.25), ("gfx1100", "", "copied", 1.25)):
            with self.subTest(gfx=gfx, memory=memory):
                said = self.run_cases("weights_of_a_file", gfx=gfx, NIBBLEWAVE_GGML_MEMORY=memory)
                found = re.search(pattern, said)
                assert found, said
                print(f"{gfx}: {found[0]}")
                self.assertEqual(found[1], how)
                self.assertLess(float(found[2]), most * float(found[3]))
                self.assertEqual(float(found[2]) > 0.9 * float(found[3]), how == "copied")

    def test_too_large(self) -> None:
        for memory in ("host", ""):  # which gfx1151 shares, and its own
            said = self.run_cases("too_large", NIBBLEWAVE_GGML_MEMORY=memory)
            sentences = re.findall(r"nibblewave: \d+ MiB do not fit into NW0, which has \d+ of \d+ MiB free: leave tensors to the CPU", said)
            self.assertEqual(len(sentences), 2 if memory else 1, said)  # a mapped file, too

    def test_host_time(self) -> None:
        """Host time of a MUL_MAT, with launches that return at once."""
        program = sources.build_program("backend_cost", "ggml", "ggml-base", links=(sources.BUILD / "lib/libnibblewave.so", sources.BUILD / "hipsim/libamdhip64.so"))
        libraries = f"{sources.BUILD / 'hipsim'}:{sources.BUILD / 'lib'}"

        def cost(*words: str, **environment: str) -> str:
            # Graphs fail their self-test where launches do nothing: products are queued one by one.
            command = [program, self.backend, *words]
            done = subprocess.run(command, env=os.environ | {"LD_LIBRARY_PATH": libraries} | environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            print(done.stdout, end="")
            return done.stdout

        said = cost()
        figures = re.findall(r"(\d+) rows: ([\d.]+) us through ggml, ([\d.]+) us by nw_gguf_linear", said)
        self.assertEqual([rows for rows, _, _ in figures], ["1", "8", "32", "512"], said)
        for rows, through, by_library in figures:
            with self.subTest(rows=rows):
                self.assertLess(float(through), MOST_TIMES * float(by_library))
        nodes, queued = self.token_cost(cost("token", NIBBLEWAVE_GGML_UNFUSED="graph"))
        self.assertLess(queued / nodes, MOST_TIMES * float(figures[0][2]))
        _, replayed = self.token_cost(cost("token"))
        self.assertLess(replayed, 0.1 * queued)

    def token_cost(self, output: str) -> tuple[int, float]:
        """Nodes of a token, and its host time in us."""
        token = re.search(r"a token of \d+ layers: (\d+) nodes, \d+ launches, ([\d.]+) us", output)
        assert token, output
        return int(token[1]), float(token[2])

    def test_tokens(self) -> None:
        """Decoders' tokens, fused or not, recorded or not, also where cards are known to lose copies before graphs."""
        kinds: list[tuple[str, str, dict[str, str]]] = [
            ("gfx1151", "small", {}),
            ("gfx1100", "small", {"HIPSIM_CHOICES": FAULTS}),
            ("gfx1100", "small of two types", {"NIBBLEWAVE_GGML_UNFUSED": "cache,q8,sum,folded"}),
            ("gfx1100", "small oss", {"NIBBLEWAVE_GGML_UNFUSED": "cache,q8,sum,folded"}),
            ("gfx1100", "small with gaps", {"NIBBLEWAVE_GGML_UNFUSED": "cache,heads,joint,conversion"}),
            ("gfx1151", "small experts", {"NIBBLEWAVE_GGML_UNFUSED": "route,addend"}),
            ("gfx1151", "small delta", {"NIBBLEWAVE_GGML_UNFUSED": "addend,delta"}),
        ]
        for gfx, models, environment in kinds:
            with self.subTest(gfx=gfx, models=models, **environment):
                said = self.run_program("decoder_host", gfx, models, **environment)
                self.assertNotIn("self-test", said)
        said = self.run_cases("dense", NIBBLEWAVE_GGML_UNFUSED="norms")
        self.assertIn("NIBBLEWAVE_GGML_UNFUSED=norms: norms must be all, cache, heads, folded, norm, sum, q8, glu, joint, addend, conversion, route, experts, delta or graph", said)

    def test_launches(self) -> None:
        for model, most in MOST_LAUNCHES.items():
            with self.subTest(model=model):
                for unfused, expected in (("", most), ("all", UNFUSED[model])):
                    layer = launches.layer_of(launches.run("gfx1100", model, 3, "last", NIBBLEWAVE_GGML_UNFUSED=unfused))
                    self.assertEqual(len(layer), expected, unfused)

    def test_launches_of_several_rows(self) -> None:
        for model, most in OF_FOUR_ROWS.items():
            with self.subTest(model=model):
                self.assertEqual(len(launches.layer_of(launches.run("gfx1100", model, 3, "last", rows=4))), most)

    def test_fork(self) -> None:
        said = self.run_cases("fork")
        self.assertIn("NW0 was opened before fork()", said)

    def test_no_kernels(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            said = self.run_cases("no_device", NIBBLEWAVE_HSACO=empty)
        self.assertIn("is not used: no code objects for gfx1151", said)

    @contextmanager
    def kernels_without(self, prefix: str) -> Iterator[str]:
        """A folder of code objects for gfx1151 without those whose names begin like that."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "gfx1151"
            folder.mkdir()
            for file in (sources.BUILD / "hsaco/gfx1151").iterdir():
                if not file.name.startswith(prefix):
                    (folder / file.name).symlink_to(file)
            for file in (sources.BUILD / "hsaco").glob("*.json"):
                (Path(scratch) / file.name).symlink_to(file)
            yield scratch

    def test_a_missing_kernel(self) -> None:
        """The type's weights stay with the CPU; others do not."""
        with self.kernels_without("gguf_decode_q4_0") as folder:
            said = self.run_cases("q4_0_alone_is_refused", NIBBLEWAVE_HSACO=folder)
        self.assertRegex(said, r"nibblewave: .*q4_0: .*gguf_decode_q4_0")

    def test_no_kernels_for_states(self) -> None:
        """The gated delta rule's nodes are queued one by one then."""
        with self.kernels_without("conv_state") as folder:
            self.run_program("decoder_host", "gfx1151", "small delta", NIBBLEWAVE_HSACO=folder)

    def test_no_kernels_for_caches(self) -> None:
        """llama.cpp aborts if a GPU can't write its cache: without the kernels the device is none."""
        with self.kernels_without("set_rows") as folder:
            said = self.see_types("gfx1151", ["ACCEL"], NIBBLEWAVE_HSACO=folder)
        self.assertRegex(said, r"NW0 is an accelerator, without KV caches: .*set_rows")

    def test_no_hip(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            for name in ("libamdhip64.so", *[f"libamdhip64.so.{major}" for major in (5, 6, 7)]):
                (Path(scratch) / name).write_text("")  # found first, and no library
            said = self.run_cases("no_device", LD_LIBRARY_PATH=scratch, ROCM_PATH=scratch)
        self.assertRegex(said, r"nibblewave: .*(no libamdhip64|no device)")

    def test_another_version_of_ggml(self) -> None:
        other = sources.build_backend("other_version", NIBBLEWAVE_GGML_VERSION="0.24.9")
        said = self.run_cases("no_device", backend=other)
        self.assertRegex(said, r"built for ggml 0\.24\.9, and the program has ggml [\d.]+, whose structs may differ")

    def test_a_ggml_that_is_too_old(self) -> None:
        """It is refused before anything is compiled."""
        with tempfile.TemporaryDirectory() as scratch:
            old = Path(scratch) / "ggml"
            shutil.copytree(sources.LLAMA / "ggml", old)
            header = old / "include/ggml.h"
            header.write_text(header.read_text().replace("GGML_HINT_SRC0_IS_HADAMARD", "GGML_HINT_OTHER"))
            done = subprocess.run(sources.backend_configuration(Path(scratch) / "build", old), capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(" ".join(done.stderr.split()), r"is ggml [\d.]+, whose ggml.h has no GGML_HINT_SRC0_IS_HADAMARD: this backend needs ggml 0.15 or newer")


if __name__ == "__main__":
    unittest.main()
