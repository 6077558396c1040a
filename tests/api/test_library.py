# SPDX-License-Identifier: MIT
"""libnibblewave.so as a file: exports, dependencies, the HIP that it loads, and compilation of its header."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest

import abi
from calling import BUILD, LIBRARY, SANITIZED, SIMULATED, SOURCE, Folder, run

HEADER = SOURCE / "host/capi/nibblewave.h"
CREATE = """
import ctypes, sys
for path in sys.argv[2:]:
    ctypes.CDLL(path)  # RTLD_LOCAL
nw, context = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
nw.nw_last_error.restype = nw.nw_context_gfx.restype = ctypes.c_char_p
status = nw.nw_context_create(None, ctypes.byref(context))
print(status, (nw.nw_context_gfx(context) if status == 0 else nw.nw_last_error()).decode())
"""

FAKE = """
#include <string.h>
const char *hipGetErrorName(int code) { return "hipError"; }
int hipDeviceGetName(char *name, int length, int device) { return *name = 0; }
int hipGetDevicePropertiesR0600(char *prop, int device) { return strcpy(prop + 1160, "gfx900:xnack-"), 0; }
"""


class File(unittest.TestCase):
    def dynamic(self, *options: str) -> str:
        command = [os.environ["NW_READELF"], *options, "-W", LIBRARY]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def test_only_the_api_is_exported(self) -> None:
        declared = {word.split("(")[0].lstrip("*") for line in HEADER.read_text().splitlines()
                    if line.startswith("NW_API") for word in line.split() if "(" in word}  # fmt: skip
        self.assertGreater(len(declared), 5)
        self.assertEqual({name.split("@")[0] for name in abi.symbols(LIBRARY)}, declared)

    def test_it_needs_no_hip_and_no_library_of_ours(self) -> None:
        said = self.dynamic("-d")
        needed = {line.split("[")[1].rstrip("]") for line in said.splitlines() if "(NEEDED)" in line}
        system = ("libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "ld-linux", "libasan", "libubsan")
        self.assertEqual([name for name in needed if not name.startswith(system)], [])
        self.assertIn("[libnibblewave.so.0.1]", said)

    def test_no_path_of_the_build_is_in_it(self) -> None:
        rodata = subprocess.run(["strings", LIBRARY], check=True, capture_output=True, text=True).stdout
        self.assertEqual([line for line in rodata.splitlines() if str(BUILD / "hsaco") in line], [])


class Abi(Folder):
    """abi.txt: what programs that were compiled against this version rely on."""

    maxDiff = None

    def test_it_is_that_of_the_list(self) -> None:
        listed = (SOURCE / "tests/api/abi.txt").read_text().splitlines()
        self.assertEqual(abi.abi(HEADER, LIBRARY), listed, "see tests/api/abi.py: may it change, and how the list is renewed")

    def test_every_version_number_is_the_same(self) -> None:
        def found(file: str, pattern: str) -> str:
            return ".".join(re.search(pattern, (SOURCE / file).read_text(), re.MULTILINE).groups())

        version = found("CMakeLists.txt", r"^project\(nibblewave VERSION (\S+) ")
        self.assertEqual(found("host/capi/nibblewave.h", r"MAJOR (\d+)\n.*MINOR (\d+)\n.*PATCH (\d+)\n"), version)
        self.assertEqual(found("CHANGELOG.md", r"^## \[(\S+)\]"), version)
        major, minor, _ = version.split(".")
        self.assertEqual(abi.soname(LIBRARY), f"libnibblewave.so.{major}.{minor}" if major == "0" else f"libnibblewave.so.{major}")
        self.assertIn(f"NIBBLEWAVE_{major}.{minor} {{", (SOURCE / "host/capi/library.map").read_text())

    def test_changes_of_the_header_show(self) -> None:
        text = HEADER.read_text()
        (self.folder / "nibblewave.h").write_text(text)
        for old, new, shows in [
            ("    uint32_t m;     /*", "    uint64_t m;     /*", "  m at 16, 8 bytes"),
            ("    int32_t dtype;  /*", "    int32_t zero; int32_t dtype;  /*", "  dtype at 12, 4 bytes"),
            ("int32_t silu_gate_up; /*", "int32_t silu_gate_up, more; /*", "  more at 108, 4 bytes"),  # no other size: padding
            ("NW_F16 = 1 ", "NW_F16 = 2 ", "enumerator NW_F16 2"),
            ("#define NW_PER_ROW UINT32_MAX", "#define NW_PER_ROW 0", "constant NW_PER_ROW 0"),
        ]:
            with self.subTest(shows):
                self.assertNotIn(shows, abi.layout(HEADER))
                self.assertIn(old, text)
                changed = self.folder / "nibblewave.h"
                changed.write_text(text.replace(old, new, 1))
                self.assertIn(shows, abi.layout(changed))
        self.assertNotEqual(abi.functions(text), abi.functions(text.replace("nw_version(void)", "nw_version(int of)")))


# A backend's node, in the form of ggml's tensors.
NODE = """#include <nibblewave_ggml.h>
struct node { int type; int64_t ne[4]; size_t nb[4]; struct node *src[2]; void *data; };
int main(void) {
    struct node n[3] = {{12, {256, 8, 1, 1}, {144, 144, 1152, 1152}, {0, 0}, 0}, {0, {256, 2, 1, 1}, {4, 1024, 2048, 2048}, {0, 0}, 0},
                        {0, {8, 2, 1, 1}, {4, 32, 64, 64}, {&n[0], &n[1]}, 0}};
    const struct node *op = &n[2];
    const nw_ggml_tensor a = NW_GGML_TENSOR(op->src[0]), b = NW_GGML_TENSOR(op->src[1]), c = NW_GGML_TENSOR(op);
    const char *why;
    uint64_t bytes;
    if (nw_ggml_supports_flash_attn(&a, &b, &b, &c, 0, 0, 0, &why))
        return nw_ggml_flash_attn(0, &a, &b, &b, &c, 1, 1, 2, 0, 0, 0) != nw_ggml_flash_attn_sparse(0, &a, &b, &b, &c, 1, 1, 0, 0, 0);
    return !nw_ggml_supports_mul_mat(&a, &b, &c, &why) ||
           nw_ggml_mul_mat_workspace_size(0, &a, &b, &c, &bytes) == nw_ggml_mul_mat(0, &a, &b, &c, 0, 0, 0);
}
"""


class Header(Folder):
    def test_languages(self) -> None:
        self.compiles('#include <nibblewave.h>\nint main(void) { nw_w4a16 p = NW_W4A16_INIT; return p.dtype != NW_BF16; }\n')

    def test_languages_of_a_ggml_backend(self) -> None:
        self.compiles(NODE)

    def compiles(self, text: str) -> None:
        strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{HEADER.parent}"]
        for compiler, standard, end in (("NW_CC", "c99", "c"), ("NW_CC", "c17", "c"), ("NW_CXX", "c++11", "cpp"), ("NW_CXX", "c++20", "cpp")):
            with self.subTest(standard=standard):
                (self.folder / f"x.{end}").write_text(text)
                done = run(os.environ[compiler], f"-std={standard}", *strict, self.folder / f"x.{end}")
                self.assertEqual(done.stderr, "")


@unittest.skipIf(SANITIZED, "Python would have to be started with the sanitizer's runtime")
class Hip(unittest.TestCase):
    def create(self, *libraries: str, **variables: str) -> str:
        return run(sys.executable, "-c", CREATE, LIBRARY, *libraries, **variables).stdout

    def test_that_of_the_process_is_used_however_it_came_there(self) -> None:
        self.assertEqual(self.create(SIMULATED, LD_LIBRARY_PATH=""), "0 gfx1151\n")
        self.assertEqual(self.create(LD_LIBRARY_PATH="", LD_PRELOAD=str(SIMULATED)), "0 gfx1151\n")

    def test_where_there_is_none_it_is_loaded(self) -> None:
        self.assertEqual(self.create(), "0 gfx1151\n")

    def test_where_there_is_no_gpu_it_says_what_to_do(self) -> None:
        """Nothing to load, or the distribution's, without a GPU."""
        said = self.create(LD_LIBRARY_PATH="", ROCM_PATH="/nowhere")
        if not said.startswith("0 "):
            self.assertRegex(said, r"^5 .*(none can be|has no GPU).*: it takes one of gfx1100, .*; or the simulated GPU .*: put the folder hipsim, .* into "
                                   r"LD_LIBRARY_PATH, or call nibblewave\.simulate")  # fmt: skip

    def test_a_variable_of_the_simulated_gpu_that_is_refused_is_named(self) -> None:
        said = self.create(HIPSIM_CHEK="all")
        self.assertRegex(said, "^5 hipGetDevice: hipErrorNoDevice .*: HIPSIM_CHEK=all: there is no such variable; the nearest is HIPSIM_CHECK")

    def test_a_variable_of_the_library_that_is_misspelt(self) -> None:
        self.assertRegex(self.create(NIBBLEWAVE_FORCED="x"), "^1 NIBBLEWAVE_FORCED=x: there is no such variable; the nearest is NIBBLEWAVE_FORCE, there are")
        self.assertEqual(self.create(NIBBLEWAVE_FORCED=""), "0 gfx1151\n")  # as good as unset

    @unittest.skipUnless(os.environ.get("NW_REAL_HIP"), "no libamdhip64 of the distribution")
    def test_of_two_none_is_guessed(self) -> None:
        said = self.create(SIMULATED, os.environ["NW_REAL_HIP"], LD_LIBRARY_PATH="")
        self.assertRegex(said, r"^5 this process has loaded 2 HIP libraries, \S+ and \S+, which is ambiguous")


