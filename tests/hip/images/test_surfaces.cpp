// SPDX-License-Identifier: MIT
// Surfaces, and accesses of images under the checkers.
#include <utility>

#include "hip/images/pictures.h"

using namespace hip_test;

TEST_CASE("surfaces") {
    std::mt19937 random(6);
    constexpr int width = 20, height = 9;
    for (const char *gfx : targets) {
        const Gpu gpu(gfx);
        const Picture p = picture({1, 32, real}, width, height, 1, random);
        const InArray from(p, {width, height, 0}, hipArraySurfaceLoadStore),
            to(p, {width, height, 0}, hipArraySurfaceLoadStore);
        const Surface in(from.array), out(to.array);
        OK(gpu.run("surface_2d", width * height, in.handle, out.handle, width, height));
        float got[height][width];
        OK(hipMemcpy2DFromArray(got, sizeof got[0], to.array, 0, 0, sizeof got[0], height,
                                hipMemcpyDeviceToHost));
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                CHECK_EQ(got[height - 1 - y][x], component(p.format, false, p.at(x, y, 0), 0) + 1);

        const Picture box = picture({1, 32, real}, 6, 5, 4, random);
        const InArray in_box(box, {6, 5, 4}, hipArraySurfaceLoadStore);
        const Surface boxes(in_box.array);
        const Buffer<float> values(std::vector<float>(120));
        OK(gpu.run("surface_3d", 120, boxes.handle, values.data, 6, 5, 4));
        CHECK(std::memcmp(values.get().data(), box.texels.data(), box.texels.size()) == 0);

        const Picture row = picture({4, 32, real}, 30, 1, 1, random);
        const InArray in_row(row, {30, 0, 0}, hipArraySurfaceLoadStore);
        const Surface rows(in_row.array);
        OK(gpu.run("surface_1d", 30, rows.handle, 30));
        Four after[30];
        OK(hipMemcpyFromArray(after, in_row.array, 0, 0, sizeof after, hipMemcpyDeviceToHost));
        for (int x = 0; x < 30; ++x)
            CHECK_EQ(after[x].x, component(row.format, false, row.at(x, 0, 0), 0) +
                                     component(row.format, false, row.at(x, 0, 0), 3));
    }
}

TEST_CASE("integers through surfaces, and texels out of bounds") {
    std::mt19937 random(7);
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        for (const Format &f : {Format{4, 32, natural}, Format{2, 32, whole}}) {
            const Picture p = picture(f, 10, 10, 1, random);
            const InArray in(p, {10, 10, 0}, hipArraySurfaceLoadStore);
            const Surface surface(in.array);
            OK(gpu.run("invert", 100, surface.handle, 10, 10));
            std::vector<unsigned char> got(p.texels.size());
            OK(hipMemcpy2DFromArray(got.data(), 10 * f.bytes(), in.array, 0, 0, 10 * f.bytes(), 10,
                                    hipMemcpyDeviceToHost));
            for (size_t n = 0; n < got.size(); ++n)
                CHECK_EQ(got[n], static_cast<unsigned char>(~p.texels[n]));
        }
        const Picture p = picture({1, 32, real}, 10, 10, 1, random);
        const InArray in(p, {10, 10, 0}, hipArraySurfaceLoadStore);
        const Surface surface(in.array);
        const Buffer<float> out(std::vector<float>(5, -1));
        OK(gpu.run("beyond", 5, surface.handle, out.data, 10, 10));
        for (float x : out.get())
            CHECK_EQ(x, 0.f);
        std::vector<unsigned char> got(p.texels.size());
        OK(hipMemcpy2DFromArray(got.data(), 40, in.array, 0, 0, 40, 10, hipMemcpyDeviceToHost));
        CHECK(got == p.texels);
    }
}

TEST_CASE("checkers see images: races, freed arrays") {
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        std::mt19937 random(8);
        const Picture p = picture({1, 32, real}, 4, 4, 1, random);
        CapturedStderr said;
        {
            const InArray in(p, {4, 4, 0}, hipArraySurfaceLoadStore);
            const Surface surface(in.array);
            CHECK_NE(gpu.run("race", 32, surface.handle), hipSuccess);
        }
        CHECK(said.text().find("race: ") != std::string::npos);
        CHECK(said.text().find("image_store") != std::string::npos);
    }
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        std::mt19937 random(9);
        const Picture p = picture({1, 32, real}, 4, 4, 1, random);
        CapturedStderr said;
        InArray in(p, {4, 4, 0}, 0);
        const Texture texture(in.resource, {});
        OK(hipFreeArray(std::exchange(in.array, nullptr)));
        const Buffer<Four> where({{1, 1, 0, 0}}), out(std::vector<Four>(1));
        CHECK_NE(gpu.run("sample_2D", 1, texture.handle, where.data, out.data, 1), hipSuccess);
        CHECK(said.text().find("freed") != std::string::npos);
    }
}
