// SPDX-License-Identifier: MIT
// Textures, against plain C++ of the formulas.
#include <cmath>

#include "hip/images/pictures.h"

using namespace hip_test;

TEST_CASE("linear memory by tex1Dfetch") {
    for (const char *gfx : targets) {
        const Gpu gpu(gfx);
        std::vector<float> values(100);
        for (unsigned n = 0; n < values.size(); ++n)
            values[n] = static_cast<float>(n) * 1.5f;
        const Buffer<float> in(values), out(std::vector<float>(120, -1));
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeLinear;
        resource.res.linear.devPtr = in.data;
        resource.res.linear.desc = {32, 0, 0, 0, real};
        resource.res.linear.sizeInBytes = values.size() * 4;
        const Texture texture(resource, {});
        OK(gpu.run("fetch", 120, texture.handle, out.data, -10, 120));
        const std::vector<float> got = out.get();
        for (int n = 0; n < 120; ++n)
            CHECK_EQ(got[static_cast<size_t>(n)],
                     n < 10 || n >= 110 ? 0.f : values[static_cast<size_t>(n - 10)]);
    }
}

TEST_CASE("every format in linear memory") {
    std::mt19937 random(1);
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        for (const Format &f : formats)
            for (bool normalized : {false, true}) {
                if (normalized && (f.kind == real || f.bits == 32))
                    continue;
                constexpr unsigned count = 64;
                const Picture p = picture(f, count, 1, 1, random);
                const Buffer<unsigned char> in(p.texels);
                hipResourceDesc resource{};
                resource.resType = hipResourceTypeLinear;
                resource.res.linear.devPtr = in.data;
                resource.res.linear.desc = f.desc();
                resource.res.linear.sizeInBytes = p.texels.size();
                Sampling s;
                s.normalized_values = normalized;
                const Texture texture(resource, s);
                std::vector<Four> at(count);
                for (unsigned n = 0; n < count; ++n)
                    at[n].x = static_cast<float>(n);
                const Buffer<Four> where(at), out(at);
                OK(gpu.run("raw_fetch", count, texture.handle, where.data, out.data,
                           static_cast<int>(count)));
                const std::vector<Four> got = out.get();
                for (unsigned n = 0; n < count; ++n)
                    for (unsigned c = 0; c < 4; ++c) {
                        const float want = component(f, normalized, p.at(n, 0, 0), c);
                        CHECK(std::memcmp(&(&got[n].x)[c], &want, 4) == 0);
                    }
            }
    }
}

TEST_CASE("arrays of one, two and three dimensions: all formats, filters and address modes") {
    std::mt19937 random(2);
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        for (const Format &f : formats) {
            const Picture row = picture(f, 37, 1, 1, random), flat = picture(f, 21, 13, 1, random),
                          box = picture(f, 9, 7, 5, random);
            const InArray in_row(row, {37, 0, 0}, 0), in_flat(flat, {21, 13, 0}, 0),
                in_box(box, {9, 7, 5}, 0);
            for (const Sampling &s : samplings(f)) {
                compare(gpu, "sample_1D", row, in_row.resource, s, 1, false, random);
                compare(gpu, "sample_2D", flat, in_flat.resource, s, 2, false, random);
                compare(gpu, "sample_3D", box, in_box.resource, s, 3, false, random);
            }
        }
    }
}

TEST_CASE("layers, levels and gradients") {
    std::mt19937 random(3);
    for (const char *gfx : targets) {
        const Gpu gpu(gfx);
        const Format f{2, 32, real};
        const Picture rows = picture(f, 19, 1, 6, random), planes = picture(f, 11, 8, 4, random),
                      flat = picture(f, 21, 13, 1, random);
        const InArray in_rows(rows, {19, 0, 6}, hipArrayLayered),
            in_planes(planes, {11, 8, 4}, hipArrayLayered), in_flat(flat, {21, 13, 0}, 0);
        for (const Sampling &s : samplings(f)) {
            compare(gpu, "sample_2Da", planes, in_planes.resource, s, 2, true, random);
            compare(gpu, "sample_1Da", rows, in_rows.resource, s, 1, true, random);
            compare(gpu, "sample_lod_2D", flat, in_flat.resource, s, 2, false, random);
            compare(gpu, "sample_grad_2D", flat, in_flat.resource, s, 2, false, random);
        }
    }
}

