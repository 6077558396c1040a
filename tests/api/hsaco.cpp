// SPDX-License-Identifier: MIT
// hsaco FOLDER (build/hsaco): one W4A16 product by a code object, without the library. What the
// kernel is called, where its arguments lie and how many rows a workgroup has stand in
// FOLDER/manifest.json. Weights are 9 - 8, scales 0.5, so c[n] = sum(a) / 2.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

constexpr uint32_t n = 200, k = 2560, group = 128;
constexpr uint16_t one = 0x3c00, half = 0x3800, sum = 0x6500; // f16 of 1, 0.5 and k / 2

void must(hipError_t error, const char *call) {
    if (error != hipSuccess)
        throw std::runtime_error(std::string(call) + ": " + hipGetErrorName(error));
}

std::string gfx_of_device() {
    hipDeviceProp_t properties;
    must(hipGetDeviceProperties(&properties, 0), "hipGetDeviceProperties");
    const std::string name = properties.gcnArchName;
    return name.substr(0, name.find(':'));
}

// One row of activations, symmetric, f16: the candidates of the library.
json find_kernel(const json &manifest, const std::string &gfx) {
    for (const json &kernel : manifest["kernels"]) {
        const json &p = kernel["params"];
        if (kernel["gfx"] == gfx && kernel["family"] == "decode_w4a16" &&
            kernel["purpose"] == "library" && !kernel["candidate"] && p["dtype"] == "f16" &&
            p["group"] == group && p["zeros"] == "" && p["m"] == 1)
            return kernel;
    }
    throw std::runtime_error("the manifest has no such kernel for " + gfx);
}

// The argument block: values by their names in the manifest.
class Arguments {
public:
    explicit Arguments(const json &family)
        : list_(family["arguments"]), bytes_(family["kernarg_bytes"].get<std::size_t>()) {}
    void set(const std::string &name, uint64_t value) {
        for (const json &a : list_)
            if (a["name"] == name)
                return static_cast<void>(std::memcpy(&bytes_[a["offset"].get<std::size_t>()],
                                                     &value, a["size"].get<std::size_t>()));
        throw std::runtime_error("the family has no argument " + name);
    }
    // Device memory of `count` times `value`, which the argument points to.
    uint16_t *set_memory(const std::string &name, uint16_t value, std::size_t count) {
        void *memory = nullptr;
        must(hipMalloc(&memory, 2 * count), "hipMalloc");
        must(hipMemsetD16(memory, value, count), "hipMemsetD16");
        set(name, reinterpret_cast<uint64_t>(memory));
        return static_cast<uint16_t *>(memory);
    }
    std::vector<char> &bytes() { return bytes_; }

private:
    const json &list_;
    std::vector<char> bytes_;
};

void launch(const std::string &file, const json &kernel, uint32_t groups,
            std::vector<char> &block) {
    hipModule_t module;
    hipFunction_t function;
    must(hipModuleLoad(&module, file.c_str()), "hipModuleLoad");
    must(hipModuleGetFunction(&function, module, kernel["symbol"].get<std::string>().c_str()),
         "hipModuleGetFunction");
    std::size_t size = block.size();
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, block.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE,
                     &size, HIP_LAUNCH_PARAM_END};
    must(hipModuleLaunchKernel(function, groups, 1, 1, kernel["block"][0], 1, 1, 0, nullptr,
                               nullptr, extra),
         "hipModuleLaunchKernel");
    must(hipDeviceSynchronize(), "hipDeviceSynchronize");
}

int multiply(const std::string &folder) {
    const json manifest = json::parse(std::ifstream(folder + "/manifest.json"));
    const json kernel = find_kernel(manifest, gfx_of_device());
    Arguments arguments(manifest["families"]["decode_w4a16"]);
    arguments.set_memory("a", one, k);
    arguments.set_memory("w", 0x9999, n * (k / 4));
    arguments.set_memory("s", half, n * (k / group));
    const uint16_t *const c = arguments.set_memory("c", 0xffff, n);
    const uint32_t rows = kernel["rows_per_workgroup"], groups = (n + rows - 1) / rows;
    for (const auto &[name, value] : {std::pair<const char *, uint32_t>{"n", n},
                                      {"k", k},
                                      {"w_stride", k / 2},
                                      {"s_stride", 2 * (k / group)},
                                      {"groups", groups}})
        arguments.set(name, value);
    launch(folder + "/" + kernel["file"].get<std::string>(), kernel, groups, arguments.bytes());
    std::vector<uint16_t> result(n);
    must(hipMemcpy(result.data(), c, 2 * n, hipMemcpyDeviceToHost), "hipMemcpy");
    for (uint32_t i = 0; i < n; i++)
        if (result[i] != sum)
            return std::printf("c[%u] is 0x%04x\n", i, result[i]), 1;
    std::printf("%s: %u outputs, all 1280.0\n", kernel["symbol"].get<std::string>().c_str(), n);
    return 0;
}

} // namespace

int main(int count, char **values) {
    try {
        return multiply(count > 1 ? values[1] : "build/hsaco");
    } catch (const std::exception &error) {
        return std::printf("%s\n", error.what()), 1;
    }
}