@unittest.skipIf(SANITIZED, "Python would have to be started with the sanitizer's runtime")
class OtherHip(Folder):
    """A libamdhip64 of a device we have no kernels for."""

    def create(self, without: str = "", device: int = 0) -> str:
        names = re.findall(r"^    X\((\w+)\)", (SOURCE / "host/hip/entry_points.h").read_text(), re.MULTILINE)
        own = {"hipGetErrorName", "hipDeviceGetName", "hipGetDevice"}
        stubs = [f"int {name}(void) {{ return 0; }}" for name in names if name not in own | {without}]
        (self.folder / "fake.c").write_text(FAKE + f"int hipGetDevice(int *at) {{ *at = 0; return {device}; }}\n" + "\n".join(stubs))
        library = self.folder / "libamdhip64.so.6"
        done = run(os.environ["NW_CC"], "-w", "-shared", "-fPIC", self.folder / "fake.c", "-o", library)
        self.assertEqual(done.returncode, 0, done.stderr)
        return run(sys.executable, "-c", CREATE, LIBRARY, library, LD_LIBRARY_PATH="").stdout

    def test_a_device_there_are_no_kernels_for(self) -> None:
        said = self.create()
        self.assertRegex(said, "^2 the current HIP device is a gfx900; there are kernels for gfx1100, .*: choose another with")

    def test_none_at_all(self) -> None:
        said = self.create(device=100)
        self.assertRegex(said, r"^5 hipGetDevice: hipError \(100\): \S+ has no GPU: it takes one of gfx1100, .*; or the simulated GPU")

    def test_one_that_lacks_a_function(self) -> None:
        said = self.create(without="hipStreamIsCapturing")
        self.assertRegex(said, "^5 .*loaded by this process, can't be used: .* has no hipStreamIsCapturing")
