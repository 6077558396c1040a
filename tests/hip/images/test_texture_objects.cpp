// SPDX-License-Identifier: MIT
// Sources of textures, and refusals.
#include "hip/images/pictures.h"

using namespace hip_test;

ASM_NAME(_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc, hipSurfaceObject_t *,
         const hipResourceDesc *);
ASM_NAME(hipDeviceGetTexture1DLinearMaxWidth, std::size_t *, const hipChannelFormatDesc *, int);
ASM_NAME(_Z23hipDestroySurfaceObjectP13__hip_surface, hipSurfaceObject_t);

TEST_CASE("the driver's textures, and what a texture was made from") {
    const Gpu gpu("gfx1151");
    std::mt19937 random(11);
    const Picture p = picture({1, 8, natural}, 16, 8, 1, random);
    const InArray in(p, {16, 8, 0}, 0);
    HIP_RESOURCE_DESC resource{};
    resource.resType = HIP_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = in.array;
    HIP_TEXTURE_DESC desc{}; // wraps, point filter, fractions
    desc.flags = HIP_TRSF_NORMALIZED_COORDINATES;
    hipTextureObject_t texture = nullptr;
    OK(hipTexObjectCreate(&texture, &resource, &desc, nullptr));
    const Sampling s{hipAddressModeWrap, hipFilterModePoint, true, true};
    const std::vector<Four> at = coordinates(p.size, true, 50, random);
    const Buffer<Four> where(at), out(at);
    OK(gpu.run("sample_2D", 50, texture, where.data, out.data, 50));
    for (unsigned n = 0; n < 50; ++n)
        CHECK_EQ(out.get()[n].x, p.sample(s, &at[n].x, 2, false, 0));
    hipResourceDesc from{};
    hipTextureDesc how{};
    OK(hipGetTextureObjectResourceDesc(&from, texture));
    OK(hipGetTextureObjectTextureDesc(&how, texture));
    CHECK_EQ(from.res.array.array, in.array);
    CHECK_EQ(how.normalizedCoords, 1);
    CHECK_EQ(how.readMode, hipReadModeNormalizedFloat);
    HIP_RESOURCE_DESC driver_from{};
    HIP_TEXTURE_DESC driver_how{};
    OK(hipTexObjectGetResourceDesc(&driver_from, texture));
    OK(hipTexObjectGetTextureDesc(&driver_how, texture));
    CHECK_EQ(driver_from.resType, HIP_RESOURCE_TYPE_ARRAY);
    CHECK_EQ(driver_from.res.array.hArray, in.array);
    CHECK(std::memcmp(&driver_how, &desc, sizeof desc) == 0);
    OK(hipTexObjectDestroy(texture));
    FAILS(hipGetTextureObjectTextureDesc(&how, texture), hipErrorInvalidValue);

    hipSurfaceObject_t surface = nullptr;
    OK(other__Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc(&surface,
                                                                            &in.resource));
    FAILS(hipDestroyTextureObject(reinterpret_cast<hipTextureObject_t>(surface)),
          hipErrorInvalidValue);
    OK(other__Z23hipDestroySurfaceObjectP13__hip_surface(surface));
}

TEST_CASE("how large textures may be") {
    std::size_t most = 0;
    int width = 0, depth = 0, linear = 0;
    const hipChannelFormatDesc four{32, 32, 32, 32, real}, none{};
    OK(hipDeviceGetAttribute(&linear, hipDeviceAttributeMaxTexture1DLinear, 0));
    OK(other_hipDeviceGetTexture1DLinearMaxWidth(&most, &four, 0));
    CHECK_EQ(most, static_cast<std::size_t>(linear) / 16);
    OK(hipDeviceGetAttribute(&width, hipDeviceAttributeMaxTexture2DWidth, 0));
    OK(hipDeviceGetAttribute(&depth, hipDeviceAttributeMaxTexture3DDepth, 0));
    const hipChannelFormatDesc byte{8, 0, 0, 0, natural};
    hipArray_t array = nullptr;
    OK(hipMallocArray(&array, &byte, static_cast<std::size_t>(width), 1, hipArrayDefault));
    OK(hipFreeArray(array));
    FAILS(hipMallocArray(&array, &byte, static_cast<std::size_t>(width) + 1, 1, hipArrayDefault),
          hipErrorInvalidValue);
    CHECK_EQ(depth, 8192);
    FAILS(other_hipDeviceGetTexture1DLinearMaxWidth(&most, &none, 0), hipErrorInvalidValue);
    FAILS(other_hipDeviceGetTexture1DLinearMaxWidth(nullptr, &four, 0), hipErrorInvalidValue);
    FAILS(other_hipDeviceGetTexture1DLinearMaxWidth(&most, &four, 9), hipErrorInvalidDevice);
}

