# SPDX-License-Identifier: MIT
"""nw check: findings of programs, what they exit with, and what is said of programs that can't be checked."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from command import BUILD, SOURCE, nw, run

sys.path[:0] = [str(SOURCE / "tests" / folder) for folder in ("check_bugs", "check", "clients")]

from fat_binary import bundle  # noqa: E402
from test_bugs import BUGS, HOST, MACROS, Bug, assemble  # noqa: E402
from test_programs import include_options  # noqa: E402

KERNELS = SOURCE / "tests/nw/kernels"
GFX = "gfx1151"
CLANG = os.environ["NW_CLANG"]
FINDINGS = 97
USE_HIP = "import ctypes\nhip = ctypes.CDLL('libamdhip64.so.6')\nn = ctypes.c_int()\nassert hip.hipGetDeviceCount(ctypes.byref(n)) == 0\n"
Done = subprocess.CompletedProcess


def last_line(done: Done[str]) -> str:
    return done.stderr.splitlines()[-1]


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def host(self, name: str, seeded: bool = True, gfx: str = GFX) -> list[str]:
        """A program with the bug of tests/check_bugs that has this name."""
        bug = next(bug for bug in BUGS if bug.name == name)
        settings = [f"{key}={value}" for key, value in bug.settings.items() if key not in ("gfx", "max", *MACROS)]
        return [str(HOST), str(assemble(bug, gfx, seeded, self.folder)), *settings]

    def check(self, program: list[str], *options: str) -> Done[str]:
        return nw("check", "--gfx", GFX, *options, "--", *program)

    def several(self, *options: str, debug: bool = True) -> Done[str]:
        source, code = KERNELS / "several.s", self.folder / "several.hsaco"
        symbols = {"BUG": 1, "LDS": 1024, "SCRATCH": 0, "WAVE64": 0, "DYNAMIC": 0}
        defined = [f"-Wa,-defsym,{name}={value}" for name, value in symbols.items()]
        clang = [CLANG, "-target", "amdgcn-amd-amdhsa", f"-mcpu={GFX}", "-mcode-object-version=5", *(["-g"] if debug else [])]
        subprocess.run([*clang, "-I", str(SOURCE / "tests/check_bugs"), *defined, source, "-o", code], check=True)
        return self.check([str(HOST), str(code), "block=64", "bytes=256"], *options)

    def found(self, *options: str) -> list[dict]:
        path = self.folder / "findings.json"
        self.several("--json", str(path), *options)
        return json.loads(path.read_text())["findings"]


class Findings(Case):
    def test_each_tool(self) -> None:
        for name, title, line, count in (
            ("mem/store_past_end", "Invalid __global__ write of size 4 bytes [mem.out_of_bounds]", "store_past_end.s:6", 1),
            ("init/branch_on_nothing", "Uninitialized value [init]", "branch_on_nothing.s:9", 1),
            ("wait/lds", "Missing wait or hazard [wait]", "lds.s:10", 1),
            ("race/lds_no_barrier", "Race [race.unordered]", "lds_no_barrier.s:6", 2),  # a read after a write, a write after a read
        ):
            with self.subTest(name):
                done = self.check(self.host(name))
                self.assertEqual(done.returncode, FINDINGS, done.stderr)
                self.assertIn(f"========= {title}\n", done.stderr)
                self.assertRegex(done.stderr, rf"=========     at test \+ 0x\w+ in \S*/{line}\n")
                self.assertEqual(last_line(done), f"{count} findings in 2 launches")
                # An illegal access fails the launch, as on a card; what checkers find does not.
                self.assertEqual(done.stdout, "hipErrorIllegalAddress\n" if name.startswith("mem") else "hipSuccess\n")

    def test_a_clean_program(self) -> None:
        done = self.check(self.host("mem/store_past_end", seeded=False))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "hipSuccess\n", "0 findings in 2 launches\n"))

    def test_who_did_it_and_where(self) -> None:
        done = self.check(self.host("mem/store_past_end"))
        self.assertIn("=========     by thread (63,0,0) in block (0,0,0), lane 31 of wave 1\n", done.stderr)
        self.assertRegex(done.stderr, r"the nearest allocation is hipMalloc #1, 256 bytes at 0x\w+: 0 bytes past its end\n")
        self.assertRegex(done.stderr, r"=========     once in a launch of test, first in launch 1 of process \d+ \(\S*/bug_host\): grid \(1,1,1\), block \(64,1,1\), gfx1151\n")

    def test_all_of_a_launch(self) -> None:
        """Each kind once with a count, first seen first."""
        found = self.found()
        self.assertEqual([(each["check"], each["rule"]) for each in found],
                         [("wait", "wait"), ("init", "init"), ("mem", "out_of_bounds"), ("init", "init"), ("race", "unordered"), ("race", "unordered")])  # fmt: skip
        lines = [each["frames"][0]["line"] for each in found]
        self.assertEqual(lines, [5, 8, 9, 16, 10, 13])
        wait, store, past, branch, race, _ = found
        self.assertEqual((wait["count"], store["count"], past["count"]), (2, 64, 64))
        self.assertEqual(past["thread"], [0, 0, 0])
        self.assertEqual(race["other"]["frames"][0]["line"], 13)
        self.assertEqual(branch["thread"], None)

    def test_the_same_in_every_run(self) -> None:
        texts = {re.sub(r"0x\w+|process \d+", "", self.several().stderr) for _ in range(3)}
        self.assertEqual(len(texts), 1, texts)

    def test_without_debug_information(self) -> None:
        done = self.several(debug=False)
        self.assertRegex(done.stderr, r"=========     at test \+ 0x\w+\n")
        self.assertRegex(done.stderr, r"=========      +-> 0x\w+  v_add_nc_u32_e32 v3, 1, v2\n")

    def test_inlined_functions(self) -> None:
        code = self.folder / "inlined.hsaco"
        subprocess.run([CLANG, "-target", "amdgcn-amd-amdhsa", f"-mcpu={GFX}", "-mcode-object-version=5", "-nogpulib", "-O2", "-g",
                        KERNELS / "inlined.c", "-o", code], check=True)  # fmt: skip
        done = self.check([str(HOST), str(code), "block=64", "bytes=256"])
        self.assertEqual(done.returncode, FINDINGS, done.stderr)
        self.assertRegex(done.stderr, r"at test \+ 0x\w+ in \S*/inlined\.c:9\n=========       put, inlined into put_next in \S*/inlined\.c:12\n"
                                      r"=========       put_next, inlined into test in \S*/inlined\.c:14\n")  # fmt: skip

    def test_selected_tools(self) -> None:
        self.assertEqual({each["check"] for each in self.found("--tools", "wait")}, {"wait", "mem"})
        self.assertEqual({each["check"] for each in self.found("--tools", "init,race")}, {"init", "race", "mem"})

    def test_pairs(self) -> None:
        """Only if they are asked for: compilers form them."""
        self.assertEqual(self.check(self.host("wait/vopd_parity")).returncode, 0)
        for tools in ("pairs", "all,pairs"):
            done = self.check(self.host("wait/vopd_parity"), "--tools", tools)
            self.assertEqual(done.returncode, FINDINGS)
            self.assertIn("(H-026)", done.stderr)

    def test_several_processes(self) -> None:
        """Also those that the program doesn't wait for. The same finding of two is one."""
        bug = " ".join(self.host("wait/lds"))
        done = self.check(["sh", "-c", f"{bug}; (sleep 0.3; {bug}) & exit 3"])
        self.assertEqual(done.returncode, FINDINGS)
        self.assertIn("2 times in 2 launches of test", done.stderr)
        self.assertEqual(last_line(done), "1 findings in 4 launches")

    def test_a_launch_with_too_many(self) -> None:
        """It is ended."""
        done = self.check([*self.host("mem/store_past_end"), "groups=100000", "block=1024"])
        self.assertRegex(done.stderr, r"at least 200\d\d times in a launch of test, ")

    def test_several_devices(self) -> None:
        program = USE_HIP + "print(n.value)"
        self.assertEqual(nw("check", "--gfx", "gfx1151,gfx1201", "--", sys.executable, "-c", program).stdout, "2\n")


