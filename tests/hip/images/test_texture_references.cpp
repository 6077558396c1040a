// SPDX-License-Identifier: MIT
// Texture references of modules, as HIP 5 and 6 have them.
#include <fstream>
#include <iterator>

#include "hip/images/pictures.h"

using namespace hip_test;

ASM_NAME(hipTexRefGetArray, hipArray_t *, const textureReference *);

// Functions that compiled code calls before main.
extern "C" {
void **register_binary(const void *) asm("__hipRegisterFatBinary");
void unregister_binary(void **) asm("__hipUnregisterFatBinary");
void register_texture(void **, void *, const char *, const char *, int, int,
                      int) asm("__hipRegisterTexture");
void register_kernel(void **, const void *, const char *, const char *, unsigned, void *, void *,
                     void *, void *, int *) asm("__hipRegisterFunction");
}

namespace {

textureReference *reference_in(const ImageCode &code, const char *name) {
    textureReference *reference = nullptr;
    OK(hipModuleGetTexRef(&reference, code.module, name));
    return reference;
}

std::vector<float> counted(std::size_t n) {
    std::vector<float> all(n);
    for (std::size_t i = 0; i < n; ++i)
        all[i] = static_cast<float>(i);
    return all;
}

} // namespace

TEST_CASE("a kernel reads memory through a module's texture reference") {
    for (const char *gfx : targets) {
        CAPTURE(gfx);
        const Gpu gpu(gfx);
        textureReference *const line = reference_in(gpu.code, "line_reference");
        CHECK_EQ(line->numChannels, 1);
        CHECK_EQ(line->format, HIP_AD_FORMAT_FLOAT);
        const Buffer<float> memory(counted(1024)), out(std::vector<float>(8, -1));
        std::size_t offset = 7;
        OK(hipTexRefSetFlags(line, HIP_TRSF_READ_AS_INTEGER));
        OK(hipTexRefSetAddress(&offset, line, memory.data, 4096));
        CHECK_EQ(offset, 0);
        OK(gpu.run("fetch_reference", 8, out.data, 100, 8));
        CHECK_EQ(out.get()[7], 107);
        OK(hipTexRefSetAddress(&offset, line, memory.data + 512, 2048)); // other memory
        OK(gpu.run("fetch_reference", 8, out.data, 100, 8));
        CHECK_EQ(out.get()[0], 612);
        hipDeviceptr_t where = nullptr;
        OK(hipTexRefGetAddress(&where, line));
        CHECK_EQ(where, static_cast<void *>(memory.data + 512));
        // Not where a texture can begin: the kernel adds the offset.
        OK(hipTexRefSetAddress(&offset, line, memory.data + 3, 4096 - 12));
        CHECK_EQ(offset, 12);
        OK(gpu.run("fetch_reference", 8, out.data, 3, 8));
        CHECK_EQ(out.get()[0], 3);
        FAILS(hipTexRefSetAddress(nullptr, line, memory.data + 3, 64), hipErrorInvalidValue);
        OK(hipUnbindTexture(line));
        FAILS(hipTexRefGetAddress(&where, line), hipErrorInvalidValue);
    }
}

TEST_CASE("a kernel samples rows and arrays through a texture reference") {
    const Gpu gpu("gfx1151");
    textureReference *const reference = reference_in(gpu.code, "picture_reference");
    const std::vector<Four> places{{1.5f, 2.5f, 0, 0}, {99, -3, 0, 0}};
    const Buffer<Four> at(places);
    const Buffer<float> rows(counted(64 * 4)), out(std::vector<float>(2, -1));
    HIP_ARRAY_DESCRIPTOR shape{};
    shape.Width = 64;
    shape.Height = 4;
    shape.Format = HIP_AD_FORMAT_FLOAT;
    shape.NumChannels = 1;
    OK(hipTexRefSetAddressMode(reference, 0, hipAddressModeClamp));
    OK(hipTexRefSetAddressMode(reference, 1, hipAddressModeClamp));
    OK(hipTexRefSetFlags(reference, HIP_TRSF_READ_AS_INTEGER));
    OK(hipTexRefSetAddress2D(reference, &shape, rows.data, 256));
    OK(gpu.run("sample_reference", 2, at.data, out.data, 2));
    CHECK(out.get() == std::vector<float>{2 * 64 + 1, 63});
    hipArray_t array = nullptr, seen = nullptr;
    FAILS(other_hipTexRefGetArray(&seen, reference), hipErrorInvalidValue); // it has memory
    const hipChannelFormatDesc element{32, 0, 0, 0, hipChannelFormatKindFloat};
    OK(hipMallocArray(&array, &element, 64, 4, hipArrayDefault));
    OK(hipMemcpy2DToArray(array, 0, 0, rows.data + 1, 256, 60 * 4, 3, hipMemcpyDeviceToDevice));
    OK(hipTexRefSetArray(reference, array, HIP_TRSA_OVERRIDE_FORMAT));
    OK(gpu.run("sample_reference", 1, at.data, out.data, 1));
    CHECK_EQ(out.get()[0], 2 * 64 + 2);
    OK(other_hipTexRefGetArray(&seen, reference));
    CHECK_EQ(seen, array);
    FAILS(hipTexRefSetArray(reference, array, 0), hipErrorInvalidValue);
    FAILS(hipTexRefSetArray(reference, nullptr, HIP_TRSA_OVERRIDE_FORMAT), hipErrorInvalidValue);
    OK(hipUnbindTexture(reference));
    OK(hipFreeArray(array));
}

