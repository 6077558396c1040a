# SPDX-License-Identifier: MIT
"""nw run: arguments in, results out, findings, and what it refuses."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import npy
from command import DECODE, DECODE_ARGS, SOURCE, SUMS, nw

sys.path.append(str(SOURCE / "tests/check"))
import fat_binary

TWO = """
template <class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
template __global__ void scale<float>(float *, float);
template __global__ void scale<int>(int *, int);
__global__ __launch_bounds__(64) void plain(int *x) { x[threadIdx.x] = HERE; }
"""
SHARES = """
extern "C" __global__ __launch_bounds__(64) void shares(int *y) {
    __shared__ int lds[64];
    lds[threadIdx.x] = threadIdx.x;
    BARRIER
    y[threadIdx.x] = lds[63 - threadIdx.x];
}
"""


HISTOGRAM = """
__kernel void hist(__global const uint *x, __global uint *y, uint n) {
    __local uint sums[16];
    const uint lane = get_local_id(0);
    if (lane < 16)
        sums[lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&sums[x[i] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 16)
        atomic_add(&y[lane], sums[lane]);
}
"""
MATH = """
__kernel void math(__global const float *x, __global float4 *y, uint n) {
    const float4 v = vload4(0, x);
    y[0] = (float4)(fma(v.x, v.y, v.z), dot(v, v), max(v.x, v.w), convert_float(n));
    y[1] = clamp(v, (float4)(1.5f), (float4)(3.0f));
    y[2] = exp2(v) + (float4)(get_num_groups(0), get_local_size(0), get_work_dim(), round(2.5f));
}
"""
NAMELESS = "__kernel void f(__global int *first, int second) { first[__builtin_amdgcn_workitem_id_x()] = second; }\n"


class Run(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, text: str) -> Path:
        (self.folder / name).write_text(text)
        return self.folder / name

    def said(self, *arguments: str | Path) -> str:
        done = nw("run", *arguments, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def fails(self, code: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        done = nw("run", *arguments, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def axpy(self) -> list[str]:
        """A kernel y = a * x + b of 4 elements, and the words that begin its command line."""
        if not (self.folder / "axpy.s").exists():
            nw("new", "axpy.s", cwd=self.folder)
        return ["axpy.s", "--gfx", "gfx1151"]


class Results(Run):
    def test_arguments_by_name_in_any_order_and_by_position(self) -> None:
        npy.write(self.folder / "x.npy", "<f4", (4,), [1, 2, 3, -4])
        want = "axpy on sim gfx1151, grid 1,1,1, block 256,1,1\ny: 4 of 4 f32\n     [0]  2.5 4.5 6.5 -7.5\n"
        for args in (["x=npy:x.npy", "y=buf:16", "a=f32:2", "b=f32:0.5", "n=u32:4"], ["n=u32:4", "b=f32:0.5", "y=buf:16", "x=npy:x.npy", "a=f32:2"],
                     ["npy:x.npy", "buf:16", "f32:2", "f32:0.5", "u32:4"]):  # fmt: skip
            for name in ("y:f32", "1:f32:100"):
                self.assertEqual(self.said(*self.axpy(), "--args", *args, "--print", name), want)
        self.assertEqual(self.said(*self.axpy(), "--args", *args, "--print", "x:f32:2", "y:u32:1"),
                         "axpy on sim gfx1151, grid 1,1,1, block 256,1,1\nx: 2 of 4 f32\n     [0]  1 2\ny: 1 of 4 u32\n     [0]  1075838976\n")

    def test_saved_files_have_types_and_shapes(self) -> None:
        npy.write(self.folder / "x.npy", "<f4", (2, 2), [1, 2, 3, -4])
        args = ["--args", "x=npy:x.npy", "y=buf:16", "a=f32:2", "b=f32:0.5", "n=u32:4"]
        self.said(*self.axpy(), *args, "--save", "y:y.npy:f32", "x:x2.npy", "y:half.npy:bf16")
        self.assertEqual(npy.read(self.folder / "y.npy"), ("<f4", (4,), [2.5, 4.5, 6.5, -7.5]))
        self.assertEqual(npy.read(self.folder / "x2.npy"), ("<f4", (2, 2), [1, 2, 3, -4]))
        self.assertEqual(npy.read(self.folder / "half.npy")[:2], ("<u2", (8,)))
        self.assertIn("y: 4 of 4 f32\n     [0]  5.5", self.said(*self.axpy(), "--args", "x=npy:y.npy", *args[2:], "--print", "y:f32"))

    def test_versions_of_the_format(self) -> None:
        text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
        for version in (1, 2, 3):
            (self.folder / "x.npy").write_bytes(npy.header(text, version) + struct.pack("<f", 3))
            self.assertIn("[0]  7\n", self.said(*self.axpy(), "--args", "npy:x.npy", "buf:4", "f32:2", "f32:1", "u32:1", "--print", "1:f32"))

    def test_comparisons(self) -> None:
        npy.write(self.folder / "x.npy", "<f4", (4,), [1, 2, 3, -4])
        args = ["--args", "x=npy:x.npy", "y=buf:16", "a=f32:2", "b=f32:0.5", "n=u32:4", "--compare"]
        npy.write(self.folder / "want.npy", "<f4", (4,), [2.5, 4.5, 6.5, -7.5])
        self.assertIn("y: 4 f32 agree with want.npy within 0; all equal", self.said(*self.axpy(), *args, "y:want.npy"))
        npy.write(self.folder / "want.npy", "<f4", (3,), [2.5, 4.25, 6.5])
        self.assertIn("y: 3 f32 agree with want.npy within 0.1; largest difference 0.25: [1] got 4.5 want 4.25",
                      self.said(*self.axpy(), *args, "y:want.npy:0.1"))
        done = self.fails(1, *self.axpy(), *args, "1:want.npy:1e-2")
        self.assertEqual(done.stderr, "")
        self.assertIn("y: 1 of 3 f32 differ from want.npy by more than 0.01 * max(1, |want|)", done.stdout)
        self.assertIn("\n  [1] got 4.5 want 4.25\n", done.stdout)
        for wrong in (float("nan"), float("inf"), float("-inf")):
            npy.write(self.folder / "want.npy", "<f4", (1,), [wrong])
            self.assertIn("1 of 1 f32 differ", self.fails(1, *self.axpy(), *args, "1:want.npy:1e9").stdout)

    def test_nan_equals_nan_and_bf16_is_compared_as_numbers(self) -> None:
        npy.write(self.folder / "want.npy", "<f4", (1,), [float("nan")])
        self.assertIn("all equal", self.said(*self.axpy(), "--args", "buf:4", "buf:4", "f32:nan", "f32:0", "u32:1", "--compare", "1:want.npy"))
        npy.write(self.folder / "want.npy", "<u2", (2,), [0x3F80, 0x4000])  # 1, 2
        copy = self.write("copy.hip", 'extern "C" __global__ void copy(unsigned short *y) { y[0] = 0x3f80; y[1] = 0x4001; }')
        self.assertIn("want 2", self.said(copy, "--block", "1", "--args", "y=buf:4:bf16", "--compare", "y:want.npy:0.1"))

    def test_seeds(self) -> None:
        words = [*self.axpy(), "--args", "buf:64:f32", "buf:64", "f32:1", "f32:0", "u32:16", "--print", "1:f32"]
        one, again, two = (self.said(*words, "--seed", seed) for seed in ("1", "1", "2"))
        self.assertEqual(one, again)
        self.assertNotEqual(one, two)
        self.assertEqual(one, self.said(*words))

    def test_grids_have_three_dimensions(self) -> None:
        where = self.write("where.hip", 'extern "C" __global__ void where(int *y) { if (threadIdx.y == 1) y[blockIdx.x + 2 * blockIdx.y + 6 * blockIdx.z] = '
                           "blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x; }")  # fmt: skip
        said = self.said(where, "--grid", "2,3,2", "--block", "1,2", "--args", "buf:48:7", "--print", "0:i32:12")
        self.assertIn("[0]  0 1 10 11 20 21 100 101\n     [8]  110 111 120 121\n", said)


class Files(Run):
    def test_code_objects_and_bundles(self) -> None:
        launch = ["--grid", "8", "--check", "all", "--args", *DECODE_ARGS]
        self.assertIn(f"{DECODE.stem} on sim gfx1151", self.said(DECODE, *launch))
        bundle = self.folder / "both.hsaco"
        bundle.write_bytes(fat_binary.bundle({"gfx1151": DECODE.read_bytes(), "gfx1100": DECODE.read_bytes()}))
        self.assertIn("sim gfx1151", self.said(bundle, "--gfx", "gfx1151", *launch))
        self.assertIn("sim gfx1151", self.said(bundle, "--device", "sim:8060S", *launch))
        self.assertIn("choose one with --gfx", self.fails(2, bundle, *launch).stderr)
        self.assertIn("gfx1151", self.fails(2, DECODE, "--device", "sim:gfx1100", *launch).stderr)

    def test_the_file_chooses_the_device(self) -> None:
        self.assertIn("sums on sim gfx1151", self.said(SUMS, "--kernel", "sums", "--args", "buf:2K", "buf:64K:1", "u32:1", "f16:0"))
        self.assertIn("on sim gfx1100", self.said("--device", "sim:7900 XTX", *self.axpy()[:1], "--args", "buf:4", "buf:4", "f32:1", "f32:1", "u32:1"))

    def test_hip_kernels_by_the_names_of_the_source(self) -> None:
        self.write("here.h", "#define HERE 7\n")
        two = self.write("two.hip", '#include "here.h"\n' + TWO)
        self.assertIn("[0]  7 7\n", self.said(two, "--kernel", "plain", "--args", "x=buf:256", "--print", "x:i32:2"))
        self.assertIn("[0]  6\n", self.said(two, "--kernel", "scale<int>", "--block", "1", "--args", "x=buf:4:2", "by=i32:3", "--print", "x:i32"))
        self.assertIn("two.hip has ", self.fails(2, two, "--kernel", "nope").stderr)
        for name in ("plain", "scale<float>", "scale<int>"):
            self.assertIn(name, self.fails(2, two).stderr)

    def test_opencl(self) -> None:
        x = [random.randrange(1 << 32) for _ in range(1000)]
        npy.write(self.folder / "x.npy", "<u4", (1000,), x)
        npy.write(self.folder / "want.npy", "<u4", (16,), [sum(value % 16 == n for value in x) for n in range(16)])
        self.write("hist.cl", HISTOGRAM)
        for gfx in ("gfx1010", "gfx1151", "gfx1201"):
            self.said("hist.cl", "--gfx", gfx, "--grid", "3", "--block", "64", "--args", "x=npy:x.npy", "y=buf:64", "n=u32:1000",
                      "--check", "all", "--compare", "y:want.npy")  # fmt: skip
        npy.write(self.folder / "x.npy", "<f4", (4,), [1, 2, 3, 4])
        npy.write(self.folder / "want.npy", "<f4", (12,), [5, 30, 4, 7, 1.5, 2, 3, 3, 2 + 2, 4 + 1, 8 + 1, 16 + 3])
        self.said(self.write("math.cl", MATH), "--grid", "2", "--block", "1", "--args", "x=npy:x.npy", "y=buf:48", "n=u32:7", "--compare", "y:want.npy")

    def test_names_of_debug_information_where_the_metadata_has_none(self) -> None:
        self.write("f.cl", NAMELESS)
        for version in ("4", "5"):
            command = [os.environ["NW_CLANG"], *"-x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx1151 -nogpulib -mcode-object-version=5".split()]
            subprocess.run([*command, "-g", f"-gdwarf-{version}", "-O2", "f.cl", "-o", "f.hsaco"], cwd=self.folder, check=True)
            self.assertIn("[0]  3 3\n", self.said("f.hsaco", "--block", "2", "--args", "second=i32:3", "first=buf:8", "--print", "first:i32"))
            code = (self.folder / "f.hsaco").read_bytes()
            for _ in range(30):  # damaged information is as none, and no crash
                at = random.randrange(len(code))
                (self.folder / "bad.hsaco").write_bytes(code[:at] + bytes([random.randrange(256)]) + code[at + 1 :])
                self.fails(2, "bad.hsaco", "--gfx", "gfx1151", "--kernel", "none")  # loaded, not run

    def test_other_commands_take_hip_and_names_too(self) -> None:
        nw("new", "axpy.hip", cwd=self.folder)
        args = ["--grid", "1", "--args", "n=u32:4", "x=buf:16", "y=buf:16", "a=f32:1", "b=f32:1"]
        for command in (["time", "axpy.hip", "--gfx", "gfx1100", *args], ["annotate", "axpy.hip", "--gfx", "gfx1100", *args],
                        ["lint", "axpy.hip", "--gfx", "gfx1100"], ["info", "axpy.hip", "--gfx", "gfx1100"]):  # fmt: skip
            done = nw(*command, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertIn("1 kernels: 0 errors" if command[0] == "lint" else "axpy", done.stdout)
            if command[0] == "annotate":
                self.assertIn("y[i] = fmaf(a, x[i], b)", done.stdout)


class Findings(Run):
    def test_checkers_end_with_1_and_name_the_line(self) -> None:
        for barrier, code in (("__syncthreads();", 0), ("", 1)):
            source = self.write("shares.hip", SHARES.replace("BARRIER", barrier))
            words = [source, "--args", "y=buf:256", "--check"]
            done = nw("run", *words, "race" if code else "all", cwd=self.folder)
            self.assertEqual(done.returncode, code, done.stderr)
            if code:
                self.assertIn("race", done.stderr)
                self.assertIn("shares.hip:6", done.stderr)
            else:
                self.assertIn("no findings of --check all", done.stdout)
        self.assertEqual(nw("run", *words, "wait", cwd=self.folder).returncode, 0)

    def test_a_fault_needs_no_checker(self) -> None:
        done = self.fails(1, *self.axpy(), "--args", "buf:16", "buf:16", "f32:1", "f32:1", "u32:5")
        self.assertRegex(done.stderr, r"16 bytes at (0x\w+): 0 bytes past its end(.|\n)*\nnw: buffers: x 16 bytes at \1, y 16 bytes at 0x")
        self.assertIn("axpy.s:", done.stderr)


class Refusals(Run):
    def test_sources_that_do_not_compile(self) -> None:
        for name, text, words in [
            ("a.s", ".text\n  v_add_f32 v0, v1\n", ["a.s:2:", "error: ", "v_add_f32 v0, v1"]),
            ("b.s", "  global_load_b32 v0, v1, s[0:1]\n", ["b.s:1:", "not supported on this GPU", "gfx1030 calls it global_load_dword", "gfx1100"]),
            ("c.s", "  s_wait_kmcnt 0\n", ["c.s:1:", "s_wait_kmcnt: gfx1200, gfx1201 have it"]),
            ("d.hip", "__global__ void f(int *x) { *x = y; }\n", ["d.hip:1:34: error: use of undeclared identifier 'y'"]),
            ("g.cl", "__kernel void g(__global float *y) {\n  *y = z; }\n", ["g.cl:2:8: error: use of undeclared identifier 'z'"]),
            ("h.cl", "__kernel void h(__global float *y) { *y = sinpi(*y); }\n", ["sinpi(float)", "has no such function"]),
            ("e.hip", "__global__ void f() {}\nint main() { f<<<1, 1>>>(); }\n", ["e.hip:2:", "#ifndef __HIPCC_RTC__"]),
        ]:  # fmt: skip
            with self.subTest(name=name):
                self.write(name, text)
                done = self.fails(2, name, "--gfx", "gfx1030")
                self.assertEqual(done.stdout, "")
                for word in words:
                    self.assertIn(word, done.stderr)

    def test_arguments_that_do_not_fit(self) -> None:
        good = {"x": "buf:4", "y": "buf:4", "a": "f32:1", "b": "f32:1", "n": "u32:1"}
        for change, words in [
            ({"n": None}, ["takes 5 arguments, 4 are given", "x (8 bytes, global_buffer)", "n (4 bytes, by_value)"]),
            ({"z": "u32:1", "n": None}, ["axpy has no argument 'z'", "n (4 bytes, by_value)"]),
            ({"n": "u64:1"}, ["u64:1", "'n'", "4 bytes", "u32, i32, f32"]),
            ({"a": "buf:4"}, ["buf:4", "'a'", "4 bytes"]),
            ({"y": "f32:1"}, ["f32:1", "'y'", "8 bytes", "buf, npy, null"]),
            ({"x": "npy:none.npy"}, ["npy:none.npy", "'x'", "none.npy: No such file"]),
        ]:  # fmt: skip
            with self.subTest(change=change):
                args = [f"{name}={word}" for name, word in (good | change).items() if word]
                done = self.fails(2, *self.axpy(), "--args", *args)
                for word in words:
                    self.assertIn(word, done.stderr)
        self.assertIn("2 of 5 have names", self.fails(2, *self.axpy(), "--args", "x=buf:4", "y=buf:4", "f32:1", "f32:1", "u32:1").stderr)
        self.assertIn("'x' is given twice", self.fails(2, *self.axpy(), "--args", "x=buf:4", "x=buf:4", "a=f32:1", "b=f32:1", "n=u32:1").stderr)

    def test_files_that_are_not_what_they_should_be(self) -> None:
        head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"
        float_one = struct.pack("<f", 1)
        for contents, words in [
            (b"not NumPy's, but long enough", ["is not an .npy file", "numpy.save"]),
            (b"", ["is not an .npy file"]),
            (npy.header(head % ("<f4", False, "(2,)")) + float_one, ["has 4 bytes of elements, its shape (2,) of f32 wants 8"]),
            (npy.header(head % ("<f4", False, "(99999999999, 99999999999)")), ["is too large"]),
            (npy.header(head % ("<f4", True, "(1, 1)")) + float_one, ["Fortran", "ascontiguousarray"]),
            (npy.header(head % (">f4", False, "(1,)")) + float_one, ["'>f4'", "astype('<f4')"]),
            (npy.header(head % ("<c8", False, "(1,)")) + 2 * float_one, ["'<c8'", "astype"]),
            (npy.header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }") + float_one, ["structures"]),
            (npy.header("{'descr': '<f4', 'fortran_order': False, }") + float_one, ["no shape"]),
            (npy.header(head % ("<f4", False, "(0,)")), ["no elements"]),
            (b"\x93NUMPY\x07\0" + bytes(100), ["unknown version"]),
            (b"\x93NUMPY\1\0\xff\xff" + bytes(100), ["not whole"]),
        ]:  # fmt: skip
            with self.subTest(words=words):
                (self.folder / "x.npy").write_bytes(contents)
                done = self.fails(2, *self.axpy(), "--args", "npy:x.npy", "buf:4", "f32:1", "f32:1", "u32:1")
                for word in ["x.npy", *words]:
                    self.assertIn(word, done.stderr)

    def test_requests_for_results(self) -> None:
        npy.write(self.folder / "two.npy", "<f4", (2,), [1, 2])
        npy.write(self.folder / "half.npy", "<f2", (1,), [1])
        for request, words in [
            (["--print", "z:f32"], ["--print z:f32", "0 (x), 1 (y)"]), (["--print", "2:f32"], ["'2' is not a buffer"]),
            (["--print", "y"], ["--print y", "y:f32"]), (["--print", "y:f33"], ["'f33' is not a type", "bf16"]),
            (["--print", "y:f32:0"], ["'0' is not a number"]), (["--print", "y:f32:1:2"], ["ARGUMENT[:TYPE[:COUNT]]"]),
            (["--save", "y"], ["--save y", "names no file"]), (["--save", "y:out.npy"], ["y:out.npy:f32"]),
            (["--save", "y:no/such/folder/out.npy:f32"], ["no/such/folder/out.npy: can't be written"]), (["--save", "y:o.npy:f64"], ["4 bytes are no whole number of f64"]),
            (["--compare", "y:none.npy"], ["none.npy: No such file"]), (["--compare", "y:two.npy"], ["y has 4 bytes", "(2,) in two.npy wants 8"]),
            (["--compare", "x:half.npy"], ["x is f32, the file has f16"]), (["--compare", "y:two.npy:-1"], ["0 or more"]),
            (["--check", "everything"], ["everything"]), (["--device", "sim:gfx1100"], ["--gfx"]), (["--grid", "0"], ["--grid 0"]), (["--kernel", "k"], ["axpy"]),
        ]:  # fmt: skip
            with self.subTest(request=request):
                done = self.fails(2, *self.axpy(), "--args", "buf:4:f32", "buf:4", "f32:1", "f32:1", "u32:1", *request)
                for word in words:
                    self.assertIn(word, done.stderr)
        self.assertIn("hip:0", self.fails(2, "axpy.s", "--device", "hip:0").stderr)
        self.assertIn("none.s: No such file", self.fails(2, "none.s").stderr)

    def test_the_other_commands_say_what_source_needs(self) -> None:
        self.write("f.hip", "__global__ void f() {}\n")
        for command in ("time", "lint", "info", "annotate"):
            done = nw(command, "f.hip", cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("f.hip: names no target", done.stderr)
            self.assertIn("--gfx", done.stderr)


if __name__ == "__main__":
    unittest.main()
