# SPDX-License-Identifier: MIT
"""Commands of every README.md. A block of `sh` is run as it stands, in order, in a folder that looks like the
repository; its exit code must be 0. A first line that is one of these comments says that it is not run here:

    # needs a card ...
    # minutes ...
    # run by FILE ...     a test

Its commands, and those in the text, are parsed: there is such a program, and its help has every option.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import documents
from documents import ROOT, Block

BUILD = Path(os.environ["NW_BUILD_DIR"])
CMAKE = os.environ.get("NW_CMAKE", "cmake")
CACHE = (BUILD / "CMakeCache.txt").read_text()
SANITIZED = "NIBBLEWAVE_SANITIZE:BOOL=ON" in CACHE
NOT_RUN = re.compile(r"# (?:needs a card|minutes|run by (?P<file>\S+))\b")
OPTION = re.compile(r"(--?[A-Za-z][\w-]*)(?:=.*)?")
IN_TEXT = re.compile(r"(?:[A-Z_]+=\S+ +)*(?:\./bench/run|\./tests/run|build/bin/|nw |python3 |cmake )")
SCRIPTS = {"./bench/run": "bench/run", "./tests/run": "tests/run", "./setup.sh": "setup.sh"}
PROGRAMS = {"cc", "cd", "cmake", "git", "python3", "pkg-config", "llvm-objdump", "rocprofv3"}


def not_run(block: Block) -> re.Match[str] | None:
    return NOT_RUN.match(block.code)


def shell_blocks(path: Path) -> list[Block]:
    return [block for block in documents.blocks(documents.text(path)) if block.language == "sh"]


# ---- parsed


def output(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr if done.returncode == 0 else ""


@functools.cache
def targets() -> set[str]:
    """Not by the target `help`, a build of its own: the build that runs this test is under way there."""
    return set(re.findall(r"^([\w.-]+): ", output("ninja", "-C", BUILD, "-t", "targets", "all"), re.MULTILINE))


@functools.cache
def help_of(*command: str) -> str:
    """Text that documents its options; "" if there is no such command."""
    program, *rest = command
    if program in ("./tests/run", "./setup.sh"):  # these would build
        scripts = [ROOT / program, *(ROOT / "tests/check").glob("*.py")] if program == "./tests/run" else [ROOT / program]
        return "\n".join(script.read_text() for script in scripts)
    if program == "./bench/run":
        return (ROOT / "bench/run").read_text() + output(BUILD / "bin/nw_bench", "--help")
    if program == "python3":
        return (ROOT / rest[0]).read_text() if rest and (ROOT / rest[0]).exists() else ""
    return output(*command, "--help")


def has_subcommand(command: list[str], word: str) -> bool:
    return bool(re.search(rf"^  {re.escape(word)} ", help_of(*command).partition("Subcommands:")[2], re.MULTILINE))


def subcommand(words: list[str]) -> list[str]:
    """The command's words before its options: nw atlas report. [] if it is unknown."""
    if words[0] == "python3":
        return words[:2]
    if not words[0].endswith("/nw"):
        return words[:1]
    if len(words) < 2 or not has_subcommand(words[:1], words[1]):
        return []
    return words[:3] if len(words) > 2 and has_subcommand(words[:2], words[2]) else words[:2]


def variable_errors(assignment: str) -> list[str]:
    name = assignment.partition("=")[0]
    if not name.startswith(("HIPSIM_", "NIBBLEWAVE_")):
        return []
    files = [path for end in ("cpp", "h") for path in (ROOT / "host").rglob(f"*.{end}")]
    files += [path for room in ("engines", "clients") for path in (ROOT / "tests" / room).glob("*.py")]
    known = any(f'"{name}"' in path.read_text() for path in files)
    return [] if known else [f"{name}: nothing reads it"]


def command_errors(words: list[str]) -> list[str]:
    """Errors of one command."""
    out = []
    while words and re.match(r"[A-Z_]+=", words[0]):
        out += variable_errors(words.pop(0))
    if not words:
        return out
    if words[0] == "nw":
        words = ["build/bin/nw", *words[1:]]
    program = words[0]
    if program == "cmake":
        if "--target" in words and words[words.index("--target") + 1] not in targets():
            out.append(f"{words[words.index('--target') + 1]}: no target of the build")
        if "--preset" in words and f'"{words[words.index("--preset") + 1]}"' not in (ROOT / "CMakePresets.json").read_text():
            out.append(f"{words[words.index('--preset') + 1]}: no preset")
        return out
    if program.startswith("build/"):
        file = BUILD.parent / BUILD.name / program.removeprefix("build/")
        if not file.exists():  # one that the tests don't need
            return out if file.name in targets() else [*out, f"{program}: neither built nor a target"]
        words = [str(file), *words[1:]]
    elif program in SCRIPTS:
        if not (ROOT / SCRIPTS[program]).exists():
            return [*out, f"{program}: no such script"]
    elif program not in PROGRAMS and not re.fullmatch(r"\./\w+", program):  # ./app is the reader's own
        return [*out, f"{program}: no such program"]
    elif program != "python3":
        return out
    command = subcommand(words)
    said = help_of(*command) if command else ""
    if not said:
        return [*out, f"{' '.join(words)}: no such command"]
    for word in words[len(command) :]:
        option = OPTION.fullmatch(word)
        if option and not re.search(rf"(?<![\w-]){re.escape(option[1])}(?![\w-])", said):
            out.append(f"{' '.join(words)}: {option[1]} is not in its help")
    return out


