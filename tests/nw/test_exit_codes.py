# SPDX-License-Identifier: MIT
"""Exit codes of nw and nw_bench: 0; 1 for findings and failures; 2 for misuse. The same in every subcommand."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, DECODE, SUMS, nw, run

GFX = ["--gfx", "gfx1151"]
# Each subcommand that needs arguments, with what goes before a file that it reads.
READERS = {
    "annotate": ["annotate"],
    "bench-model": ["bench-model", "--device", "sim:gfx1151"],
    "atlas report": ["atlas", "report"],
    "atlas --rocprof": ["atlas", *GFX, "--rocprof"],
    "diff": ["diff", str(DECODE)],
    "info": ["info"],
    "inspect": ["inspect"],
    "lint": ["lint"],
    "lint --baseline": ["lint", str(SUMS), "--baseline"],
    "micro --fit": ["micro", "--fit"],
    "constants --profile": ["constants", "--profile"],
    "run": ["run"],
    "time": ["time"],
    "tune --candidates": ["tune", *GFX, "--candidates"],
}
NEEDY = ["annotate", "atlas", "bench-model", "check", "choose", "diff", "info", "inspect", "lint", "new", "pack", "quantize", "run", "time", "tune"]  # some argument
GARBAGE = {"text": b"this is not what you look for\n", "bytes": bytes(range(256)) * 8, "nothing": b""}


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run([BUILD / "bin/nw_bench", *arguments])


def subcommands() -> list[str]:
    listed = nw("--help").stdout.partition("Subcommands:")[2]
    return re.findall(r"^  ([\w-]+) ", listed, re.MULTILINE)


class Misuse(unittest.TestCase):
    def misuse(self, done: subprocess.CompletedProcess[str]) -> None:
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertNotEqual(done.stderr, "")

    def test_no_arguments(self) -> None:
        self.misuse(nw())
        for name in NEEDY:
            with self.subTest(name):
                self.misuse(nw(name))

    def test_unknown_options_and_commands(self) -> None:
        self.misuse(nw("no-such-command"))
        self.misuse(nw("no-such-command", "--help"))
        self.misuse(nw("--no-such-option"))

    def test_options_before_a_subcommand_are_refused(self) -> None:
        """They would set what the subcommand doesn't read: nw choose --gfx gfx1100 op showed gfx1151."""
        op = ["op", "rms_norm", "y_type=f32", "m=1", "k=64", "eps=1e-6"]
        attention = ["attention", "--sq", "1", "--sk", "32", "--h", "1", "--hk", "1"]
        for before, sub in [(["choose", "--gfx", "gfx1100"], op), (["choose", "-v"], op), (["choose", "--json"], attention),
                            (["choose", "--gfx", "gfx1100"], ["experts", "--n", "64", "--k", "64"]),
                            (["atlas", "--suite", "gguf"], ["report", str(SUMS)])]:
            with self.subTest([*before, *sub]):
                done = nw(*before, *sub)
                self.misuse(done)
                self.assertIn(f"{before[1].lstrip('-') if before[1] != '-v' else 'verbose'}: stands before {sub[0]}, ", done.stderr)
        self.misuse(bench("--no-such-option"))
        self.assertGreaterEqual(len(subcommands()), 15)
        for name in subcommands():
            with self.subTest(name):
                self.misuse(nw(name, "--no-such-option"))

    def test_negative_counts(self) -> None:
        """The parser reads an unsigned -1 as 2^64 - 1."""
        for command in (["doctor", "--copies", "-5"], ["micro", "--repeats=-1"], ["time", str(SUMS), "--seed=-7"]):
            with self.subTest(command=command):
                done = nw(*command)
                self.misuse(done)
                self.assertIn("is negative; the least value is 0", done.stderr)

    def test_files_that_are_missing(self) -> None:
        for name, command in READERS.items():
            with self.subTest(name):
                done = nw(*command, "/no/such/file")
                self.misuse(done)
                self.assertIn("/no/such/file", done.stderr)
        self.misuse(nw("pack", "/no/such/file", "/no/such/folder/out.safetensors"))
        self.misuse(nw("quantize", "/no/such/file", "-o", "/no/such/folder/out.safetensors"))

    def test_files_of_another_kind(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for kind, content in GARBAGE.items():
                file = Path(folder, kind)
                file.write_bytes(content)
                for name, command in READERS.items():
                    if (name, kind) == ("atlas report", "nothing"):
                        continue  # a file without lines is one
                    with self.subTest(name, kind=kind):
                        self.misuse(nw(*command, file))
                self.misuse(nw("pack", file, Path(folder, "out.safetensors")))
            for name, command in READERS.items():
                with self.subTest(name, kind="folder"):
                    self.misuse(nw(*command, folder))

    def test_outputs_that_cannot_be_written(self) -> None:
        nowhere = "/no/such/folder/out"
        device = ["--device", "sim:gfx1151"]
        for command in (["info", SUMS, "--html"], ["annotate", SUMS, "--kernel", "nothing", "--html"],
                        ["time", SUMS, "--kernel", "nothing", "--trace"], ["time", SUMS, "--kernel", "nothing", "--issue-log"],
                        ["atlas", "--suite", "gguf", *device, "-o"], ["micro", *device, "--json"], ["doctor", *device, "--json"],
                        ["lint", SUMS, "--write-baseline"], ["atlas", "report", SUMS, "--html"],
                        ["micro", "--fit", SUMS, "--profile"]):  # fmt: skip
            for output in (nowhere, "/", "", str(SUMS) + "/x"):
                with self.subTest(command[0], output=output):
                    self.misuse(nw(*command, output))
        for option in ("--json", "--html"):
            for output in (nowhere, "/", ""):
                with self.subTest(option, output=output):
                    done = bench("--suite", "decode", option, output)
                    self.misuse(done)  # before the suite's first row
                    self.assertIn("can't be written", done.stderr)

    def test_filters_that_match_nothing(self) -> None:
        """The error names what there is. Options that a suite does not read are errors, too: they would change nothing."""
        for command, text in (
            (["--suite", "layer", "--only", "x"], "--only x: suite layer has no rows of a name"),
            (["--suite", "golden", "--only", "x"], "--only x: suite golden has no rows of a name"),
            (["--suite", "layer", "--layer", "x"], "--layer x: Qwen3-4B has q"),
            (["--suite", "mid", "--layer", "q"], "--layer q: suite mid has no layers to choose"),
            (["--suite", "mid", "--table", "shapes"], "--table shapes: suite mid has one table"),
            (["--suite", "decode", "--table", "fp8"], "--table fp8: suite decode has tables published, shapes, ablations"),
            (["--suite", "mid", "--html", "page.html"], "--html page.html: suite mid makes no page"),
            (["--suite", "mid", "--constants", "x"], "--constants x: suite mid changes none"),
            (["--suite", "mid", "--only", "nothing"], r"--only nothing: no row of suite mid has such a name; there are \S+ .*, .* and \d+ more"),
            (["--suite", "stride", "--only", "nothing"], "no row of the suite stride has such a name; there are "),
        ):
            with self.subTest(command):
                done = bench(*command)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, text)

    def test_variables_that_are_misspelt_or_have_values_that_mean_nothing(self) -> None:
        for name, value, text in (
            ("HIPSIM_CHEK", "all", "HIPSIM_CHEK=all: there is no such variable; the nearest is HIPSIM_CHECK, there are"),
            ("NIBBLEWAVE_DEVCE", "x", "NIBBLEWAVE_DEVCE=x: there is no such variable; the nearest is NIBBLEWAVE_DEVICE, there are"),
            ("NIBBLEWAVE_DEVICE", "gpu", "device 'gpu': the forms are auto, hip:N and sim:gfxNNNN"),
            ("HIPSIM_CHECK", "foo", "HIPSIM_CHECK=foo: foo is not one of off"), ("HIPSIM_LEVEL", "v9", "HIPSIM_LEVEL=v9: this build has"),
            ("HIPSIM_CHOICES", "x=1", "HIPSIM_CHOICES=x=1: x=1: unknown choice"),
        ):
            programs = [[BUILD / "bin/nw", "micro", "--list"]]
            if "no such variable" in text:  # which no device need be opened for
                programs.append([BUILD / "bin/nw_bench", "--suite", "stride"])
            for command in programs:
                with self.subTest(name, value=value, command=command[0].name):
                    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {name: value})
                    self.misuse(done)
                    self.assertIn(text, done.stderr)

    def test_values_that_are_not_allowed(self) -> None:
        for command in (["choose", "--n", "64", "--k", "100"], ["isa", "--gfx", "gfx900"], ["constants", "--part", "none"],
                        ["micro", "--device", "sim:gfx1151", "--only", "("]):  # fmt: skip
            with self.subTest(command[0]):
                self.misuse(nw(*command))
        self.misuse(bench("--suite", "none"))

    def test_devices_that_are_not_there(self) -> None:
        for device in ("hip:99", "sim:gfx900", "nothing"):
            with self.subTest(device):
                for done in (nw("micro", "--device", device), bench("--device", device)):
                    self.misuse(done)
                    self.assertIn(device, done.stderr)


