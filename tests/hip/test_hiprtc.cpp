// SPDX-License-Identifier: MIT
// hiprtc, by its exported names, and compiled programs on the simulated GPU.
#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/hipsim.h"
#include "hip/common.h"
#include <hip/hiprtc.h>

using namespace hip_test;

extern "C" { // newer than the oldest headers that we build with
hipError_t launch_cooperative(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, unsigned, hipStream_t,
                              void **) asm("hipModuleLaunchCooperativeKernel");
int bitcode_size(hiprtcProgram, size_t *) asm("hiprtcGetBitcodeSize");
int bitcode_of(hiprtcProgram, char *) asm("hiprtcGetBitcode");
int link_create(unsigned, int *, void **, void **) asm("hiprtcLinkCreate");
int link_add_data(void *, int, void *, size_t, const char *, unsigned, int *,
                  void **) asm("hiprtcLinkAddData");
int link_add_file(void *, int, const char *, unsigned, int *, void **) asm("hiprtcLinkAddFile");
int link_complete(void *, void **, size_t *) asm("hiprtcLinkComplete");
int link_destroy(void *) asm("hiprtcLinkDestroy");
hipError_t runtime_link_create(unsigned, int *, void **, void **) asm("hipLinkCreate");
hipError_t runtime_link_add(void *, int, void *, size_t, const char *, unsigned, int *,
                            void **) asm("hipLinkAddData");
hipError_t runtime_link_add_file(void *, int, const char *, unsigned, int *,
                                 void **) asm("hipLinkAddFile");
hipError_t runtime_link_complete(void *, void **, size_t *) asm("hipLinkComplete");
hipError_t runtime_link_destroy(void *) asm("hipLinkDestroy");
}

namespace {

struct Source {
    explicit Source(const std::string &text, std::vector<const char *> headers = {},
                    std::vector<const char *> names = {}) {
        REQUIRE_EQ(hiprtcCreateProgram(&program, text.c_str(), "source.cu",
                                       static_cast<int>(headers.size()), headers.data(),
                                       names.data()),
                   HIPRTC_SUCCESS);
    }
    ~Source() { static_cast<void>(hiprtcDestroyProgram(&program)); }