TEST_CASE("what a texture reference keeps, and the codes of its calls") {
    const Gpu gpu("gfx1151");
    textureReference *const reference = reference_in(gpu.code, "line_reference");
    unsigned flags = 0;
    OK(hipTexRefSetFlags(reference, HIP_TRSF_NORMALIZED_COORDINATES | HIP_TRSF_SRGB));
    OK(hipTexRefGetFlags(&flags, reference));
    CHECK_EQ(flags, HIP_TRSF_NORMALIZED_COORDINATES | HIP_TRSF_SRGB);
    hipArray_Format format{};
    int channels = 0, anisotropy = 0;
    OK(hipTexRefSetFormat(reference, HIP_AD_FORMAT_UNSIGNED_INT8, 4));
    OK(hipTexRefGetFormat(&format, &channels, reference));
    CHECK_EQ(format, HIP_AD_FORMAT_UNSIGNED_INT8);
    CHECK_EQ(channels, 4);
    hipTextureFilterMode filter{};
    OK(hipTexRefSetFilterMode(reference, hipFilterModeLinear));
    OK(hipTexRefGetFilterMode(&filter, reference));
    CHECK_EQ(filter, hipFilterModeLinear);
    hipTextureAddressMode mode{};
    OK(hipTexRefSetAddressMode(reference, 1, hipAddressModeMirror));
    OK(hipTexRefGetAddressMode(&mode, reference, 1));
    CHECK_EQ(mode, hipAddressModeMirror);
    FAILS(hipTexRefSetAddressMode(reference, 3, hipAddressModeMirror), hipErrorInvalidValue);
    FAILS(hipTexRefGetAddressMode(&mode, reference, 2), hipErrorInvalidValue); // as ROCm 6
    OK(hipTexRefSetMaxAnisotropy(reference, 9));
    OK(hipTexRefGetMaxAnisotropy(&anisotropy, reference));
    CHECK_EQ(anisotropy, 9);
    float bias = 0, least = 0, most = 0;
    OK(hipTexRefSetMipmapLevelBias(reference, 2));
    FAILS(hipTexRefGetMipmapLevelBias(&bias, reference), hipErrorInvalidValue); // with the value
    CHECK_EQ(bias, 2);
    OK(hipTexRefSetMipmapLevelClamp(reference, 1, 3));
    FAILS(hipTexRefGetMipmapLevelClamp(&least, &most, reference), hipErrorInvalidValue);
    CHECK_EQ(most, 3);
    OK(hipTexRefSetMipmapFilterMode(reference, hipFilterModeLinear));
    FAILS(hipTexRefGetMipmapFilterMode(&filter, reference), hipErrorInvalidValue);

    textureReference *none = nullptr, own{};
    std::size_t offset = 0;
    FAILS(hipModuleGetTexRef(&none, gpu.code.module, "no_reference"), hipErrorNotFound);
    FAILS(hipModuleGetTexRef(&none, gpu.code.module, ""), hipErrorInvalidValue);
    FAILS(hipModuleGetTexRef(nullptr, gpu.code.module, "line_reference"), hipErrorInvalidValue);
    FAILS(hipModuleGetTexRef(&none, nullptr, "line_reference"), hipErrorInvalidHandle);
    FAILS(hipTexRefSetFlags(nullptr, 0), hipErrorInvalidValue);
    FAILS(hipTexRefGetFlags(nullptr, reference), hipErrorInvalidValue);
    FAILS(hipTexRefSetAddress(&offset, &own, nullptr, 4), hipErrorNotFound); // of no module
    FAILS(hipBindTexture(&offset, &own, &own, nullptr, 4), hipErrorInvalidSymbol);
    FAILS(hipUnbindTexture(nullptr), hipErrorInvalidValue);
    OK(hipGetTextureAlignmentOffset(&offset, reference));
    CHECK_EQ(offset, 0);
    FAILS(hipGetTextureAlignmentOffset(nullptr, reference), hipErrorInvalidValue);
}

