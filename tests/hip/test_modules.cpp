// SPDX-License-Identifier: MIT
// Loading modules: every form of image, and every kind of invalid image.
#include <array>
#include <cstdint>
#include <cstring>

#include <zlib.h>
#include <zstd.h>

#include "hip/common.h"

using namespace hip_test;

namespace {

template <class T> void append(std::vector<std::byte> &to, const T &value) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    to.insert(to.end(), bytes, bytes + sizeof value);
}

void append(std::vector<std::byte> &to, const std::string &text) {
    for (const char c : text)
        to.push_back(static_cast<std::byte>(c));
}

// A clang offload bundle: magic, count, {offset, size, id length, id}..., the images.
std::vector<std::byte>
bundle(const std::vector<std::pair<std::string, std::vector<std::byte>>> &images) {
    std::uint64_t at = 24 + 8;
    for (const auto &[id, image] : images)
        at += 24 + id.size();
    at = (at + 4095) / 4096 * 4096;
    std::vector<std::byte> out;
    append(out, std::string("__CLANG_OFFLOAD_BUNDLE__"));
    append(out, std::uint64_t{images.size()});
    for (const auto &[id, image] : images) {
        append(out, at);
        append(out, std::uint64_t{image.size()});
        append(out, std::uint64_t{id.size()});
        append(out, id);
        at += image.size();
    }
    out.resize(at);
    at = out.size();
    for (auto image = images.rbegin(); image != images.rend(); ++image) {
        at -= image->second.size();
        std::copy(image->second.begin(), image->second.end(), out.begin() + static_cast<long>(at));
    }
    return out;
}

std::vector<std::byte> two_targets() {
    return bundle({{"host-x86_64-unknown-linux-gnu-", {}},
                   {"hipv4-amdgcn-amd-amdhsa--gfx1100", code_bytes("gfx1100")},
                   {"hipv4-amdgcn-amd-amdhsa--gfx1151", code_bytes("gfx1151")}});
}

std::vector<std::byte> zlib_of(const std::vector<std::byte> &contents) {
    uLongf size = compressBound(contents.size());
    std::vector<std::byte> packed(size);
    REQUIRE_EQ(compress(reinterpret_cast<Bytef *>(packed.data()), &size,
                        reinterpret_cast<const Bytef *>(contents.data()), contents.size()),
               Z_OK);
    packed.resize(size);
    return packed;
}

std::vector<std::byte> zstd_of(const std::vector<std::byte> &contents) {
    std::vector<std::byte> packed(ZSTD_compressBound(contents.size()));
    const std::size_t size =
        ZSTD_compress(packed.data(), packed.size(), contents.data(), contents.size(), 3);
    REQUIRE_FALSE(ZSTD_isError(size));
    packed.resize(size);
    return packed;
}

// "CCOB", version, method (0 zlib, 1 zstd), the file's size, the contents' size, a hash that nobody
// checks. Version 3 widens the sizes.
std::vector<std::byte> compressed(const std::vector<std::byte> &contents, std::uint16_t method = 0,
                                  std::uint16_t version = 2) {
    const auto packed = method == 1 ? zstd_of(contents) : zlib_of(contents);
    std::vector<std::byte> out;
    append(out, std::string("CCOB"));
    append(out, version);
    append(out, method);
    if (version == 3) {
        append(out, std::uint64_t{32 + packed.size()});
        append(out, std::uint64_t{contents.size()});
    } else {
        append(out, static_cast<std::uint32_t>(24 + packed.size()));
        append(out, static_cast<std::uint32_t>(contents.size()));
    }
    append(out, std::uint64_t{0});
    out.insert(out.end(), packed.begin(), packed.end());
    return out;
}

void runs(hipModule_t module) {
    hipFunction_t iota = nullptr;
    OK(hipModuleGetFunction(&iota, module, "iota"));
    Ints out(8, -1);
    OK(launch(iota, 32, nullptr, out.data, 5, 7));
    CHECK(out.get() == std::vector<int>{5, 6, 7, 8, 9, 10, 11, -1});
    OK(hipModuleUnload(module));
}

void refuses_file(const std::string &path, const char *code, const char *says) {
    hipModule_t module = nullptr;
    CapturedStderr said;
    CHECK_EQ(std::string(hipGetErrorName(hipModuleLoad(&module, path.c_str()))), std::string(code));
    CHECK(module == nullptr);
    CHECK_MESSAGE(said.text().find(says) != std::string::npos, said.text());
}

