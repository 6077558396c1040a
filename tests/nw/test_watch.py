# SPDX-License-Identifier: MIT
"""--watch: a command runs again when its file, or one that it includes, changes; a mistake is shown, and waited for."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from command import BUILD, SUMS, nw

PATIENCE = 120  # seconds, of a busy machine


def heed_interrupts() -> None:
    """They are ignored where the tests run in the background of a script."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Watched:
    """A running nw: the lines of both its streams."""

    def __init__(self, *arguments: str | Path, cwd: str) -> None:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("HIPSIM_")}
        self.process = subprocess.Popen([BUILD / "bin/nw", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        cwd=cwd, env=clean | {"TMPDIR": cwd}, preexec_fn=heed_interrupts)  # fmt: skip
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)

    def until(self, words: str) -> str:
        """All that it says up to the line with these words."""
        said, deadline = "", time.monotonic() + PATIENCE
        while words not in said:
            try:
                said += self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"'{words}' did not come: {said}") from None
        return said

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        return code


class Watch(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.kernel = self.folder / "sums.s"
        shutil.copy(SUMS, self.kernel)

    def watch(self, *arguments: str | Path) -> Watched:
        watched = Watched(*arguments, "--watch", cwd=str(self.folder))
        self.addCleanup(watched.process.kill)
        return watched

    def edit(self, path: Path, old: str, new: str) -> None:
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))

    def test_each_command_runs_again(self) -> None:
        for command, arguments, words in [("run", ["--kernel", "nothing"], "nothing on "), ("time", ["--kernel", "nothing"], "Modelled (sim)"),
                                          ("annotate", ["--kernel", "nothing"], "Lines with the most cycles"), ("lint", [], " kernels: ")]:  # fmt: skip
            with self.subTest(command):
                watched = self.watch(command, "sums.s", *arguments)
                self.assertIn(words, watched.until("waits for a change of sums.s, Ctrl-C ends"))
                self.kernel.write_text(self.kernel.read_text() + "\n")
                self.assertIn("sums.s changed", watched.until("changed"))
                self.assertIn(words, watched.until("waits for a change"))
                self.assertEqual(watched.end(), -signal.SIGINT)  # which shells show as 130

    def test_a_mistake_is_shown_and_waited_for(self) -> None:
        watched = self.watch("run", "sums.s", "--kernel", "nothing")
        watched.until("exit code 0; waits")
        self.edit(self.kernel, "s_endpgm", "s_foo")
        said = watched.until("exit code 2; waits")
        self.assertIn("invalid instruction", said)
        self.assertIn("s_foo", said)
        self.edit(self.kernel, "s_foo", "s_endpgm")
        self.assertIn("nothing on ", watched.until("exit code 0; waits"))
        self.assertEqual(watched.end(signal.SIGTERM), -signal.SIGTERM)

    def test_included_files_also_those_that_are_missing(self) -> None:
        inner = self.folder / "inner.s"
        self.edit(self.kernel, "sums:", '.include "outer.s"\nsums:')
        watched = self.watch("run", "sums.s", "--kernel", "nothing")
        self.assertIn("outer.s", watched.until("exit code 2; waits for a change of sums.s, Ctrl-C"))
        (self.folder / "outer.s").write_text('.include "inner.s"\n')
        self.assertIn("outer.s changed", watched.until("exit code 2; waits for a change of sums.s and 1 included, Ctrl-C"))
        inner.write_text("\n")
        self.assertIn("inner.s changed", watched.until("exit code 0; waits for a change of sums.s and 2 included, Ctrl-C"))
        time.sleep(0.05)  # a clock of file systems may have ticks of 10 ms
        inner.write_text(" \n")
        self.assertIn("inner.s changed", watched.until("exit code 0; waits"))
        watched.end()

    def test_headers_of_hip(self) -> None:
        (self.folder / "factor.h").write_text("#define FACTOR 2\n")
        source = self.folder / "scale.hip"
        source.write_text('#include "factor.h"\nextern "C" __global__ void scale(float* y) { y[threadIdx.x] = FACTOR; }\n')
        watched = self.watch("run", "scale.hip", "--gfx", "gfx1151", "--block", "32", "--args", "buf:128", "--print", "0:f32:1")
        self.assertRegex(watched.until("and 1 included"), r"(?m)\b2$")
        (self.folder / "factor.h").write_text("#define FACTOR 30\n")
        self.assertRegex(watched.until("and 1 included"), r"(?m)\b30$")
        watched.end()

    def test_a_change_ends_a_run_that_does_not(self) -> None:
        """And leaves no temporary files."""
        before = sorted(self.folder.iterdir())
        text = self.kernel.read_text()
        self.edit(self.kernel, "s_cbranch_scc0  L_end", "s_nop 0")
        self.edit(self.kernel, "s_cbranch_scc1  L_down", "s_branch        L_down")
        watched = self.watch("run", "sums.s", "--kernel", "spin", "--args", "buf:4")
        time.sleep(1)
        self.kernel.write_text(text)
        said = watched.until("exit code 0; waits")
        self.assertNotIn("exit code", said.partition("changed")[0])
        watched.end()
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_a_file_that_is_not_there_is_a_mistake(self) -> None:
        done = nw("run", "no.s", "--watch", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no.s: No such file", done.stderr)


if __name__ == "__main__":
    unittest.main()