def commands(code: str) -> list[list[str]]:
    out = []
    for line in code.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.commenters = "#"
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word in (";", "&&", "|", "||"):
                if words:
                    out.append(words)
                words = []
            elif word not in ("(", ")", "<", ">", ">>"):
                words.append(word)
    return out


def errors(code: str) -> list[str]:
    return [error for words in commands(code) for error in command_errors(words)]


class Parsed(unittest.TestCase):
    maxDiff = None

    def test_blocks_that_are_not_run(self) -> None:
        for path in documents.readmes():
            for block in shell_blocks(path):
                if marked := not_run(block):
                    with self.subTest(f"{path}:{block.line}"):
                        self.assertEqual(errors(block.code), [])
                        self.assertTrue(marked["file"] is None or (ROOT / marked["file"]).is_file(), marked["file"])

    def test_commands_in_the_text(self) -> None:
        for path in documents.readmes():
            for span in documents.CODE.findall(documents.prose(documents.text(path))):
                if IN_TEXT.match(span):
                    with self.subTest(f"{path}: {span}"):
                        self.assertEqual(errors(span), [])


class TheParserItself(unittest.TestCase):
    def test_good_commands(self) -> None:
        for good in (
            "./bench/run --suite decode --only '^2048x2048 .* m1' # one row", "nw time X.hsaco --grid 320 --args buf:1 u32:2", "nw atlas report a b",
            "HIPSIM_TIMING=on build/bin/nw choose --n 1 --k 2", "./tests/run -k x", "cmake --preset release", "nw isa | cat && nw isa --counts",
        ):  # fmt: skip
            self.assertEqual(errors(good.replace("| cat ", "")), [], good)

    def test_bad_commands(self) -> None:
        for bad in (
            "./bench/run --no-such-option", "./bench/ran", "nw no-such-command", "nw time X --no-such-option", "nw isa; nw isa --no-such-option",
            "HIPSIM_NO_SUCH=1 nw isa", "./tests/run --no-such-option", "cmake --build build --target no_such_target", "cmake --preset none",
            "build/bin/no_such_program", "no_such_program", "python3 bench/no_such.py", "nw isa && no_such_program", "nw atlas report --no-such",
        ):  # fmt: skip
            self.assertTrue(errors(bad), bad)


# ---- run


def folder_like_the_repository(folder: Path) -> None:
    for entry in ROOT.iterdir():
        if entry.name != "build" and not entry.name.startswith((".", "build-")):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").symlink_to(BUILD)


def run(block: Block, folder: Path) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("HIPSIM_", "NIBBLEWAVE_"))}
    clean["PATH"] = f"{Path(sys.executable).parent}:{clean['PATH']}"
    code = block.code.replace("./bench/run", "build/bin/nw_bench")  # it would build
    shell = ["bash", "-euo", "pipefail", "-c", code]
    return subprocess.run(shell, cwd=folder, env=clean, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=120)


@unittest.skipIf(SANITIZED, "programs would have to be started with the sanitizer's runtime")
@unittest.skipUnless((BUILD / "hsaco/gfx1151").is_dir(), "the commands are for gfx1151")
class Run(unittest.TestCase):
    def run_blocks(self, path: Path) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            folder_like_the_repository(folder)
            for block in shell_blocks(path):
                if not_run(block):
                    continue
                self.assertNotIn("./tests/run", block.code, f"{path}:{block.line}: it would run this test again; begin with `# minutes`")
                start = time.monotonic()
                done = run(block, folder)
                print(f"{path}:{block.line}: {time.monotonic() - start:.1f} s")
                self.assertEqual(done.returncode, 0, f"{path}:{block.line}\n{block.code}\n{done.stdout[-4000:]}")

    def test_a_failing_command_is_seen(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for code in ("false\ntrue\n", "true | false | true\n", "cat no-such-file\n", "build/bin/nw isa\n"):
                self.assertNotEqual(run(Block("sh", code, 1), Path(folder)).returncode, 0, code)


def add_tests() -> None:
    """One for each README.md that has something to run."""
    for path in documents.readmes():
        if any(not not_run(block) for block in shell_blocks(path)):
            name = "_".join(path.parent.parts) or "first"
            setattr(Run, f"test_{name}", lambda self, path=path: self.run_blocks(path))


add_tests()
