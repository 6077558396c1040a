# SPDX-License-Identifier: MIT
"""The simulated libamdhip64.so as a file: names, versions, sonames, and what its environment does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["NW_BUILD_DIR"])
READELF = os.environ["NW_READELF"]
REAL = os.environ.get("NW_REAL_HIP", "")
HIPSIM = BUILD / "hipsim"
SOURCE = Path(os.environ["NW_SOURCE_DIR"])
PLAIN_HOST = BUILD / "bin/tests/plain_host"
MAJOR_PROBE = BUILD / "bin/tests/major_probe"
BASIC = BUILD / "tests/hip/code/basic_gfx1151.hsaco"

# Calls of plain module hosts, Triton, PyTorch's static launcher, AITER, CuPy and tinygrad.
HOSTS_NEED = """
hipInit hipDriverGetVersion hipRuntimeGetVersion hipGetDeviceCount hipGetDevice hipSetDevice hipDeviceGet
hipDeviceGetName hipDeviceGetAttribute hipDeviceTotalMem hipGetDeviceProperties hipGetDevicePropertiesR0000
hipGetDevicePropertiesR0600 hipDeviceSynchronize hipMemGetInfo hipGetErrorName hipGetErrorString hipGetLastError
hipPeekAtLastError hipMalloc hipFree hipHostMalloc hipHostFree hipMemcpy hipMemcpyAsync hipMemcpyHtoD hipMemcpyDtoH
hipMemcpyDtoD hipMemcpyHtoDAsync hipMemcpyDtoHAsync hipMemcpyDtoDAsync hipMemset hipMemsetAsync hipMemsetD8
hipMemsetD16 hipMemsetD32 hipMemsetD8Async hipMemsetD16Async hipMemsetD32Async hipPointerGetAttribute
hipPointerGetAttributes hipModuleLoad hipModuleLoadData hipModuleLoadDataEx hipModuleUnload hipModuleGetFunction
hipModuleGetGlobal hipModuleLaunchKernel hipFuncGetAttribute hipFuncSetAttribute hipFuncSetCacheConfig
hipStreamCreate hipStreamCreateWithFlags hipStreamCreateWithPriority hipStreamDestroy hipStreamSynchronize
hipStreamQuery hipStreamWaitEvent hipStreamGetDevice hipEventCreate hipEventCreateWithFlags hipEventDestroy
hipEventRecord hipEventSynchronize hipEventQuery hipEventElapsedTime hipCtxGetCurrent hipCtxSetCurrent
hipDevicePrimaryCtxRetain hipDevicePrimaryCtxRelease hipModuleOccupancyMaxActiveBlocksPerMultiprocessor
hipGetProcAddress __hipRegisterFatBinary __hipRegisterFunction __hipRegisterVar __hipUnregisterFatBinary
__hipPushCallConfiguration __hipPopCallConfiguration hipLaunchKernel
""".split()
# Runtime calls that clang emits for kernels, variables and <<<...>>>.
BY_COMPILER = {"__hipRegisterFatBinary", "__hipRegisterFunction", "__hipRegisterVar", "__hipRegisterManagedVar",
               "__hipUnregisterFatBinary", "__hipPushCallConfiguration", "__hipPopCallConfiguration"}
NEWER = {"hipGetDevicePropertiesR0000": "hip_4.2", "hipStreamGetDevice": "hip_4.2",
         "hipGetDevicePropertiesR0600": "hip_6.0", "hipGetProcAddress": "hip_6.1"}
NODES = [f"hip_{n}" for n in
         "4.2 4.3 4.4 4.5 5.0 5.1 5.2 5.3 5.5 5.6 6.0 6.1 6.2 6.3 6.4 6.5 7.1 7.2".split()]


def exported(library: Path | str) -> dict[str, str]:
    """name -> version node, of the functions that a library defines."""
    listing = subprocess.run([READELF, "--dyn-syms", "-W", library], capture_output=True, text=True, check=True)
    rows = (line.split() for line in listing.stdout.splitlines())
    defined = (row[7] for row in rows if len(row) == 8 and row[3] == "FUNC" and row[6] != "UND")
    return dict(re.split("@+", name, maxsplit=1) for name in defined if "@" in name)


def run(command: list[Path | str | bytes], **environment: str) -> subprocess.CompletedProcess:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("HIPSIM_")}
    return subprocess.run(
        command, env=clean | {"LD_LIBRARY_PATH": str(HIPSIM)} | environment, capture_output=True, text=True,
        errors="backslashreplace",
    )


def plain_host(gfx: str = "gfx1151", *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return run([PLAIN_HOST, BUILD / f"tests/hip/code/basic_{gfx}.hsaco", *arguments], **environment)


class Symbols(unittest.TestCase):
    ours = exported(HIPSIM / "libamdhip64.so")

    def test_what_hosts_need_is_there_with_a_version(self) -> None:
        missing = [name for name in HOSTS_NEED if name not in self.ours]
        self.assertEqual(missing, [])
        self.assertEqual({name: self.ours[name] for name in NEWER}, NEWER)

    def test_no_static_is_destroyed(self) -> None:
        # At exit such destructors would run before the library stops its threads (sim/hip/runtime.cpp).
        listing = subprocess.run([READELF, "--dyn-syms", "-W", HIPSIM / "libamdhip64.so"], capture_output=True, text=True, check=True)
        self.assertIn("__cxa_finalize", listing.stdout)
        self.assertNotIn("__cxa_atexit", listing.stdout)

    def test_nothing_else_leaks_out(self) -> None:
        # HIP's names: plain, mangled, and the two conversions that the real library exports for kernels.
        names = re.compile(r"(__)?hip|_Z\d+hip|_ZN8hip_impl|__gnu_(h2f|f2h)_ieee$")
        self.assertEqual([name for name in self.ours if not names.match(name)], [])
        if REAL:
            mangled = {name for name in self.ours if not re.match(r"(__)?hip", name)}
            self.assertEqual(mangled - exported(REAL).keys(), set())

    @unittest.skipUnless(REAL, "no libamdhip64 of the distribution")
    def test_versions_agree_with_the_distributions_library(self) -> None:
        theirs = exported(REAL)
        both = self.ours.keys() & theirs.keys()
        self.assertGreater(len(both), 80)
        self.assertEqual({n: self.ours[n] for n in both}, {n: theirs[n] for n in both})

    def test_every_node_exists(self) -> None:
        said = subprocess.run([READELF, "-V", "-W", HIPSIM / "libamdhip64.so"], capture_output=True, text=True)
        defined = re.findall(r"Name: (hip_\d\.\d)", said.stdout)
        self.assertEqual(defined, NODES)

    def test_soname_and_links(self) -> None:
        said = subprocess.run([READELF, "-d", HIPSIM / "libamdhip64.so"], capture_output=True, text=True)
        self.assertIn("[libamdhip64.so.6]", said.stdout)
        for major in (5, 6, 7):
            link = HIPSIM / f"libamdhip64.so.{major}"
            self.assertEqual(os.readlink(link), "libamdhip64.so")

    def test_each_that_works_is_called_by_a_test(self) -> None:
        """test_abuse.cpp and test_garbage.py call all of them; this requires a test of the effect of each."""
        rows = re.findall(r"^HIP_ENTRY\(\S+, (\w+)\)", (SOURCE / "host/sim/hip/entry_points.inc").read_text(), re.M)
        self.assertEqual(set(rows) - self.ours.keys(), set())
        tests = [path for path in (SOURCE / "tests/hip").rglob("*") if path.suffix in (".c", ".cpp", ".h", ".hip")]
        text = "\n".join(path.read_text() for path in tests)
        text = re.sub(r'"\s*"', "", text)  # a long literal on several lines
        text = re.sub(r"\bOWN\((\w+)", r"\1_spt", text)
        self.assertEqual(set(rows) - set(re.findall(r"\w+", text)) - BY_COMPILER, set())


class PlainHost(unittest.TestCase):
    def test_device_and_result(self) -> None:
        done = plain_host()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 device(s), this one:", done.stdout)
        self.assertIn("gfx1151, 20 multiprocessors", done.stdout)

    def test_a_list_of_targets_is_a_list_of_devices(self) -> None:
        for ordinal, gfx in enumerate(["gfx1201", "gfx1100"]):
            done = plain_host(gfx, str(ordinal), HIPSIM_ARCH="gfx1201,gfx1100")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f"2 device(s), this one: ", done.stdout)
            self.assertIn(gfx, done.stdout)

    def test_an_unknown_target_means_no_device(self) -> None:
        done = plain_host(HIPSIM_ARCH="gfx1151,gfx906")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hipErrorNoDevice", done.stdout)
        self.assertRegex(done.stderr, "HIPSIM_ARCH=gfx1151,gfx906: gfx906 is not one of gfx1100, gfx1101, .*gfx1201")

    def test_code_for_another_target_is_refused(self) -> None:
        done = plain_host("gfx1100")
        self.assertIn("hipErrorNoBinaryForGpu", done.stdout)
        self.assertIn("the image is for gfx1100, the device is gfx1151", done.stderr)


class Environment(unittest.TestCase):
    def said(self, **environment: str) -> str:
        done = plain_host(**environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stderr

    def test_quiet_by_default_and_with_all_checks(self) -> None:
        self.assertEqual(self.said(), "")
        self.assertEqual(self.said(HIPSIM_CHECK="all", HIPSIM_THREADS="1", HIPSIM_TIMING="off"), "")

    def test_timing_changes_no_result_and_adds_its_keys(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            lines = []
            for timing in ["off", "on", "on", "exact"]:
                path = Path(folder) / "stats.jsonl"
                path.unlink(missing_ok=True)
                self.assertEqual(self.said(HIPSIM_TIMING=timing, HIPSIM_STATS=str(path)), "")
                lines.append(json.loads(path.read_text()))
        untimed, first, second, exact = lines
        self.assertEqual(first, second)
        self.assertEqual(first, exact)  # so small that all of it is timed
        self.assertEqual({key: first[key] for key in untimed}, untimed)
        self.assertGreater(first["cycles"], 0)
        self.assertGreater(first["time_us"], 0)
        self.assertEqual((first["part"], first["label"], first["sampling_error"]), ("8060S", "sim", 0))
        for key in "limiter occupancy stalls dram_read dram_write l2_hit_rate gb_per_s".split():
            self.assertIn(key, first)

    def test_a_part_or_profile_that_the_model_does_not_know_is_no_device(self) -> None:
        for environment, text in [
            ({"HIPSIM_PART": "9999X"}, "HIPSIM_PART=9999X: 9999X is not one of 7900 XTX, 7800 XT"),
            ({"HIPSIM_PROFILE": "/no/such/profile"}, "/no/such/profile"),
        ]:
            done = plain_host(HIPSIM_TIMING="on", **environment)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("hipErrorNoDevice", done.stdout)
            self.assertIn(text, done.stderr)

    def refused(self, **environment: str) -> str:
        """The single message about variables when there is no device."""
        done = plain_host(**environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hipErrorNoDevice", done.stdout)
        self.assertRegex(done.stderr, r"(?s)\Ahipsim: no device: .*\n\Z")
        self.assertEqual(done.stderr.count("hipsim: "), 1)
        return done.stderr

    def test_values_that_mean_nothing_are_no_device(self) -> None:
        """Each variable that has values. A refused one is no device, as a program that reads codes ends with one then."""
        number = r"not a number from 0 \(.*\) to \d+"
        for name, value, text in (
            ("ARCH", "gfx999", "gfx999 is not one of gfx1100, "), ("ARCH", ",", "names no device"),
            ("CHECK", "foo", "foo is not one of off, mem, mem:strict, init, init:local, wait, race, all"), ("CHECK", "init,foo", "foo is not one of off"),
            ("THREADS", "many", number), ("THREADS", "-1", number), ("THREADS", "1025", number), ("THREADS", "2x", number),
            ("MAX_INSTS", "1e6", number), ("DUMP", "2", number), ("UNCERTAINTY", "-5", number), ("LEVEL", "v9", r"this build has \w+"),
            ("MATH", "slow", "neither exact nor fast"), ("TIMING", "maybe", "neither on, exact nor off"), ("COLD", "code", "neither weights nor off"),
            ("WARM", "weights", "neither code nor off"), ("CHOICES", "sr_carry=no", "sr_carry=carry, wrap"), ("CHOICES", "no_such=1", "unknown choice"),
            ("PART", "9999X", "9999X is not one of 7900 XTX"), ("PART", "8060S,9999X", "9999X is not one of 7900 XTX"),
            ("PART", "R9700", "it is gfx1201, and no device of HIPSIM_ARCH is"), ("PROFILE", "/no/such/profile", "can't be read: No such file or directory"),
            *((name, "/no/such/folder/file", "No such file or directory; name a file in a writable directory")
              for name in ("STATS", "REPORT", "TRACE", "ISSUE_LOG")),
        ):  # fmt: skip
            with self.subTest(f"HIPSIM_{name}={value}"):
                self.assertRegex(self.refused(**{f"HIPSIM_{name}": value}), rf"(?s)HIPSIM_{name}={re.escape(value)}: .*{text}")
        self.assertRegex(self.refused(HIPSIM_TRACE="trace", HIPSIM_TIMING="off"), "HIPSIM_TRACE=trace: launches aren't timed under HIPSIM_TIMING=off")
        for level in re.search(r"this build has ([\w, ]+) for this host", self.refused(HIPSIM_LEVEL="v9"))[1].split(", "):
            self.assertEqual(self.said(HIPSIM_LEVEL=level), "")

    def test_a_name_that_is_no_variable_is_no_device(self) -> None:
        for name, nearest in (("HIPSIM_CHEK", "HIPSIM_CHECK"), ("HIPSIM_CHECKS", "HIPSIM_CHECK"), ("HIPSIM_STAT", "HIPSIM_STATS"), ("HIPSIM_", "HIPSIM_")):
            said = self.refused(**{name: "all"})
            self.assertRegex(said, rf"{name}=all: there is no such variable; the nearest is {nearest}\w*, there are HIPSIM_ARCH, .*HIPSIM_WARM")
        self.assertEqual(self.said(HIPSIM_CHEK=""), "")  # as good as unset

    def test_stats_are_one_line_per_dispatch_with_the_documented_keys(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stats.jsonl"
            self.said(HIPSIM_STATS=str(path))
            self.said(HIPSIM_STATS=str(path))
            lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual(len(lines), 2)
        self.assertEqual(lines[0], lines[1])
        line = lines[0]
        self.assertEqual(list(line), "kernel gfx grid block lds_bytes vgprs sgprs waves_per_simd insts bytes fidelity math".split())
        self.assertEqual(
            list(line["insts"]),
            "valu vopd trans wmma salu smem vmem_load vmem_store lds branch wait other total".split(),
        )
        self.assertEqual(list(line["bytes"]), "global_load global_store lds_read lds_write".split())
        self.assertEqual(line["fidelity"], {"exact": line["insts"]["total"], "approximate": 0, "open": 0, "notes": []})
        expected = {"kernel": "iota", "gfx": "gfx1151", "grid": [1, 1, 1], "block": [128, 1, 1], "lds_bytes": 0,
                    "vgprs": 8, "sgprs": 32}
        self.assertEqual({key: line[key] for key in expected}, expected)
        self.assertEqual(line["bytes"]["global_store"], 400)
        self.assertEqual(line["insts"]["vmem_store"], 4)  # one per wave
        self.assertEqual(line["insts"]["total"], sum(n for c, n in line["insts"].items() if c != "total"))

    def test_a_kernels_name_need_not_be_text(self) -> None:
        """Lines stay JSON in UTF-8; invalid bytes of a name are replaced."""
        name, shown = b"i\xffta", "i\ufffdta"
        with tempfile.TemporaryDirectory() as folder:
            code, stats, report = (Path(folder) / each for each in ("code", "stats.jsonl", "report.jsonl"))
            code.write_bytes(BASIC.read_bytes().replace(b"iota", name))
            host, files = [PLAIN_HOST, code, "0", name], {"HIPSIM_STATS": str(stats), "HIPSIM_REPORT": str(report)}
            done = run(host, **files)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            faulted = run(host, HIPSIM_MAX_INSTS="1", **files)
            self.assertIn("hipErrorLaunch", faulted.stdout)
            for file in (stats, report):
                lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
                self.assertEqual([line["kernel"] for line in lines][:1], [shown], file.name)


class Majors(unittest.TestCase):
    """One file under three names: what ROCm 5, 6 and 7 do differently follows the name."""

    def probe(self, name: str) -> dict[str, int]:
        done = run([MAJOR_PROBE, HIPSIM / name])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_by_name(self) -> None:
        device_type = {5: 1, 6: 2, 7: 2}  # hipMemoryTypeDevice was renumbered
        unregistered = {5: 1, 6: 0, 7: 0}  # hipErrorInvalidValue, success
        last_error = {5: 0, 6: 0, 7: 101}  # 7 keeps hipErrorInvalidDevice
        changed = {5: {"null": 1, "type_code": 1, "twice": 0}, 6: {"null": 1, "type_code": 1, "twice": 0},
                   7: {"null": 0, "type_code": 0, "twice": 712}}  # fmt: skip
        always = {"type": 0, "ordinal_code": 1, "ordinal": -2, "part": 712}  # hipErrorHostMemoryAlreadyRegistered
        for major in (5, 6, 7):
            seen = self.probe(f"libamdhip64.so.{major}")
            self.assertEqual(seen["code"], 0)
            self.assertEqual(seen["version"] // 10_000_000, major)
            self.assertEqual(seen["device_type"], device_type[major])
            self.assertEqual(seen["unregistered"], unregistered[major])
            self.assertEqual(seen["last_error_after_success"], last_error[major])
            wanted = changed[major] | always
            self.assertEqual({key: seen[key] for key in wanted}, wanted)

    def test_the_plain_name_is_6(self) -> None:
        self.assertEqual(self.probe("libamdhip64.so")["version"] // 10_000_000, 6)


if __name__ == "__main__":
    unittest.main()