class Others(unittest.TestCase):
    def test_help(self) -> None:
        for name in ([], *([name] for name in subcommands()), ["atlas", "report"]):
            with self.subTest(name):
                done = nw(*name, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        for text in (nw("--help").stdout, bench("--help").stdout):
            self.assertIn("Exit codes: 0: done, nothing found. 1: a finding or a failure", " ".join(text.split()))

    def test_findings(self) -> None:
        self.assertEqual(nw("lint", BUILD / "hsaco/gfx1151/moe_align.hsaco").returncode, 0)
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "unwaited.s")
            loaded = "global_load_b32 v1, v0, s[0:1]\nv_mov_b32 v2, v1\ns_endpgm\n"
            kernel = SUMS.read_text()
            source.write_text(re.sub(r"(?m)^nothing:\n", "nothing:\n" + loaded, kernel))
            done = nw("lint", source)
            self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)

    def test_failures(self) -> None:
        fault = nw("time", SUMS, "--kernel", "sums", "--args", "null", "null", "u32:1", "f16:0")
        self.assertEqual((fault.returncode, fault.stdout), (1, ""))
        self.assertIn("illegal address", fault.stderr)

    def test_output_that_is_cut_short(self) -> None:
        with Path("/dev/full").open("w") as full:
            for command in ([BUILD / "bin/nw", "isa", "--counts"], [BUILD / "bin/nw", "constants"]):
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
                self.assertIn("No space left on device", done.stderr)


if __name__ == "__main__":
    unittest.main()
