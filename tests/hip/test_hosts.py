# SPDX-License-Identifier: MIT
"""Hosts that were built with the headers and libraries of HIP 5.2, 5.7 and 6.4 run on the simulated GPU.

Headers and libraries are Debian's packages, fetched from the mirror that this machine's apt is set up for
and unpacked into a temporary folder. Without apt or a network, the tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from declarations import functions
from garbage_host import complaints

BUILD = Path(os.environ["NW_BUILD_DIR"])
SOURCE = Path(os.environ["NW_SOURCE_DIR"]) / "tests/hip/version_host.c"
CODE = BUILD / "tests/hip/code/basic_gfx1151.hsaco"
DOWNLOADS = BUILD / "tests/hip/packages"  # kept for the next run
HIPSIM = BUILD / "hipsim"
CC = os.environ["NW_CC"]
CLANG = os.environ["NW_CLANG"]
READELF = os.environ["NW_READELF"]

SUITES = {"bookworm": (5, 2), "trixie": (5, 7), "sid": (6, 4)}
PACKAGES = {"bookworm": "libamdhip64-5", "trixie": "libamdhip64-5", "sid": "libamdhip64-6"}
PROP_BYTES = {5: 792, 6: 1472}


class Offline(Exception):
    """apt's output."""


def mirror() -> str:
    """The address of this machine's Debian mirror: that of its own release."""
    if not shutil.which("apt-get"):
        raise Offline("no apt-get on this machine")
    listing = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
        capture_output=True, text=True,
    )
    release = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)
    rows = (line.split() for line in listing.stdout.splitlines())
    for uri, suite, component in (row for row in rows if len(row) == 3):
        if release and suite == release[1] and component == "main":
            return uri
    raise Offline("apt has no Debian mirror for this release")


class Apt:
    """apt with lists and sources of its own, in `folder`; the system's are not touched."""

    def __init__(self, folder: Path) -> None:
        sources = folder / "sources.list.d"
        for name in ("sources.list.d", "lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        (sources / "suites.sources").write_text(
            f"Types: deb\nURIs: {mirror()}\nSuites: {' '.join(SUITES)}\nComponents: main\n"
            "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
        )
        self.options = [
            "-qq", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={sources}",
            "-o", f"Dir::State::lists={folder / 'lists'}", "-o", f"Dir::Cache={folder / 'cache'}",
            "-o", "Acquire::Languages=none", "-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=1",
            "-o", "APT::Sandbox::User=root",
        ]
        self.run("update")

    def run(self, *command: str, where: Path | None = None) -> None:
        done = subprocess.run(["apt-get", *self.options, *command], capture_output=True, text=True, cwd=where)
        if done.returncode != 0:
            raise Offline(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "apt-get failed")


def download() -> None:
    """Both packages of every suite as DOWNLOADS/<suite>/*.deb."""
    if all(len(list((DOWNLOADS / suite).glob("*.deb"))) == 2 for suite in SUITES):
        return
    with tempfile.TemporaryDirectory() as name:
        apt = Apt(Path(name))
        for suite in SUITES:
            fresh = Path(name) / suite
            fresh.mkdir()
            apt.run("download", f"libamdhip64-dev/{suite}", f"{PACKAGES[suite]}/{suite}", where=fresh)
            shutil.rmtree(DOWNLOADS / suite, ignore_errors=True)
            shutil.copytree(fresh, DOWNLOADS / suite)


def exported(library: Path) -> set[str]:
    """name@node of the functions that a library defines."""
    listing = subprocess.run([READELF, "--dyn-syms", "-W", library], capture_output=True, text=True, check=True)
    rows = (line.split() for line in listing.stdout.splitlines())
    return {row[7].replace("@@", "@") for row in rows if len(row) == 8 and row[3] == "FUNC" and row[6] != "UND"
            and "@hip_" in row[7].replace("@@", "@")}