class Bugs(Case):
    """Kernels of tests/check_bugs: each bug is found at its line, though launches go on; its clean twin has no finding."""

    def complaint(self, bug: Bug, seeded: bool) -> str:
        gfx, path = bug.gfx[0], self.folder / f"{bug.name.replace('/', '_')}{seeded}.json"
        limit = {"HIPSIM_MAX_INSTS": bug.settings["max"]} if "max" in bug.settings else {}
        done = run([BUILD / "bin/nw", "check", "--gfx", gfx, "--tools", "all,pairs", "--json", path, "--", *self.host(bug.name, seeded, gfx)], **limit)
        findings = json.loads(path.read_text())["findings"]
        lines = [frame["line"] for each in findings for place in (each, each["other"]) if place for frame in place["frames"][:1]]
        checks = {each["check"] for each in findings}
        good = done.returncode == FINDINGS and bug.line in lines and bug.check in checks if seeded else (done.returncode, findings) == (0, [])
        return "" if good else f"{bug.name} {seeded}: {done.returncode} {bug.line} {lines} {checks} {done.stderr}"

    def judge(self, bugs: list[Bug]) -> None:
        with ThreadPoolExecutor() as pool:
            jobs = [(bug, seeded) for bug in bugs for seeded in (True, False)]
            found = [text for text in pool.map(lambda job: self.complaint(*job), jobs) if text]
        self.assertEqual(found, [], "\n".join(found))

    def test_some(self) -> None:
        self.judge(BUGS[::10])

    @pytest.mark.all_tier
    def test_all(self) -> None:
        self.judge(BUGS)