void refuses(const std::vector<std::byte> &image, const char *code, const char *says) {
    refuses_file(ScratchFile(image).path, code, says);
}

} // namespace

TEST_CASE("an ELF: from a file, from memory, with options") {
    hipModule_t module = nullptr;
    const auto image = code_bytes();
    SUBCASE("file") { OK(hipModuleLoad(&module, code_path().c_str())); }
    SUBCASE("memory") { OK(hipModuleLoadData(&module, image.data())); }
    SUBCASE("options") {
        hipJitOption option = hipJitOptionMaxRegisters;
        void *value = nullptr;
        OK(hipModuleLoadDataEx(&module, image.data(), 1, &option, &value));
    }
    runs(module);
}

TEST_CASE("a bundle: the device's own entry is taken") {
    hipModule_t module = nullptr;
    const auto image = two_targets();
    SUBCASE("memory") { OK(hipModuleLoadData(&module, image.data())); }
    SUBCASE("file") { OK(hipModuleLoad(&module, ScratchFile(image).path.c_str())); }
    SUBCASE("zlib, memory") {
        const auto packed = compressed(image);
        OK(hipModuleLoadData(&module, packed.data()));
    }
    SUBCASE("zstd, memory") {
        const auto packed = compressed(image, 1, 3);
        OK(hipModuleLoadData(&module, packed.data()));
    }
    SUBCASE("zstd, file") {
        const auto packed = compressed(image, 1);
        OK(hipModuleLoad(&module, ScratchFile(packed).path.c_str()));
    }
    SUBCASE("wrapped, as compiled programs register it") {
        const struct {
            std::uint32_t magic = 0x48495046, version = 1;
            const void *binary;
            void *unused = nullptr;
        } wrapper{.binary = image.data()};
        OK(hipModuleLoadData(&module, &wrapper));
    }
    runs(module);
}