    int compile(std::vector<const char *> options = {}) {
        return hiprtcCompileProgram(program, static_cast<int>(options.size()), options.data());
    }
    std::string log() const {
        size_t bytes = 0;
        REQUIRE_EQ(hiprtcGetProgramLogSize(program, &bytes), HIPRTC_SUCCESS);
        std::string text(bytes, '\xff');
        REQUIRE_EQ(hiprtcGetProgramLog(program, text.data()), HIPRTC_SUCCESS);
        if (bytes)
            CHECK_EQ(text.back(), '\0');
        return text.substr(0, std::strlen(text.c_str()));
    }
    std::string code() const {
        size_t bytes = 0;
        REQUIRE_EQ(hiprtcGetCodeSize(program, &bytes), HIPRTC_SUCCESS);
        std::string code(bytes, '\0');
        REQUIRE_EQ(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
        return code;
    }
    std::string bitcode() const {
        size_t bytes = 0;
        REQUIRE_EQ(bitcode_size(program, &bytes), HIPRTC_SUCCESS);
        std::string code(bytes, '\0');
        REQUIRE_EQ(bitcode_of(program, code.data()), HIPRTC_SUCCESS);
        return code;
    }
    std::string lowered(const char *expression) const {
        const char *name = nullptr;
        REQUIRE_EQ(hiprtcGetLoweredName(program, expression, &name), HIPRTC_SUCCESS);
        return name;
    }
    hiprtcProgram program = nullptr;
};

#define COMPILES(source, ...)                                                                      \
    do {                                                                                           \
        const int result = (source).compile(__VA_ARGS__);                                          \
        REQUIRE_MESSAGE(result == HIPRTC_SUCCESS, (source).log());                                 \
    } while (false)

struct Loaded {
    explicit Loaded(const std::string &code) { OK(hipModuleLoadData(&module, code.data())); }
    ~Loaded() { static_cast<void>(hipModuleUnload(module)); }
    hipFunction_t operator[](const std::string &name) const {
        hipFunction_t function = nullptr;
        OK(hipModuleGetFunction(&function, module, name.c_str()));
        return function;
    }
    hipModule_t module = nullptr;
};

bool has(const std::string &text, const std::string &part) {
    const bool found = text.find(part) != std::string::npos;
    if (!found)
        MESSAGE(text);
    return found;
}

struct Environment {
    Environment(const char *name, const char *value) : name(name) { setenv(name, value, 1); }
    ~Environment() { unsetenv(name); }
    const char *const name;
};

} // namespace

TEST_CASE("hiprtc: a program is compiled for the current device, and runs") {
    Source source(R"(
        extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            __shared__ float first;
            if (threadIdx.x == 0)
                first = x[blockIdx.x * blockDim.x];
            __syncthreads();
            if (i < n)
                y[i] = FACTOR * a * x[i] + y[i] + 0 * first + (gridDim.x - 2);
        })");
    COMPILES(source, {"-DFACTOR=2", "-O2", "-std=c++14", "-hip-pch"});
    const Loaded code(source.code());
    const int n = 100;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i)
        x[i] = static_cast<float>(i), y[i] = 1;
    float *device_x = nullptr, *device_y = nullptr;
    OK(hipMalloc(reinterpret_cast<void **>(&device_x), n * sizeof(float)));
    OK(hipMalloc(reinterpret_cast<void **>(&device_y), n * sizeof(float)));
    OK(hipMemcpy(device_x, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
    OK(hipMemcpy(device_y, y.data(), n * sizeof(float), hipMemcpyHostToDevice));
    float a = 3;
    int count = n;
    void *params[] = {&a, &device_x, &device_y, &count};
    OK(hipModuleLaunchKernel(code["axpy"], 2, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr));
    OK(hipMemcpy(y.data(), device_y, n * sizeof(float), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        REQUIRE_EQ(y[i], 6.0f * static_cast<float>(i) + 1);
    OK(hipFree(device_x));
    OK(hipFree(device_y));
}

TEST_CASE("hiprtc: an architecture in either spelling") {
    for (std::vector<const char *> options :
         {std::vector<const char *>{"--gpu-architecture=gfx1100"},
          {"--offload-arch=gfx1100:xnack-"},
          {"--offload-arch", "gfx1100"},
          {"-arch=gfx1100"}}) {
        Source source("extern \"C\" __global__ void k() {}");
        COMPILES(source, options);
        hipModule_t other = nullptr;
        FAILS(hipModuleLoadData(&other, source.code().data()), hipErrorNoBinaryForGpu);
        OK(hipSetDevice(1)); // gfx1100
        { const Loaded code(source.code()); }
        OK(hipSetDevice(0));
    }
}

TEST_CASE("hiprtc: name expressions and lowered names") {
    Source source(R"(
        template <class T, int N> __global__ void fill(T *out) { out[threadIdx.x] = N; }
        namespace inner { __global__ void plain(int *out) { *out = 7; } }
        __device__ int variable = 5;
        __constant__ float table[4];)");
    for (const char *name :
         {"fill<int, 3>", "fill<float, -1>", "inner::plain", "&variable", "table"})
        REQUIRE_EQ(hiprtcAddNameExpression(source.program, name), HIPRTC_SUCCESS);
    const char *name = nullptr;
    CHECK_EQ(hiprtcGetLoweredName(source.program, "inner::plain", &name),
             HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    COMPILES(source);
    CHECK_EQ(source.lowered("fill<int, 3>"), "_Z4fillIiLi3EEvPT_");
    CHECK_EQ(source.lowered("inner::plain"), "_ZN5inner5plainEPi");
    CHECK_EQ(source.lowered("&variable"), "variable");
    CHECK_EQ(source.lowered("table"), "table");
    CHECK_EQ(hiprtcGetLoweredName(source.program, "fill<int, 4>", &name),
             HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    CHECK_EQ(hiprtcAddNameExpression(source.program, "late"),
             HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
    const Loaded code(source.code());
    const Ints out(32);
    OK(launch(code[source.lowered("fill<int, 3>")], 32, nullptr, out.data));
    CHECK_EQ(out.get(), std::vector<int>(32, 3));
    hipDeviceptr_t at = nullptr;
    size_t bytes = 0;
    OK(hipModuleGetGlobal(&at, &bytes, code.module, source.lowered("table").c_str()));
    CHECK_EQ(bytes, 16);
}

TEST_CASE("hiprtc: headers of the program") {
    Source source("#include \"one.h\"\n#include <sub/two.h>\n"
                  "extern \"C\" __global__ void k(int *out) { *out = ONE + TWO; }",
                  {"#define ONE 1", "#define TWO 40"}, {"one.h", "sub/two.h"});
    COMPILES(source);
    const Loaded code(source.code());
    const Ints out(1);
    OK(launch(code["k"], 1, nullptr, out.data));
    CHECK_EQ(out.get()[0], 41);
    hiprtcProgram refused = nullptr;
    const char *text = "", *name = "../outside.h";
    CHECK_EQ(hiprtcCreateProgram(&refused, "", "", 1, &text, &name), HIPRTC_ERROR_INVALID_INPUT);
}

TEST_CASE("hiprtc: errors are in the log, by the program's name and line") {
    Source source("\n\n__global__ void k(int *out) { *out = missing; }");
    CHECK_EQ(source.compile(), HIPRTC_ERROR_COMPILATION);
    CHECK(has(source.log(), "source.cu:3:"));
    CHECK(has(source.log(), "use of undeclared identifier 'missing'"));
    CHECK_EQ(source.log().find("hiprtc-"), std::string::npos); // the temporary folder
    CHECK(source.code().empty());
    CHECK_EQ(source.compile({"--no-such-option"}), HIPRTC_ERROR_COMPILATION);
    CHECK(has(source.log(), "--no-such-option"));
    CHECK_EQ(source.compile({"-o", "x"}), HIPRTC_ERROR_INVALID_OPTION);
    Source name("__global__ void k() {}");
    REQUIRE_EQ(hiprtcAddNameExpression(name.program, "nothing<int>"), HIPRTC_SUCCESS);
    CHECK_EQ(name.compile(), HIPRTC_ERROR_COMPILATION);
    CHECK(has(name.log(), "name expression nothing<int>"));
    Source unending("template <int N> struct A { static constexpr int v = A<N + 1>::v; };\n"
                    "int x = A<0>::v;");
    CHECK_EQ(unending.compile(), HIPRTC_ERROR_COMPILATION);
    CHECK(has(unending.log(), "recursive template instantiation"));
    Source warned("extern \"C\" __global__ void k() { int unused; }");
    COMPILES(warned, {"-Wall"});
    CHECK(has(warned.log(), "unused"));
}

TEST_CASE("hiprtc: no clang is a clear error") {
    const Environment none("HIPSIM_CLANG", "/nothing/here");
    Source source("__global__ void k() {}");
    CapturedStderr said;
    CHECK_EQ(source.compile(), HIPRTC_ERROR_INTERNAL_ERROR);
    CHECK(has(source.log(), "hiprtc needs clang and ld.lld of LLVM 20 or newer, and found none"));
    CHECK(has(said.text(), "hipsim: hiprtc needs clang"));
}

TEST_CASE("hiprtc: handles and pointers that mean nothing") {
    int dead = 0;
    const auto handle = reinterpret_cast<hiprtcProgram>(&dead);
    size_t bytes = 0;
    char text = 0;
    const char *name = nullptr;
    CHECK_EQ(hiprtcCompileProgram(handle, 0, nullptr), HIPRTC_ERROR_INVALID_PROGRAM);
    CHECK_EQ(hiprtcGetProgramLogSize(handle, &bytes), HIPRTC_ERROR_INVALID_PROGRAM);
    CHECK_EQ(hiprtcGetCode(nullptr, &text), HIPRTC_ERROR_INVALID_PROGRAM);
    CHECK_EQ(hiprtcGetLoweredName(handle, "k", &name), HIPRTC_ERROR_INVALID_PROGRAM);
    hiprtcProgram program = handle;
    CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_ERROR_INVALID_PROGRAM);
    CHECK_EQ(hiprtcDestroyProgram(nullptr), HIPRTC_ERROR_INVALID_INPUT);
    CHECK_EQ(hiprtcCreateProgram(&program, nullptr, "", 0, nullptr, nullptr),
             HIPRTC_ERROR_INVALID_INPUT);
    CHECK_EQ(hiprtcCreateProgram(&program, "", "", -1, nullptr, nullptr),
             HIPRTC_ERROR_INVALID_INPUT);
    CHECK_EQ(link_complete(&dead, nullptr, nullptr), HIPRTC_ERROR_INVALID_INPUT);
    CHECK_EQ(link_destroy(nullptr), HIPRTC_ERROR_INVALID_INPUT);
    int major = 0, minor = -1;
    CHECK_EQ(hiprtcVersion(&major, &minor), HIPRTC_SUCCESS);
    CHECK_GT(major, 0);
    CHECK_EQ(std::string(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION)),
             "HIPRTC_ERROR_COMPILATION");
    for (const int code : {-1, 12, 99, 1 << 30})
        CHECK_EQ(std::string(hiprtcGetErrorString(static_cast<hiprtcResult>(code))),
                 "Invalid HIPRTC error code");
}

TEST_CASE("hiprtc: math functions, by our own library and by ROCm's") {
    const char *const text = R"(
        #define EACH(f) f(sin) f(cos) f(tan) f(exp) f(exp2) f(log) f(log2) f(log10) f(log1p) f(expm1) f(sqrt) \
            f(cbrt) f(asin) f(acos) f(atan) f(sinh) f(cosh) f(tanh) f(erf) f(floor) f(ceil) f(trunc)
        extern "C" __global__ void math(const double *x, double *out, float *outf) {
            const int i = threadIdx.x;
            #define F(f) out[n++ * blockDim.x + i] = f(x[i]);
            #define G(name) outf[m++ * blockDim.x + i] = name##f(static_cast<float>(x[i]));
            int n = 0, m = 0;
            EACH(F)
            EACH(G)
            out[n++ * blockDim.x + i] = pow(x[i] + 2, 3.3 * x[i]);
            outf[m++ * blockDim.x + i] = powf(static_cast<float>(x[i]) + 2, 3.3f);
            out[n++ * blockDim.x + i] = fmod(100 * x[i], 0.7);
            outf[m++ * blockDim.x + i] = fmaf(static_cast<float>(x[i]), 3, 1);
        })";
    constexpr int items = 64;
    using Function = double (*)(double);
    const Function want[] = {std::sin,  std::cos,   std::tan,   std::exp,   std::exp2, std::log,
                             std::log2, std::log10, std::log1p, std::expm1, std::sqrt, std::cbrt,
                             std::asin, std::acos,  std::atan,  std::sinh,  std::cosh, std::tanh,
                             std::erf,  std::floor, std::ceil,  std::trunc};
    constexpr int functions = std::size(want);
    Source source(text);
    COMPILES(source);
    const Loaded code(source.code());
    std::vector<double> x(items), out(items * (functions + 2));
    std::vector<float> outf(out.size());
    for (int i = 0; i < items; ++i)
        x[i] = (i + 0.5) / items;
    double *device_x = nullptr, *device_out = nullptr;
    float *device_outf = nullptr;
    OK(hipMalloc(reinterpret_cast<void **>(&device_x), x.size() * 8));
    OK(hipMalloc(reinterpret_cast<void **>(&device_out), out.size() * 8));
    OK(hipMalloc(reinterpret_cast<void **>(&device_outf), outf.size() * 4));
    OK(hipMemcpy(device_x, x.data(), x.size() * 8, hipMemcpyHostToDevice));
    OK(launch(code["math"], items, nullptr, device_x, device_out, device_outf));
    OK(hipMemcpy(out.data(), device_out, out.size() * 8, hipMemcpyDeviceToHost));
    OK(hipMemcpy(outf.data(), device_outf, outf.size() * 4, hipMemcpyDeviceToHost));
    const auto near = [](double got, double wanted, double bound) {
        return std::fabs(got - wanted) <= bound * std::fmax(std::fabs(wanted), 1e-3);
    };
    for (int f = 0; f < functions; ++f)
        for (int i = 0; i < items; ++i) {
            CAPTURE(f);
            CAPTURE(x[i]);
            const double in_float = want[f](static_cast<double>(static_cast<float>(x[i])));
            REQUIRE_MESSAGE(near(out[f * items + i], want[f](x[i]), 2e-14), out[f * items + i]);
            REQUIRE_MESSAGE(near(outf[f * items + i], in_float, 1e-6), outf[f * items + i]);
        }
    for (int i = 0; i < items; ++i) {
        REQUIRE(near(out[functions * items + i], std::pow(x[i] + 2, 3.3 * x[i]), 2e-14));
        REQUIRE_EQ(out[(functions + 1) * items + i], std::fmod(100 * x[i], 0.7));
    }
    for (void *p : {static_cast<void *>(device_x), static_cast<void *>(device_out),
                    static_cast<void *>(device_outf)})
        OK(hipFree(p));
}

TEST_CASE("hiprtc: assert, new, shuffles, half, cooperative groups") {
    Source source(R"(
        #include <hip/hip_cooperative_groups.h>
        static_assert(sizeof(half) == 2 && sizeof(__half_raw) == 2);
        extern "C" __global__ void checked(int n) { assert(n < 3 && "small"); }
        extern "C" __global__ void all(int *out, int n) {
            const auto grid = cooperative_groups::this_grid();
            int *mine = new int[2];
            mine[0] = threadIdx.x;
            int sum = mine[0];
            delete[] mine;
            for (int by = warpSize / 2; by; by /= 2)
                sum += __shfl_xor(sum, by);
            const __half2 pair = __hadd2(__floats2half2_rn(1, 2), __float2half2_rn(0.5f));
            if (threadIdx.x == 0)
                atomicAdd(out, sum + static_cast<int>(__low2float(pair) * 2));
            grid.sync();
            if (grid.thread_rank() == 0)
                out[1] = out[0] + n;
            const float4 four = make_float4(1, 2, 3, 4);
            half h = n; // as CuPy uses it: a class with its own bits
            h = -h * half(0.5f) + __half2half2(half(1)).x;
            if (float(h) != 1 - n / 2.0f || __half_raw(h).x != __half_as_ushort(h))
                out[2] = 2;
            if (__popcll(__ballot(threadIdx.x % 2)) != warpSize / 2 || (four + four).w != 8)
                out[2] = 1;
        })");
    COMPILES(source);
    const Loaded code(source.code());
    CapturedStderr said;
    OK(launch(code["checked"], 1, nullptr, 2));
    OK(hipDeviceSynchronize());
    CHECK_EQ(said.text(), "");
    OK(launch(code["checked"], 1, nullptr, 3));
    FAILS(hipDeviceSynchronize(), hipErrorLaunchFailure);
    CHECK(has(said.text(),
              "source.cu:4: void checked(int): Device-side assertion `n < 3 && \"small\"' "
              "failed.\n"));
    const Ints out(3);
    int *data = out.data, n = 1000;
    void *params[] = {&data, &n};
    OK(launch_cooperative(code["all"], 4, 1, 1, 32, 1, 1, 0, nullptr, params));
    OK(hipDeviceSynchronize());
    CHECK_EQ(out.get(), std::vector<int>{4 * (496 + 3), 4 * (496 + 3) + 1000, 0});
}

TEST_CASE("hiprtc: programs are linked") {
    Source one("extern \"C\" __device__ int twice(int x) { return 2 * x; }");
    Source two(
        "extern \"C\" __device__ int twice(int);\n"
        "extern \"C\" __global__ void k(int *out) { out[threadIdx.x] = twice(threadIdx.x); }");
    size_t none = 0;
    COMPILES(one, {"-fgpu-rdc"});
    COMPILES(two, {"-fgpu-rdc"});
    std::string first = one.bitcode(), second = two.bitcode();
    constexpr int bitcode = 100, ptx = 1;
    const ScratchFile file(
        std::vector<std::byte>(reinterpret_cast<const std::byte *>(second.data()),
                               reinterpret_cast<const std::byte *>(second.data() + second.size())));
    void *link = nullptr, *code = nullptr;
    REQUIRE_EQ(link_create(0, nullptr, nullptr, &link), HIPRTC_SUCCESS);
    REQUIRE_EQ(link_add_data(link, bitcode, first.data(), first.size(), "one", 0, nullptr, nullptr),
               HIPRTC_SUCCESS);
    CHECK_EQ(link_add_data(link, ptx, first.data(), first.size(), "one", 0, nullptr, nullptr),
             HIPRTC_ERROR_INVALID_INPUT);
    CHECK_EQ(link_add_data(link, bitcode, &none, sizeof none, "none", 0, nullptr, nullptr),
             HIPRTC_ERROR_PROGRAM_CREATION_FAILURE);
    REQUIRE_EQ(link_add_file(link, bitcode, file.path.c_str(), 0, nullptr, nullptr),
               HIPRTC_SUCCESS);
    size_t bytes = 0;
    REQUIRE_EQ(link_complete(link, &code, &bytes), HIPRTC_SUCCESS);
    {
        const Loaded loaded(std::string(static_cast<char *>(code), bytes));
        const Ints out(32);
        OK(launch(loaded["k"], 32, nullptr, out.data));
        CHECK_EQ(out.get()[31], 62);
    }
    REQUIRE_EQ(link_destroy(link), HIPRTC_SUCCESS);
    REQUIRE_EQ(link_create(0, nullptr, nullptr, &link), HIPRTC_SUCCESS);
    REQUIRE_EQ(link_add_data(link, bitcode, second.data(), second.size(), "", 0, nullptr, nullptr),
               HIPRTC_SUCCESS);
    CapturedStderr said;
    CHECK_EQ(link_complete(link, &code, &bytes), 100); // HIPRTC_ERROR_LINKING
    FAILS(runtime_link_complete(link, &code, &bytes), hipErrorInvalidImage);

    void *other = nullptr; // the same linker by the runtime's names, since HIP 6.4
    OK(runtime_link_create(0, nullptr, nullptr, &other));
    OK(runtime_link_add(other, bitcode, first.data(), first.size(), "", 0, nullptr, nullptr));
    OK(runtime_link_add_file(other, bitcode, file.path.c_str(), 0, nullptr, nullptr));
    OK(runtime_link_complete(other, &code, &bytes));
    CHECK_EQ(std::string(static_cast<char *>(code), 4), "\x7f"
                                                        "ELF");
    OK(runtime_link_destroy(other));
    FAILS(runtime_link_create(0, nullptr, nullptr, nullptr), hipErrorInvalidValue);
    CHECK(has(said.text(), "symbol: twice"));
    REQUIRE_EQ(link_destroy(link), HIPRTC_SUCCESS);
}

TEST_CASE("libhiprtc has three names, and what libamdhip64 exports calls it") {
    for (const char *name :
         {"libhiprtc.so", "libhiprtc.so.5", "libhiprtc.so.6", "libhiprtc.so.7"}) {
        const std::string path = NW_BUILD_DIR "/hipsim/" + std::string(name);
        void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        REQUIRE_MESSAGE(library != nullptr, name);
        const auto version =
            reinterpret_cast<int (*)(int *, int *)>(dlsym(library, "hiprtcVersion"));
        REQUIRE_MESSAGE(!!version, name);
        int major = 0, minor = 0, hip_major = 0;
        const int result = version(&major, &minor);
        CHECK_EQ(result, 0);
        void *const hip = dlopen(NW_BUILD_DIR "/hipsim/libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
        REQUIRE_MESSAGE(hip != nullptr, name);
        const auto by_hip = reinterpret_cast<int (*)(int *, int *)>(dlsym(hip, "hiprtcVersion"));
        REQUIRE_MESSAGE(!!by_hip, name);
        const int by_hip_result = by_hip(&hip_major, &minor);
        CHECK_EQ(by_hip_result, 0);
        CHECK_EQ(major, hip_major);
    }
}
