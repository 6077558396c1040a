# SPDX-License-Identifier: MIT
"""Packages of the package index, for tests of programs that others wrote: pip's own index, as it is configured."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import venv
from collections.abc import Mapping
from pathlib import Path

OPTIONS = ["--quiet", "--disable-pip-version-check", "--no-input", "--timeout=5", "--retries=0"]
WHEELS = Path(__file__).resolve().parents[2] / "host/python"


class Skip(Exception):
    """Why cases can't run here."""


def virtual_environment(folder: Path) -> Path:
    """Path of its Python. Earlier contents of the folder are removed."""
    if importlib.util.find_spec("ensurepip") is None:  # Debian has it apart; venv would end the process
        raise Skip("this Python makes no virtual environment: ensurepip is missing, apt install python3-venv")
    try:
        venv.create(folder, clear=True, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Skip(f"this Python makes no virtual environment: {error}") from error
    return folder / "bin/python"


def pip(python: Path, command: str, *arguments: Path | str, seconds: int, environment: Mapping[str, str] | None = None) -> None:
    """`command`: install or download. `environment`: of a build, beside the process's own."""
    words = [str(word) for word in (python, "-m", "pip", command, *OPTIONS, *arguments)]
    try:
        done = subprocess.run(words, env=os.environ | (environment or {}), capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise Skip(f"pip {command} took more than {seconds} s") from error
    if done.returncode != 0:
        raise Skip(f"pip {command} failed: {done.stderr.strip().rpartition(chr(10))[2]}")


def build_wheel(python: Path, to: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The project's own, by its build backend, as pip calls it, but without pip's network. stdout is its name."""
    program = f"import sys; sys.path.insert(0, {str(WHEELS)!r}); import wheel_backend; print(wheel_backend.build_wheel({str(to)!r}))"
    return subprocess.run([python, "-B", "-c", program], env=os.environ | environment, capture_output=True, text=True)