TEST_CASE("files that are not there or not an image") {
    hipModule_t module = nullptr;
    refuses_file("no/such/file.hsaco", "hipErrorFileNotFound", "no/such/file.hsaco");
    refuses_file("/", "hipErrorFileNotFound", "directory");
    refuses({}, "hipErrorInvalidImage", "neither an ELF");
    std::vector<std::byte> text;
    append(text, std::string("this is not a code object, but it is long enough to look at"));
    refuses(text, "hipErrorInvalidImage", "neither an ELF");
    refuses_file(NW_BUILD_DIR "/bin/tests/test_hip_runtime", "hipErrorInvalidImage", "EM_AMDGPU");
    FAILS(hipModuleLoad(nullptr, "x"), hipErrorInvalidValue);
    FAILS(hipModuleLoad(&module, nullptr), hipErrorInvalidValue);
    FAILS(hipModuleLoad(&module, ""), hipErrorInvalidValue);
    FAILS(hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
}

TEST_CASE("an image for another gfx") {
    refuses_file(code_path("gfx1100"), "hipErrorNoBinaryForGpu",
                 "the image is for gfx1100, the device is gfx1151");
    refuses(bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1100", code_bytes("gfx1100")}}),
            "hipErrorNoBinaryForGpu", "holds code for [gfx1100], the device is gfx1151");
    // A bundle whose label lies.
    refuses(bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1151", code_bytes("gfx1100")}}),
            "hipErrorNoBinaryForGpu", "the image is for gfx1100");
}

TEST_CASE("truncated at any length") {
    const auto image = code_bytes();
    for (std::size_t bytes : {std::size_t{3}, std::size_t{4}, std::size_t{63}, std::size_t{64},
                              std::size_t{500}, image.size() / 2, image.size() - 1})
        refuses({image.begin(), image.begin() + static_cast<long>(bytes)}, "hipErrorInvalidImage",
                "");
    const auto bundled = two_targets();
    for (std::size_t bytes :
         {std::size_t{30}, std::size_t{40}, std::size_t{90}, bundled.size() - 1})
        refuses({bundled.begin(), bundled.begin() + static_cast<long>(bytes)},
                "hipErrorInvalidImage", "");
    const auto packed = compressed(bundled);
    for (std::size_t bytes : {std::size_t{5}, std::size_t{20}, packed.size() - 1})
        refuses({packed.begin(), packed.begin() + static_cast<long>(bytes)}, "hipErrorInvalidImage",
                "");
}

TEST_CASE("damaged bundles") {
    auto image = two_targets();
    image[24] = image[31] = std::byte{0xff}; // the number of entries
    refuses(image, "hipErrorInvalidImage", "offload bundle with");
    auto packed = compressed(two_targets());
    packed[packed.size() / 2] ^= std::byte{0x55};
    refuses(packed, "hipErrorInvalidImage", "damaged");
    refuses(compressed(two_targets(), 7), "hipErrorInvalidImage", "method 7");
    refuses(compressed(two_targets(), 0, 9), "hipErrorInvalidImage", "version 9");
    refuses(compressed(code_bytes()), "hipErrorInvalidImage", "not a bundle");
}

TEST_CASE("functions and variables") {
    hipModule_t module = nullptr;
    OK(hipModuleLoad(&module, code_path().c_str()));
    hipFunction_t function = nullptr;
    FAILS(hipModuleGetFunction(&function, module, "no_such_kernel"), hipErrorNotFound);
    FAILS(hipModuleGetFunction(&function, module, ""), hipErrorInvalidValue);
    FAILS(hipModuleGetFunction(&function, module, nullptr), hipErrorInvalidValue);
    FAILS(hipModuleGetFunction(nullptr, module, "iota"), hipErrorInvalidValue);
    FAILS(hipModuleGetFunction(&function, nullptr, "iota"), hipErrorInvalidHandle);
    CHECK(function == nullptr);

    hipDeviceptr_t address = nullptr;
    std::size_t bytes = 0;
    OK(hipModuleGetGlobal(&address, &bytes, module, "counter"));
    CHECK_EQ(bytes, 4);
    FAILS(hipModuleGetGlobal(&address, &bytes, module, "no_such_variable"), hipErrorNotFound);
    int value = 0;
    OK(hipMemcpyDtoH(&value, address, 4));
    CHECK_EQ(value, 42);
    value = 100;
    OK(hipMemcpyHtoD(address, &value, 4));
    FAILS(hipMemcpyHtoD(address, &value, 8), hipErrorInvalidValue);
    OK(hipModuleGetFunction(&function, module, "add_counter"));
    Ints out(1);
    OK(launch(function, 1, nullptr, out.data));
    CHECK_EQ(out.get()[0], 100);
    OK(hipMemcpyDtoH(&value, address, 4));
    CHECK_EQ(value, 101);

    OK(hipModuleUnload(module));
    FAILS(hipModuleUnload(module), hipErrorNotFound);
    FAILS(hipModuleUnload(nullptr), hipErrorInvalidHandle);
    FAILS(launch(function, 1, nullptr, out.data), hipErrorInvalidHandle); // its module is gone
    FAILS(hipMemcpyDtoH(&value, address, 4), hipErrorInvalidValue);
}

TEST_CASE("two loads of one image have their own variables") {
    Code first, second;
    Ints out(1);
    OK(launch(first["add_counter"], 1, nullptr, out.data));
    OK(launch(first["add_counter"], 1, nullptr, out.data));
    CHECK_EQ(out.get()[0], 43);
    OK(launch(second["add_counter"], 1, nullptr, out.data));
    CHECK_EQ(out.get()[0], 42);
}

TEST_CASE("what a kernel says about itself") {
    Code code;
    const auto attribute = [](hipFunction_t function, hipFunction_attribute which) {
        int value = -1;
        OK(hipFuncGetAttribute(&value, which, function));
        return value;
    };
    CHECK_EQ(attribute(code["small"], HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
    CHECK_EQ(attribute(code["small"], HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 40000);
    CHECK_EQ(attribute(code["small"], HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
             65536 - 40000);
    CHECK_EQ(attribute(code["iota"], HIP_FUNC_ATTRIBUTE_NUM_REGS), 8);
    CHECK_EQ(attribute(code["iota"], HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
    int value = 0;
    FAILS(hipFuncGetAttribute(&value, static_cast<hipFunction_attribute>(99), code["iota"]),
          hipErrorInvalidValue);
    FAILS(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, nullptr), hipErrorInvalidHandle);
    FAILS(hipFuncGetAttribute(nullptr, HIP_FUNC_ATTRIBUTE_NUM_REGS, code["iota"]),
          hipErrorInvalidValue);

    int blocks = 0;
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, code["iota"], 256, 0));
    CHECK_EQ(blocks, 8); // 8 waves each, 4 SIMDs of 16 waves
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, code["small"], 128, 0));
    CHECK_EQ(blocks, 0); // more work-items than it allows
    FAILS(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, code["iota"], 0, 0),
          hipErrorInvalidValue);
}