@unittest.skipIf(os.environ["NW_SANITIZE"] == "ON", "the library needs ASan's runtime in the program")
class Hip(Case):
    """A program as hipcc compiles it: the example of README.md."""

    def build(self, gfx: str = GFX) -> Path:
        options = [CLANG, "-x", "hip", "-std=c++17", "-O1", "-g", "-nogpulib", "-nogpuinc", "-w", "-D__HIP_PLATFORM_AMD__=1",
                   "-D__AMDGCN_WAVEFRONT_SIZE=32", "-D__AMDGCN_WAVEFRONT_SIZE__=32", "-include", "hip/hip_runtime.h", "-include", "device_library.h",
                   "-I", SOURCE / "tests/clients/programs", *include_options(), "saxpy.hip"]  # fmt: skip
        shutil.copy(KERNELS / "saxpy.hip", self.folder)

        def clang(*more: str | Path) -> None:
            subprocess.run([*options, *more], check=True, cwd=self.folder)

        clang("--cuda-device-only", "--no-gpu-bundle-output", f"--offload-arch={gfx}", "-o", "code")
        (self.folder / "all.hipfb").write_bytes(bundle({gfx: (self.folder / "code").read_bytes()}))
        clang("--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", "all.hipfb", "-c", "-o", "host.o")
        subprocess.run([CLANG, "host.o", BUILD / "hipsim/libamdhip64.so", "-lstdc++", "-o", "saxpy"], check=True, cwd=self.folder)
        return self.folder / "saxpy"

    def test_the_example_of_the_readme(self) -> None:
        self.build()
        done = nw("check", "--", "./saxpy", cwd=self.folder)  # for the target that it has code for
        self.assertEqual(done.returncode, FINDINGS, done.stderr)
        example = re.search(r"(?s)\n(=========.*?launches\n)```", (SOURCE / "README.md").read_text())[1]
        said = re.sub(r"0x\w+", "0x..", done.stderr.replace(f"{self.folder}/", ""))
        for part in re.sub(r"0x\w+", "0x..", example).split("...\n"):
            self.assertIn(part, said)
        # The host's lines.
        self.assertIn("=========     launched by:\n=========       main in saxpy.hip:22\n", said)
        self.assertRegex(said, r"hipMalloc #1 was called after 0 launches by:\n(=========       .*hipMalloc.*\n)*=========       main in saxpy.hip:18\n")

    def test_leaks(self) -> None:
        program = self.build()
        done = self.check([str(program)], "--tools", "leak")
        self.assertEqual(done.stderr.count("Leaked 4000 bytes at exit [leak.device_memory]\n"), 2, done.stderr)
        self.assertRegex(done.stderr, r"main in \S*saxpy.hip:18\n=========     once in process \d+ ")
        sarif = self.folder / "findings.sarif"
        self.check([str(program)], "--tools", "leak", "--sarif", str(sarif))
        results = json.loads(sarif.read_text())["runs"][0]["results"]
        self.assertEqual([each["ruleId"] for each in results], ["mem.out_of_bounds"] * 3 + ["leak.device_memory"] * 2)
        lines = [each["locations"][0]["physicalLocation"]["region"]["startLine"] for each in results[3:]]
        self.assertEqual(sorted(lines), [18, 19])  # of the allocations
        handles = USE_HIP + "for make in (hip.hipStreamCreate, hip.hipEventCreate) * 2: assert make(ctypes.byref(ctypes.c_void_p())) == 0\n"
        done = self.check([sys.executable, "-c", handles], "--tools", "leak")
        self.assertEqual((done.returncode, last_line(done)), (FINDINGS, "2 findings in 0 launches"))
        self.assertIn("Leaked stream at exit [leak.stream]\n=========     2 times in process", done.stderr)
        freed = USE_HIP + "p = ctypes.c_void_p()\nhip.hipMalloc(ctypes.byref(p), 256)\nhip.hipFree(p)\n"
        self.assertEqual(self.check([sys.executable, "-c", freed], "--tools", "leak").returncode, 0)

    def test_the_target_of_a_program(self) -> None:
        done = nw("check", "--", str(self.build("gfx1201")))
        self.assertIn("block (256,1,1), gfx1201\n", done.stderr)
        program = str(self.build("gfx90a"))
        done = nw("check", "--", program)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, rf"^nw: {program} has code for gfx90a only: build it for one of gfx1100, .*, which are simulated, or name one")