TEST_CASE("a texture reference of a module that is gone") {
    const OwnDevice device("gfx1151");
    textureReference *reference = nullptr;
    {
        const ImageCode code("gfx1151");
        reference = reference_in(code, "line_reference");
    }
    const Buffer<float> memory(counted(64));
    std::size_t offset = 0;
    FAILS(hipTexRefSetAddress(&offset, reference, memory.data, 256), hipErrorNotFound);
}

TEST_CASE("texture references of a compiled program") {
    const OwnDevice device("gfx1151?check=all");
    std::ifstream file(NW_BUILD_DIR "/tests/hip/code/images_gfx1151.hsaco", std::ios::binary);
    const std::string image(std::istreambuf_iterator<char>(file), {});
    const struct {
        unsigned magic, version;
        const void *binary;
        void *unused;
    } wrapper{0x48495046, 1, image.data(), nullptr};
    static const char fetch = 'f', sample = 's'; // their addresses are the stubs'
    static textureReference line{}, picture{};
    void **const binary = register_binary(&wrapper);
    register_texture(binary, &line, "line_reference", "line_reference", 1, 0, 0);
    register_texture(binary, &picture, "picture_reference", "picture_reference", 2, 0, 0);
    for (const auto &[stub, name] :
         {std::pair(&fetch, "fetch_reference"), {&sample, "sample_reference"}})
        register_kernel(binary, stub, name, name, ~0u, nullptr, nullptr, nullptr, nullptr, nullptr);
    for (int n = 0; n < 2; ++n)
        line.addressMode[n] = picture.addressMode[n] = hipAddressModeClamp;

    const hipChannelFormatDesc element{32, 0, 0, 0, real};
    const Buffer<float> memory(counted(1024)), out(std::vector<float>(8, -1));
    std::size_t offset = 7;
    float *result = out.data;
    int first = 100, n = 8;
    void *fetch_params[] = {&result, &first, &n};
    OK(hipBindTexture(&offset, &line, memory.data, &element, 4096));
    CHECK_EQ(offset, 0);
    OK(hipLaunchKernel(&fetch, dim3(1), dim3(64), fetch_params, 0, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_EQ(out.get()[7], 107);

    const Buffer<Four> at(std::vector<Four>{{1.5f, 2.5f, 0, 0}});
    const Four *where = at.data;
    int one = 1;
    void *sample_params[] = {&where, &result, &one};
    OK(hipBindTexture2D(&offset, &picture, memory.data, &element, 64, 4, 256));
    OK(hipLaunchKernel(&sample, dim3(1), dim3(64), sample_params, 0, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_EQ(out.get()[0], 2 * 64 + 1);
    hipArray_t array = nullptr;
    OK(hipMallocArray(&array, &element, 64, 4, hipArrayDefault));
    OK(hipMemcpy2DToArray(array, 0, 0, memory.data + 1, 256, 60 * 4, 3, hipMemcpyDeviceToDevice));
    OK(hipBindTextureToArray(&picture, array, &element));
    OK(hipLaunchKernel(&sample, dim3(1), dim3(64), sample_params, 0, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_EQ(out.get()[0], 2 * 64 + 2);

    const textureReference *seen = nullptr;
    OK(hipGetTextureReference(&seen, &line));
    CHECK_EQ(seen, &line);
    FAILS(hipBindTexture(&offset, &line, nullptr, &element, 64), hipErrorInvalidValue);
    FAILS(hipBindTexture2D(&offset, &picture, memory.data, &element, 64, 4, 0),
          hipErrorInvalidValue);
    FAILS(hipBindTextureToArray(&picture, nullptr, &element), hipErrorInvalidValue);
    OK(hipUnbindTexture(&line));
    OK(hipUnbindTexture(&picture));
    OK(hipFreeArray(array));
    unregister_binary(binary);
}
