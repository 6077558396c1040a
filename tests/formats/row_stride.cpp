// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "formats/packed/row_stride.h"

using namespace nw;

TEST_CASE("rows of gfx1151 that gather on the same channels are padded") {
    for (u64 k : {2048u, 4096u, 8192u, 11264u, 16384u, 28672u}) { // row bytes a multiple of 512
        CAPTURE(k);
        CHECK(weight_row_stride("gfx1151", k) >= k / 2 + 128);
        CHECK(weight_row_stride("gfx1151", k) % 512 != 0);
    }
    for (u64 k : {1280u, 2560u, 3584u, 11008u, 18944u}) // no such multiple
        CHECK(weight_row_stride("gfx1151", k) == k / 2);
}

TEST_CASE("rows are contiguous elsewhere") {
    for (const char *gfx : {"gfx1100", "gfx1150", "gfx1152", "gfx1201"})
        for (u64 k : {32u, 4096u, 8192u, 11008u})
            CHECK(weight_row_stride(gfx, k) == k / 2);
}

TEST_CASE("every stride is a multiple of 16 that holds a row") {
    for (const char *gfx : {"gfx1100", "gfx1151"})
        for (u64 k = 16; k < 20000; k += 16) {
            const u64 stride = weight_row_stride(gfx, k);
            CAPTURE(k);
            REQUIRE(stride % 16 == 0);
            REQUIRE(stride >= k / 2);
            REQUIRE(stride < k / 2 + 2 * 128);
        }
}