@unittest.skipIf(os.environ["NW_SANITIZE"] == "ON", "the library needs ASan's runtime in the program")
class Hosts(unittest.TestCase):
    folder: tempfile.TemporaryDirectory

    @classmethod
    def setUpClass(cls) -> None:
        try:
            download()
        except (Offline, OSError) as error:
            raise unittest.SkipTest(f"no Debian packages: {error}") from error
        cls.folder = tempfile.TemporaryDirectory()
        for suite in SUITES:
            for package in (DOWNLOADS / suite).glob("*.deb"):
                subprocess.run(["dpkg-deb", "-x", package, Path(cls.folder.name) / suite], check=True)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def root(self, suite: str) -> Path:
        return Path(self.folder.name) / suite / "usr"

    def library(self, suite: str) -> Path:
        found = list(self.root(suite).glob("lib/*/libamdhip64.so.[0-9]"))
        self.assertEqual(len(found), 1, f"{suite}: {found}")
        return found[0]

    def build(self, suite: str, *options: str) -> Path:
        program = Path(self.folder.name) / f"{suite}_host"
        subprocess.run(
            [CC, "-std=gnu11", "-w", "-D__HIP_PLATFORM_AMD__=1", *options, f"-I{self.root(suite) / 'include'}", SOURCE,
             self.library(suite), "-Wl,--allow-shlib-undefined", "-o", program], check=True
        )
        return program

    def run_host(self, program: Path) -> dict:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("HIPSIM_")}
        done = subprocess.run([program, CODE], env=clean | {"LD_LIBRARY_PATH": str(HIPSIM)}, capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return json.loads(done.stdout)

    def test_run_with_the_properties_of_their_headers(self) -> None:
        for suite, (major, minor) in SUITES.items():
            with self.subTest(suite):
                said = self.run_host(self.build(suite))
                self.assertEqual(said["headers"] // 100_000, major * 100 + minor)
                self.assertEqual(said["runtime"] // 10_000_000, major)
                self.assertEqual(said["prop_bytes"], PROP_BYTES[major])
                self.assertEqual(
                    {key: said[key] for key in ("arch", "warp", "multiprocessors", "l2", "lds", "major", "minor")},
                    {"arch": "gfx1151", "warp": 32, "multiprocessors": 20, "l2": 2 << 20, "lds": 65536, "major": 11,
                     "minor": 5},
                )
                self.assertIn("8060S", said["name"])
                self.assertEqual((said["cooperative"], said["managed"], said["large_bar"]), (1, 1, 1))

    def test_run_with_a_default_stream_per_thread(self) -> None:
        for suite in SUITES:
            with self.subTest(suite):
                program = self.build(suite, "-DHIP_API_PER_THREAD_DEFAULT_STREAM")
                listing = subprocess.run([READELF, "--dyn-syms", "-W", program], capture_output=True, text=True)
                self.assertIn("hipMemcpy_spt@hip_5.2", listing.stdout)
                self.run_host(program)

    def test_every_function_of_their_libraries_is_here_with_its_version(self) -> None:
        ours = exported(HIPSIM / "libamdhip64.so")
        for suite in SUITES:
            with self.subTest(suite):
                theirs = exported(self.library(suite))
                self.assertGreater(len(theirs), 380)
                missing = {name for name in theirs - ours if not name.startswith("amd_dbgapi_")}  # a debugger's
                self.assertEqual(missing, set())

    def test_every_function_of_their_headers_is_here(self) -> None:
        ours = {name.split("@")[0] for name in exported(HIPSIM / "libamdhip64.so")}
        for suite in SUITES:
            for option in ((), ("-DHIP_API_PER_THREAD_DEFAULT_STREAM",)):
                with self.subTest(suite, option=option):
                    theirs = functions(CLANG, self.root(suite) / "include", *option).keys()
                    self.assertGreater(len(theirs), 370)
                    self.assertEqual(theirs - ours, set())

    def test_garbage_is_an_error_under_each_version(self) -> None:
        for suite, (major, _) in SUITES.items():
            with self.subTest(suite):
                library = HIPSIM / f"libamdhip64.so.{major}"
                self.assertEqual(complaints(CLANG, self.root(suite) / "include", library, CODE, rounds=20), [])


if __name__ == "__main__":
    unittest.main()
