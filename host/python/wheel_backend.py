# SPDX-License-Identifier: MIT
"""The wheel's build backend (PEP 517): collects what CMake has built. It needs no other package and no network.

    NIBBLEWAVE_BUILD=build NIBBLEWAVE_WHEEL_GFX=gfx1151,gfx1100 pip wheel --no-deps host/python

NIBBLEWAVE_BUILD: the build tree, ../../build by default. NIBBLEWAVE_WHEEL_GFX: targets whose kernels go in, gfx1151 by default.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import stat
import sys
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "gen")]

import header  # noqa: E402
import targets  # noqa: E402
from faces import face, python_module  # noqa: E402

BUILD = Path(os.environ.get("NIBBLEWAVE_BUILD", HERE.parents[1] / "build"))
GFX = os.environ.get("NIBBLEWAVE_WHEEL_GFX", "gfx1151").split(",")
CAPI = HERE.parent / "capi/nibblewave.h"
ENTRY_POINTS = b"[console_scripts]\nnw = nibblewave.command:main\n\n[vllm.general_plugins]\nnibblewave = nibblewave.vllm:register\n"
EPOCH = (2020, 1, 1, 0, 0, 0)  # the same sources and build give the same wheel


def version() -> str:
    return ".".join(re.findall(r"#define NW_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", CAPI.read_text()))


def there(path: Path, remedy: str) -> Path:
    if not path.is_file():
        raise SystemExit(f"{path} is missing: {remedy}")
    return path


def families(gfx: str) -> list[str]:
    """Library families with kernels for this target."""
    contracts = {path.parent.name: tomllib.loads(path.read_text()) for path in sorted((HERE.parents[1] / "asm").glob("*/family.toml"))}
    return [name for name, c in contracts.items() if c["purpose"] == "library" and gfx.startswith(tuple(c["targets"]))]


def kernels(gfx: str) -> dict[str, Path]:
    """Code objects of the library, by their names in the wheel."""
    remedy = f"build the target kernels_{gfx}, and name the build tree by NIBBLEWAVE_BUILD"
    out = {}
    for family in families(gfx):
        resources = there(BUILD / f"hsaco/{gfx}/{family}.resources", remedy)
        for file in (resources, *(resources.with_name(f"{line.split()[0]}.hsaco") for line in resources.read_text().splitlines())):
            out[f"nibblewave/hsaco/{gfx}/{file.name}"] = there(file, remedy)
    if not out:
        raise SystemExit(f"NIBBLEWAVE_WHEEL_GFX has {gfx}: there are no kernels for it")
    return out


def contents() -> dict[str, Path | bytes]:
    sources = [path for path in sorted((HERE / "nibblewave").rglob("*")) if path.suffix == ".py" or path.name == "py.typed"]
    out: dict[str, Path | bytes] = {str(path.relative_to(HERE)): path for path in sources}
    out["nibblewave/abi.py"] = header.module(CAPI.read_text()).encode()
    out["nibblewave/ops.py"] = python_module.python(face.load_all(HERE.parents[1])).encode()
    simulated = tuple(target.name for target in targets.read(HERE.parents[1] / "gen/targets.toml").supported)
    out["nibblewave/targets.py"] = f'"""Targets of the simulated GPU; generated from gen/targets.toml."""\n\nNAMES = {simulated}\n'.encode()
    out["nibblewave/lib/libnibblewave.so"] = there(BUILD / "lib/libnibblewave.so", "build the target nibblewave")
    for gfx in GFX:
        out |= kernels(gfx)
    for name in ("hipsim/libamdhip64.so", "hipsim/libhipsim_audit.so", "hipsim/libhiprtc.so", "bin/nw"):  # the simulated GPU and the command, where they are built
        if (BUILD / name).is_file():
            out[f"nibblewave/{name}"] = BUILD / name
    tools = HERE.parents[1] / "host/nw"
    for page in sorted(tools.rglob("README.md")):  # of nw, by its installed name
        out[f"nibblewave/docs/{page.relative_to(tools)}"] = page.read_text().replace("build/bin/nw", "nw").encode()
    return out


def glibc(files: dict[str, Path | bytes]) -> tuple[int, int]:
    """The newest version of glibc whose symbols a binary asks for."""
    found = {(2, 17)}
    for path in files.values():
        if isinstance(path, Path) and path.suffix in (".so", ""):
            found |= {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", path.read_bytes())}
    return max(found)


def metadata() -> str:
    return f"Metadata-Version: 2.1\nName: nibblewave\nVersion: {version()}\nSummary: Products with 4-bit and GGUF weights, and attention, on AMD RDNA GPUs\nLicense: MIT\nRequires-Python: >=3.10\nRequires-Dist: numpy\n"


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    files = contents()
    tag = "py3-none-manylinux_{}_{}_x86_64".format(*glibc(files))
    info = f"nibblewave-{version()}.dist-info"
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: nibblewave\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS
    name = f"nibblewave-{version()}-{tag}.whl"
    record = ""
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for inside, source in files.items():
            data = source if isinstance(source, bytes) else source.read_bytes()
            entry = zipfile.ZipInfo(inside, EPOCH)
            mode = 0o755 if inside.endswith((".so", "/nw")) else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16  # pip keeps no mode of what is not marked as a file
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{inside},sha256={digest},{len(data)}\n"
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", EPOCH), record + f"{info}/RECORD,,\n")
    return name


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    raise SystemExit("a source package is the repository's own: build the wheel from a build tree")
