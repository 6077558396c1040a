# SPDX-License-Identifier: MIT
"""run.py CLIENT: installs a HIP client from the package index into a virtual environment of the build directory, and
runs its cases (cases/CLIENT.py) there on the simulated GPU. The last line is `N passed, N failed`.

NIBBLEWAVE_CLIENTS says which clients: `off`, `all`, or a comma list; without it the small ones. What can't be installed
is skipped: the index is pip's own, as it is configured.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import stubs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "check"))
from packages import OPTIONS, Skip, build_wheel, pip, virtual_environment

BUILD = Path(os.environ["NW_BUILD_DIR"])
CASES = Path(__file__).resolve().parent / "cases"


@dataclass(frozen=True)
class Client:
    packages: tuple[str, ...]
    seconds: int  # to install it
    small: bool = False
    wheel: bool = False  # with the project's own wheel
    source: str = ""  # built from its source package by `packages`
    settings: tuple[tuple[str, str], ...] = ()  # of that build
    alone: tuple[str, ...] = ()  # without their dependencies, which conflict or are not needed here


CLIENTS = {
    "hip_python": Client(("hip-python==10.0.0.0.1.2",), 60, small=True),
    "tinygrad": Client(("tinygrad==0.14.0",), 60, small=True),
    "tinygrad_model": Client(("tinygrad==0.14.0", "numpy==2.4.6"), 120, small=True, wheel=True),
    "mlx": Client(("mlx==0.32.4", "mlx-cpu==0.32.4", "numpy==2.4.6"), 120, small=True),
    "cupy": Client(("cupy-rocm-7-0==14.2.0", "numpy==2.4.6"), 600),
    "torch": Client(("torch==2.14.0", "numpy==2.4.6"), 900, wheel=True),
    # the target "empty" has vLLM's Python alone, under a version of its own
    "vllm": Client(("torch==2.14.0", "setuptools", "setuptools-scm", "setuptools-rust", "packaging", "wheel", "jinja2", "cmake", "ninja"), 1500,
                   wheel=True, source="vllm==0.33.0", settings=(("VLLM_TARGET_DEVICE", "empty"), ("VLLM_VERSION_OVERRIDE", "0.33.0"))),
    # hqq has no wheel
    "checkpoints": Client(("torch==2.14.0", "numpy==2.4.6", "auto-round==0.16.1", "bitsandbytes==0.50.2", "compressed-tensors==0.20.0",
                           "safetensors==0.8.0", "setuptools", "wheel"), 1200, source="hqq==0.2.8.post1"),
    # other packers of the same files; GPTQModel and what it imports, three of them from source
    "packers": Client(("torch==2.14.0", "numpy==2.4.6", "transformers==5.24.0", "accelerate==1.15.0", "datasets==5.2.0", "safetensors==0.8.0",
                       "threadpoolctl==3.8.0", "protobuf==7.36.2", "pillow==13.0.0", "setuptools==84.2.1", "wheel"), 1200,
                      alone=("gptqmodel==7.7.0", "pypcre==0.6.4", "device-smi==0.5.7", "tokenicer==0.0.14", "logbar==0.4.15", "defuser==0.0.28",
                             "torchao==0.18.0", "auto-gptq==0.7.1", "autoawq==0.2.7.post3"), settings=(("BUILD_CUDA_EXT", "0"),)),
    "triton": Client(("triton==3.9.0", "hip-python==10.0.0.0.1.2"), 900),
}


def wanted(name: str) -> None:
    asked = os.environ.get("NIBBLEWAVE_CLIENTS", "")
    names = set(CLIENTS) if asked == "all" else {part.strip() for part in asked.split(",") if part.strip()}
    if unknown := names - set(CLIENTS) - {"off"}:
        sys.exit(f"NIBBLEWAVE_CLIENTS={asked}: no client {', '.join(sorted(unknown))}; there are {', '.join(CLIENTS)}, all, off")
    if name not in names and (names or not CLIENTS[name].small):
        raise Skip(f"set NIBBLEWAVE_CLIENTS={name} or all")


def installed(name: str, client: Client) -> Path:
    """The Python of the client's environment; made anew unless it has just these packages. The wheel is always the build's."""
    folder = BUILD / "clients" / name
    python, stamp = folder / "bin/python", folder / "packages"
    listed = [*client.packages, *client.source.split(), *client.alone]
    if not stamp.is_file() or stamp.read_text().split() != listed:
        stamp.unlink(missing_ok=True)
        virtual_environment(folder)
        pip(python, "install", "--only-binary=:all:", *client.packages, seconds=client.seconds)
        if client.source:
            name_alone = client.source.partition("=")[0]
            pip(python, "install", "--only-binary=:all:", f"--no-binary={name_alone}", "--no-build-isolation", client.source,
                seconds=client.seconds, environment=dict(client.settings))  # fmt: skip
        if client.alone:
            pip(python, "install", "--no-deps", "--no-build-isolation", *client.alone, seconds=client.seconds, environment=dict(client.settings))
        stamp.write_text(" ".join(listed))
    if client.wheel:
        install_wheel(python, BUILD / "clients" / f"{name}.wheel")
    return python


def install_wheel(python: Path, folder: Path) -> None:
    """It is part of the test: a failure is no reason to skip."""
    folder.mkdir(exist_ok=True)
    done = build_wheel(Path(sys.executable), folder, NIBBLEWAVE_BUILD=str(BUILD), NIBBLEWAVE_WHEEL_GFX="gfx1151")
    if done.returncode != 0:
        sys.exit(f"{done.stderr}\n0 passed, 1 failed")
    wheel = folder / done.stdout.strip()
    subprocess.run([python, "-m", "pip", "install", *OPTIONS, "--no-deps", "--no-index", "--force-reinstall", wheel], check=True)


def environment(home: Path) -> dict[str, str]:
    """The simulated library is found by name; caches are the client's own."""
    return os.environ | {
        "HIPSIM_ARCH": "gfx1151",
        "LD_LIBRARY_PATH": f"{BUILD / 'hipsim'}:{home / 'libraries'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(CASES),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
    }


def rocm_for_cupy(python: Path, home: Path) -> dict[str, str]:
    """An installation of ROCm as CuPy expects it."""
    packages = next((python.parent.parent / "lib").glob("python*/site-packages"))
    stubs.libraries(os.environ["NW_CC"], os.environ["NW_READELF"], packages, home / "libraries")
    stubs.rocm(os.environ["NW_CLANG"], home / "rocm")
    return {"ROCM_HOME": str(home / "rocm"), "PATH": f"{home / 'rocm/bin'}:{os.environ['PATH']}"}


def main(name: str) -> int:
    if os.environ["NW_SANITIZE"] == "ON":
        raise Skip("the library needs ASan's runtime in the program")
    wanted(name)
    python = installed(name, CLIENTS[name])
    home = BUILD / "clients" / f"{name}.home"
    home.mkdir(exist_ok=True)
    more = rocm_for_cupy(python, home) if name == "cupy" else {}
    return subprocess.run([python, CASES / "counted.py", name], env=environment(home) | more).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except Skip as why:
        print(f"{sys.argv[1]}: skipped: {why}\n0 passed, 0 failed, 1 skipped")