TEST_CASE("pitched memory by tex2D") {
    for (auto attribute :
         {hipDeviceAttributeTextureAlignment, hipDeviceAttributeTexturePitchAlignment}) {
        int alignment = 0;
        OK(hipDeviceGetAttribute(&alignment, attribute, 0));
        CHECK_EQ(alignment, 256);
    }
    std::mt19937 random(4);
    for (const char *gfx : targets) {
        const Gpu gpu(gfx);
        const Picture p = picture({1, 32, real}, 50, 10, 1, random);
        void *memory = nullptr;
        size_t pitch = 0;
        OK(hipMallocPitch(&memory, &pitch, 200, 10));
        OK(hipMemcpy2D(memory, pitch, p.texels.data(), 200, 200, 10, hipMemcpyHostToDevice));
        hipResourceDesc resource{};
        resource.resType = hipResourceTypePitch2D;
        resource.res.pitch2D.devPtr = memory;
        resource.res.pitch2D.desc = p.format.desc();
        resource.res.pitch2D.width = 50;
        resource.res.pitch2D.height = 10;
        resource.res.pitch2D.pitchInBytes = pitch;
        for (const Sampling &s : samplings(p.format)) {
            const Texture texture(resource, s);
            const std::vector<Four> at = coordinates(p.size, s.normalized_coordinates, 100, random);
            const Buffer<Four> where(at);
            const Buffer<float> out(std::vector<float>(100, -99));
            OK(gpu.run("tex_2d", 100, texture.handle, where.data, out.data, 100));
            const std::vector<float> got = out.get();
            for (unsigned n = 0; n < 100; ++n)
                CHECK(same(got[n], p.sample(s, &at[n].x, 2, false, 0),
                           s.filter == hipFilterModeLinear));
        }
        hipResourceDesc bad = resource;
        hipTextureObject_t texture = nullptr;
        const hipTextureDesc desc = texture_desc({});
        bad.res.pitch2D.pitchInBytes = 200; // not a multiple of the alignment
        FAILS(hipCreateTextureObject(&texture, &bad, &desc, nullptr), hipErrorInvalidValue);
        bad = resource;
        bad.res.pitch2D.height = 11; // beyond the allocation
        FAILS(hipCreateTextureObject(&texture, &bad, &desc, nullptr), hipErrorInvalidValue);
        OK(hipFree(memory));
    }
}

TEST_CASE("four texels by gather") {
    std::mt19937 random(5);
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        const Picture p = picture({2, 32, real}, 8, 8, 1, random);
        const InArray in(p, {8, 8, 0}, hipArrayTextureGather);
        const Texture texture(in.resource, {});
        const Buffer<Four> where({{3.25f, 4.75f, 0, 0}}), out(std::vector<Four>(1));
        OK(gpu.run("gather_2D", 1, texture.handle, where.data, out.data, 1));
        const Four got = out.get()[0];
        const auto green = [&](long x, long y) {
            return component(p.format, false, p.at(x, y, 0), 1);
        };
        CHECK_EQ(got.x, green(2, 5));
        CHECK_EQ(got.y, green(3, 5));
        CHECK_EQ(got.z, green(3, 4));
        CHECK_EQ(got.w, green(2, 4));
    }
}

TEST_CASE("a texture of another kind than the instruction's is named") {
    const Gpu gpu("gfx1151");
    std::mt19937 random(10);
    const Picture p = picture({1, 32, real}, 4, 4, 1, random);
    const InArray in(p, {4, 4, 0}, 0);
    const Texture texture(in.resource, {});
    const Buffer<Four> where({{1, 1, 0, 0}}), out(std::vector<Four>(1));
    CapturedStderr said;
    CHECK_NE(gpu.run("sample_3D", 1, texture.handle, where.data, out.data, 1), hipSuccess);
    CHECK(said.text().find("bad image descriptor") != std::string::npos);
}