TEST_CASE("what the driver tells of the runtime's textures") {
    const hipChannelFormatDesc halves{16, 16, 0, 0, real};
    const Buffer<int> memory(std::vector<int>(1024));
    hipResourceDesc linear{}, rows{};
    linear.resType = hipResourceTypeLinear;
    linear.res.linear.devPtr = memory.data;
    linear.res.linear.desc = halves;
    linear.res.linear.sizeInBytes = 400;
    rows.resType = hipResourceTypePitch2D;
    rows.res.pitch2D.devPtr = memory.data;
    rows.res.pitch2D.desc = halves;
    rows.res.pitch2D.width = 60;
    rows.res.pitch2D.height = 7;
    rows.res.pitch2D.pitchInBytes = 256;
    Sampling s{hipAddressModeMirror, hipFilterModeLinear, true, false};
    HIP_RESOURCE_DESC from{};
    HIP_TEXTURE_DESC how{};
    HIP_RESOURCE_VIEW_DESC view{};
    view.width = 1;
    {
        const Texture texture(rows, s);
        OK(hipTexObjectGetResourceDesc(&from, texture.handle));
        OK(hipTexObjectGetTextureDesc(&how, texture.handle));
        OK(hipTexObjectGetResourceViewDesc(&view, texture.handle));
        hipResourceViewDesc runtime_view{};
        runtime_view.width = 1;
        OK(hipGetTextureObjectResourceViewDesc(&runtime_view, texture.handle));
        CHECK_EQ(runtime_view.width, 0);
        FAILS(hipTexObjectGetResourceDesc(nullptr, texture.handle), hipErrorInvalidValue);
        FAILS(hipTexObjectGetTextureDesc(&how, nullptr), hipErrorInvalidValue);
    }
    CHECK_EQ(from.resType, HIP_RESOURCE_TYPE_PITCH2D);
    CHECK_EQ(from.res.pitch2D.format, HIP_AD_FORMAT_HALF);
    CHECK_EQ(from.res.pitch2D.numChannels, 2);
    CHECK_EQ(from.res.pitch2D.width, 60);
    CHECK_EQ(from.res.pitch2D.height, 7);
    CHECK_EQ(from.res.pitch2D.pitchInBytes, 256);
    CHECK_EQ(how.addressMode[2], HIP_TR_ADDRESS_MODE_MIRROR);
    CHECK_EQ(how.filterMode, HIP_TR_FILTER_MODE_LINEAR);
    CHECK_EQ(how.flags, HIP_TRSF_NORMALIZED_COORDINATES | HIP_TRSF_READ_AS_INTEGER);
    CHECK_EQ(view.width, 0); // none was given
    s.filter = hipFilterModePoint;
    s.normalized_coordinates = false;
    const Texture texture(linear, s);
    OK(hipTexObjectGetResourceDesc(&from, texture.handle));
    CHECK_EQ(from.resType, HIP_RESOURCE_TYPE_LINEAR);
    CHECK_EQ(from.res.linear.devPtr, reinterpret_cast<hipDeviceptr_t>(memory.data));
    CHECK_EQ(from.res.linear.numChannels, 2);
    CHECK_EQ(from.res.linear.sizeInBytes, 400);
}

TEST_CASE("what is not simulated is refused by name") {
    CapturedStderr said;
    const hipChannelFormatDesc byte{8, 0, 0, 0, natural};
    hipArray_t array = nullptr;
    FAILS(hipMalloc3DArray(&array, &byte, {4, 4, 6}, hipArrayCubemap), hipErrorNotSupported);
    OK(hipMallocArray(&array, &byte, 4, 4, 0));
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    hipTextureObject_t texture = nullptr;
    const auto refused = [&](auto change) {
        hipTextureDesc desc = texture_desc({});
        hipResourceDesc from = resource;
        change(desc, from);
        return std::string(
            hipGetErrorName(hipCreateTextureObject(&texture, &from, &desc, nullptr)));
    };
    CHECK_EQ(refused([](auto &d, auto &) { d.filterMode = hipFilterModeLinear; }),
             "hipErrorInvalidValue"); // of integers
    CHECK_EQ(refused([](auto &d, auto &) { d.sRGB = 1; }), "hipErrorNotSupported");
    CHECK_EQ(refused([](auto &, auto &r) { r.resType = hipResourceTypeMipmappedArray; }),
             "hipErrorNotSupported");
    CHECK_EQ(refused([](auto &d, auto &) {
                 d.addressMode[0] = hipAddressModeBorder;
                 d.borderColor[1] = 0.5f;
             }),
             "hipErrorNotSupported");
    for (const char *name : {"cubes", "sRGB", "mipmaps", "border colours"})
        CHECK_MESSAGE(said.text().find(name) != std::string::npos, name);
    OK(hipFreeArray(array));
    {
        const OwnDevice old("gfx1030");
        hipArray_t there = nullptr;
        OK(hipMallocArray(&there, &byte, 4, 4, 0));
        resource.res.array.array = there;
        const hipTextureDesc desc = texture_desc({});
        FAILS(hipCreateTextureObject(&texture, &resource, &desc, nullptr), hipErrorNotSupported);
        OK(hipFreeArray(there));
    }
}