class Options(Case):
    def test_limit(self) -> None:
        done = self.several("--limit", "2")
        self.assertEqual(done.stderr.count("by wave") + done.stderr.count("by thread"), 2)
        self.assertIn("4 more findings (--limit 2)\n", done.stderr)
        self.assertEqual(last_line(done), "6 findings in 2 launches")

    def test_kernels_and_launches(self) -> None:
        for options, launches in ((["--kernel", "^after$"], 1), (["--launch", "2"], 1), (["--launch", "2:"], 1), (["--launch", ":1"], 1), (["--launch", "5:9"], 0)):
            with self.subTest(options):
                done = self.check(self.host("wait/lds"), *options)
                bug = options == ["--launch", ":1"]
                self.assertEqual(last_line(done), f"{int(bug)} findings in {launches} launches")
                self.assertEqual(done.returncode, FINDINGS if bug else 0)
        self.assertIn("--kernel and --launch selected none of 2 launches", self.check(self.host("wait/lds"), "--launch", "5").stderr)

    def test_stop_at_first(self) -> None:
        done = self.check(self.host("wait/lds"), "--stop-at-first")
        self.assertEqual((done.returncode, done.stdout, last_line(done)), (FINDINGS, "", "1 findings in 1 launches"))

    def test_error_exitcode(self) -> None:
        self.assertEqual(self.check(self.host("wait/lds"), "--error-exitcode", "3").returncode, 3)
        self.assertEqual(self.check(self.host("wait/lds"), "--error-exitcode", "0").returncode, 0)

    def test_suppressions(self) -> None:
        known = self.folder / "known.txt"
        done = self.several("--generate-suppressions", str(known))
        self.assertEqual(done.returncode, FINDINGS)
        self.assertIn("race.unordered kernel=test at=several.s:10\n", known.read_text())
        done = self.several("--suppressions", str(known))
        self.assertEqual((done.returncode, last_line(done)), (0, "0 findings in 2 launches"))
        self.assertIn("6 findings suppressed", done.stderr)
        known.write_text("# what is known\n\nmem kernel=te?t\nrace at=elsewhere.s:1\nwait\n")
        done = self.several("--suppressions", str(known))
        self.assertEqual(last_line(done), "4 findings in 2 launches")
        self.assertIn(f"suppresses nothing: {known}:4: race at=elsewhere.s:1\n", done.stderr)

    def test_damaged_suppressions(self) -> None:
        known = self.folder / "known.txt"
        for line, why in (("memory", "'memory' is none of mem, init, wait, race, leak, fault, *"), ("mem kernel=", "a value is empty"), ("mem line=3", "'line=3' is neither kernel= nor at=")):
            with self.subTest(line):
                known.write_text(f"race\n{line}\n")
                done = self.check(["true"], "--suppressions", str(known))
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"{known}:2: {line}: {why}; a line is CHECK[.RULE] [kernel=GLOB] [at=GLOB]\n", done.stderr)

    def test_files(self) -> None:
        sarif, junit = self.folder / "findings.sarif", self.folder / "junit.xml"
        self.several("--sarif", str(sarif), "--junit", str(junit))
        log = json.loads(sarif.read_text())
        self.assertEqual(log["version"], "2.1.0")
        results = log["runs"][0]["results"]
        self.assertEqual([each["ruleId"] for each in results], ["wait", "init", "mem.out_of_bounds", "init", "race.unordered", "race.unordered"])
        place = results[4]["locations"][0]["physicalLocation"]
        self.assertEqual((place["region"], Path(place["artifactLocation"]["uri"]).name), ({"startLine": 10}, "several.s"))
        self.assertEqual({rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}, {each["ruleId"] for each in results})
        suite = ElementTree.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures"), len(suite.findall("testcase/failure"))), ("6", "6", 6))
        self.check(self.host("wait/lds", seeded=False), "--junit", str(junit))
        suite = ElementTree.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "0"))


