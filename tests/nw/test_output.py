# SPDX-License-Identifier: MIT
"""Output of nw and nw_bench: rows as they come, at most 100 columns, colour only on a terminal, sim beside figures."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import pytest
from command import BUILD, DECODE, DECODE_ARGS, SOURCE, SUMS, SUMS_LAUNCH, nw, run

COLUMNS = 100
ESCAPE = "\x1b"
LAYER = ["--device", "sim:gfx1151", "--model", "Qwen3-4B", "--layer", "k", "--m", "1", "--dtype", "f16"]
SUITES = {
    "layer": LAYER,
    "layer -v": [*LAYER, "-v"],
    "decode": ["--suite", "decode", "--only", "^2048x2048 g128 bf16 zp m[12]$"],
    "decode bars": ["--suite", "decode", "--only", "^2048x2048 g128 bf16 zp m[12]$", "--uncertainty"],
    "layer bars": [*LAYER, "--uncertainty"],
    "gguf bars": ["--suite", "gguf", "--m", "1,64", "--only", "Llama-3.1-8B o .*q4_K|Qwen3-30B-A3B down .* t1 ", "--uncertainty"],
    "ablations bars": ["--suite", "decode", "--table", "ablations", "--only", "^8192x512 .* bf16 .* m1$", "--uncertainty"],
    "mid bars": ["--suite", "mid", "--m", "1,16", "--only", "2560x2560 g128 f16 zp", "--uncertainty"],
    "prefill bars": ["--suite", "prefill", "--m", "64", "--only", "^2560x2560 f16 sym", "--uncertainty"],
    "decode shapes": ["--suite", "decode", "--table", "shapes", "--model", "Gemma-2B", "--dtype", "f16", "--m", "1"],
    "decode ablations": ["--suite", "decode", "--table", "ablations", "--only", "^8192x512 .* bf16 .* m1$"],
    "prefill": ["--suite", "prefill", "--m", "64", "--only", "^2560x2560 f16 (sym|carrier)"],
    "ladder": ["--suite", "prefill", "--table", "ladder", "--m", "64", "--only", "2560x3840"],
    "mid": ["--suite", "mid", "--m", "1,16", "--only", "2560x2560 g128 f16 zp"],
    "moe": ["--suite", "moe", "--device", "sim:gfx1151", "--only", "Qwen3.5-35B-A3B gate_up .*bf16 t1 b1 silu|Qwen3-30B-A3B down .*bf16 t64 b16$"],
    "stride": ["--suite", "stride", "--device", "sim:gfx1151", "--only", "2048x6144|4096x2048"],
    "validate": ["--suite", "validate", "--only", "decode 2048x2048 g128 f16 sym m1|cliff gfx1151 8192x512"],
    "sensitivity": ["--suite", "sensitivity", "--only", "decode 2048x2048 g128 f16 sym m1 ", "--constants", "^(launch_overhead|atomic_latency)$"],
    "gguf": ["--suite", "gguf", "--m", "1,64", "--only", "Llama-3.1-8B o .*q4_K|Qwen3-30B-A3B down .* t1 "],
    "crossover": ["--suite", "gguf", "--table", "crossover", "--only", "^q4_K 256x2048$", "--m", "1,9,17"],
    "sim": ["--suite", "sim", "--only", "scalar|micro_valu_mix"],
    "micro": ["--suite", "micro", "--device", "sim:gfx1151", "--only", "^launch"],
}  # fmt: skip
MEASURED = {"sim", "micro"}  # of this host; in its heading


def bench(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run([BUILD / "bin/nw_bench", *arguments], **environment)


def link_needed(arguments: list[str], folder: Path) -> None:
    """The kernels that bench/run builds for these arguments, as --needs lists them."""
    for target in re.findall(r"^kernels_(\w+)$", bench(*arguments, "--needs").stdout, re.MULTILINE):
        gfx, _, family = target.partition("_")
        (folder / gfx).mkdir(exist_ok=True)
        files = [BUILD / "hsaco" / name for name in re.findall(rf"^{gfx}/.*\.resources$", (BUILD / "library/files.txt").read_text(), re.MULTILINE)]
        if family:  # with what of it is not the library's
            files = [file for name in (family, f"{family}.references") for file in (BUILD / "hsaco" / gfx).glob(f"{name}.resources")]
        for file in files:
            names = [file.name, *(f"{line.split()[0]}.hsaco" for line in file.read_text().splitlines())]
            for name in names:
                if not (folder / gfx / name).exists():  # two targets may need it
                    (folder / gfx / name).symlink_to(BUILD / "hsaco" / gfx / name)


def on_terminal(command: list, **environment: str) -> str:
    """Its stdout, of a terminal."""
    try:
        ours, theirs = pty.openpty()
    except OSError as error:  # as in a chroot without /dev/pts
        raise unittest.SkipTest(f"no terminal can be made here: {error}") from error
    clean = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=clean | environment) as process:
        os.close(theirs)
        said = b""
        try:
            while some := os.read(ours, 4096):
                said += some
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    return said.decode()


class Width(unittest.TestCase):
    def check(self, name: str, text: str) -> None:
        for line in text.splitlines():
            self.assertLessEqual(len(line), COLUMNS, f"{name}: {line}")
        self.assertNotIn(ESCAPE, text)

    def test_without_its_kernels_a_suite_says_what_to_build(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "gfx1151").mkdir()
            done = bench(*LAYER, NIBBLEWAVE_HSACO=folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("decode_w4a16 is not built for gfx1151", done.stderr)
        self.assertIn("--target kernels_gfx1151_decode_w4a16", done.stderr)

    def check_suites(self, suites: dict[str, list[str]]) -> None:
        """With the kernels alone that bench/run builds for it."""
        for name, arguments in suites.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                link_needed(arguments, Path(folder))
                done = bench(*arguments, NIBBLEWAVE_HSACO=folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check(name, done.stdout)
                if name not in MEASURED:
                    self.assertIn("sim", done.stdout)

    def test_of_short_suites(self) -> None:
        self.check_suites({name: SUITES[name] for name in ("layer", "layer -v", "layer bars", "stride", "micro")})

    @pytest.mark.all_tier
    def test_of_every_suite(self) -> None:
        self.check_suites(SUITES)

    def test_of_nw(self) -> None:
        commands = [
            ["choose", "--n", "4096", "--k", "4096", "-v"], ["choose", "--n", "4096", "--k", "4096", "--m", "16", "--gguf", "q4_K"],
            ["time", DECODE, "--grid", "8", "--stats", "-v", "--args", *DECODE_ARGS], ["time", SUMS, *SUMS_LAUNCH, "--repeat", "2"],
            *(["inspect", SOURCE / "tests/fuzz/corpus/gguf" / file] for file in ("small-model", "every-value", "every-type")),
        ]  # fmt: skip
        for command in commands:
            with self.subTest(command[0]):
                done = nw(*command)
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = done.stdout.splitlines()
                # A path is as long as it is.
                self.check(command[0], "\n".join(lines[1:] if command[0] == "inspect" else lines))


class Help(unittest.TestCase):
    def test_every_command_has_two_examples_with_options_that_it_has(self) -> None:
        commands = re.findall(r"^  ([a-z-]+) ", nw("--help").stdout.partition("Subcommands:")[2], re.MULTILINE)
        self.assertIn("annotate", commands)
        for command in commands:
            with self.subTest(command):
                text = nw(command, "--help").stdout
                examples = re.findall(rf"^ +(?:[A-Z_]+=\S+ )*nw {command} (.*)$", text, re.MULTILINE)
                self.assertGreaterEqual(len(examples), 2)
                if "Subcommands:" in text:
                    continue  # their options aren't listed here
                listed = text.partition("\nOptions:")[2].partition(f"nw {command} {examples[0]}")[0]
                for example in examples:
                    own = example.partition(" -- ")[0].partition("; ")[0]  # not those of a program, or of a second command
                    for option in re.findall(r"(?:^| )(--?[a-z][\w-]*)", own):
                        self.assertRegex(listed, rf"(?<![\w-]){option}(?![\w-])")


    def test_rules_are_sentences(self) -> None:
        text = nw("lint", "--rules").stdout
        self.assertLessEqual(max(map(len, text.splitlines())), COLUMNS)
        rules = re.sub(r"\n {10,}", " ", text).splitlines()
        self.assertGreater(len(rules), 40)
        for rule in rules:
            self.assertRegex(rule, r"^[A-Z]-\d{3}  (error|warning|note) +([A-Z]|s_)[^.]* (is|are|was|has|have|may|can't|goes|uses|reaches|runs|completes|don't load) .*\.$")


class Colour(unittest.TestCase):
    COMMANDS = [[BUILD / "bin/nw_bench", *LAYER], [BUILD / "bin/nw", "choose", "--n", "64", "--k", "128"]]

    def test_only_on_a_terminal_that_wants_it(self) -> None:
        for command in self.COMMANDS:
            with self.subTest(command[0].name):
                coloured = on_terminal(command, TERM="xterm-256color")
                self.assertIn(ESCAPE, coloured)
                self.assertIn(ESCAPE, on_terminal(command, TERM="xterm", NO_COLOR=""))  # empty: as if it were not there
                for environment in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "xterm", "NO_COLOR": "0"}, {"TERM": "dumb"}):
                    self.assertNotIn(ESCAPE, on_terminal(command, **environment), environment)
                plain = run(command, TERM="xterm").stdout
                self.assertNotIn(ESCAPE, plain)


class Rows(unittest.TestCase):
    def test_they_are_out_before_the_last_one_is_done(self) -> None:
        command = [BUILD / "bin/nw_bench", "--suite", "mid", "--device", "sim:gfx1151", "--m", "1,2,3,4,5,6,7,8", "--dtype", "f16", "--only", "2560x2560"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            times = [time.monotonic() for line in process.stdout if "2560x2560" in line]
        self.assertEqual((process.returncode, len(times)), (0, 16))
        self.assertGreater(times[-1] - times[0], 0.1)  # each takes longer than that
        self.assertEqual(times, sorted(times))

    def test_they_keep_their_order(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "rows.json")
            done = bench("--suite", "mid", "--device", "sim:gfx1151", "--m", "8,1,4", "--only", "2560x2560 g128 f16 sym", "--json", str(file))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?s)m8 .*m1 .*m4 ")
            self.assertEqual(file.read_text().count('"of_m1"'), 3)  # in the file, of all


if __name__ == "__main__":
    unittest.main()