class Programs(Case):
    def test_output_arguments_and_exit_code_are_the_programs(self) -> None:
        words = ["--help", "-x", "[a,b]", "", "--", "a b", "--json=x", "%%"]
        done = self.check([sys.executable, "-c", USE_HIP + "import sys; print(sys.argv[1:]); sys.stderr.write('to stderr\\n'); sys.exit(5)", *words])
        self.assertEqual((done.returncode, done.stdout), (5, f"{words}\n"))
        self.assertTrue(done.stderr.startswith("to stderr\n"), done.stderr)
        self.assertEqual(last_line(done), "0 findings in 0 launches")
        self.assertIn("no kernel was launched: nothing was checked", done.stderr)

    def test_a_program_that_is_not_found(self) -> None:
        for program in ("no-such-program", "/no/such/program"):
            done = self.check([program])
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"nw: {program}: not found: give the program's path, or a name in PATH\n", done.stderr)
        done = self.check(["/etc/passwd"])
        self.assertEqual((done.returncode, done.stderr), (2, "nw: /etc/passwd: can't be run: Permission denied\n"))

    def test_a_program_without_hip(self) -> None:
        done = self.check(["true"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("no process of true loaded the simulated libamdhip64.so: ", done.stderr)
        self.assertEqual(self.check(["false"]).returncode, 1)

    def test_a_static_program(self) -> None:
        source, program = self.folder / "static.c", self.folder / "static"
        source.write_text("int main(void) { return 0; }\n")
        if subprocess.run(["cc", "-static", source, "-o", program], capture_output=True).returncode:
            self.skipTest("there is no static C library")
        done = self.check([str(program)])
        self.assertEqual(done.returncode, 2)
        self.assertIn("links HIP or the C library statically", done.stderr)

    def test_another_library_by_rpath(self) -> None:
        """A program takes ours all the same."""
        other = self.folder / "other"
        other.mkdir()
        (self.folder / "other.c").write_text("int hipGetDeviceCount(int *n) { *n = 42; return 0; }\n")
        (self.folder / "main.c").write_text('int hipGetDeviceCount(int *); int printf(const char *, ...);\nint main(void) { int n; hipGetDeviceCount(&n); printf("%d\\n", n); return 0; }\n')
        for major in (5, 6, 7):
            library, program = other / f"libamdhip64.so.{major}", self.folder / f"main{major}"
            subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", self.folder / "other.c", "-o", library], check=True)
            subprocess.run(["cc", self.folder / "main.c", library, f"-Wl,-rpath,{other}", "-Wl,--disable-new-dtags", "-o", program], check=True)
            self.assertEqual(run([program]).stdout, "42\n")
            self.assertEqual(self.check([str(program)]).stdout, "1\n")
            by_path = f"import ctypes; n = ctypes.c_int(); ctypes.CDLL('{library}').hipGetDeviceCount(ctypes.byref(n)); print(n.value)"
            self.assertEqual(self.check([sys.executable, "-c", by_path]).stdout, "1\n")

    def test_a_fork_after_the_first_call(self) -> None:
        done = self.check([sys.executable, "-c", USE_HIP + "import os\nif os.fork():\n    os.wait()\nelse:\n    os._exit(hip.hipDeviceSynchronize() != 3)"])
        self.assertIn("was forked after its parent had used HIP, and its HIP calls failed: fork before the first call", done.stderr)

    def test_a_fork_before_the_first_call(self) -> None:
        bug = self.host("wait/lds")
        launch = f"import os, subprocess, sys\nif os.fork():\n    os.wait()\nelse:\n    os.execv({bug[0]!r}, {bug!r})"
        self.assertEqual(last_line(self.check([sys.executable, "-c", launch])), "1 findings in 2 launches")

    def test_death_by_a_signal(self) -> None:
        """Findings before the signal are reported."""
        bug = " ".join(self.host("wait/lds"))
        done = self.check(["sh", "-c", f"{bug}; kill -SEGV $$"])
        self.assertEqual((done.returncode, last_line(done)), (FINDINGS, "1 findings in 2 launches"))
        self.assertIn("sh was ended by signal 11 (Segmentation fault)", done.stderr)
        self.assertEqual(self.check(["sh", "-c", "kill -TERM $$"]).returncode, 128 + 15)

    def test_a_program_that_loops(self) -> None:
        done = self.check([sys.executable, "-c", USE_HIP + "while True: pass"], "--timeout", "2")
        self.assertEqual(done.returncode, 124)
        self.assertIn("still ran after 2 seconds (--timeout) and was ended", done.stderr)

    def test_a_gfx_that_is_not_simulated(self) -> None:
        done = nw("check", "--gfx", "gfx90a", "--", "true")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^nw: --gfx gfx90a: not simulated; choose one of gfx1100, .*gfx1036\n$")

    def test_options_that_mean_nothing(self) -> None:
        for options, why in ((["--tools", "memory"], "--tools memory: 'memory' is none of mem, init, init:local, wait, race, pairs, leak, all"), (["--launch", "0"], "--launch 0: must be A:B"),
                             (["--launch", "3:2"], "--launch 3:2: ends before it begins"), (["--kernel", "("], "--kernel (: ")):  # fmt: skip
            done = self.check(["true"], *options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(why, done.stderr)
        self.assertEqual(nw("check").returncode, 2)

    def test_an_installed_layout(self) -> None:
        """A wheel's folders have no links for the library's other names."""
        for name in ("bin/nw", "hipsim/libamdhip64.so", "hipsim/libhipsim_audit.so"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(BUILD / name, self.folder / name)
        done = run([self.folder / "bin/nw", "check", "--gfx", GFX, "--", *self.host("wait/lds")])
        self.assertEqual((done.returncode, last_line(done)), (FINDINGS, "1 findings in 2 launches"), done.stderr)


if __name__ == "__main__":
    unittest.main()
