// SPDX-License-Identifier: MIT
#include <cstring>
#include <doctest/doctest.h>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "formats/packed/row_layout.h"

using namespace nw;

namespace {

std::vector<u8> random_nibbles(u64 count) {
    Rng rng(count);
    std::vector<u8> out(count);
    for (u8 &q : out)
        q = static_cast<u8>(rng.below(16));
    return out;
}

u32 dword(const std::vector<u8> &bytes, u64 offset) {
    u32 out;
    std::memcpy(&out, bytes.data() + offset, 4);
    return out;
}

} // namespace

TEST_CASE("nibbles lie in the order 0 2 4 6 1 3 5 7") {
    std::vector<u8> nibbles(32);
    for (u32 k = 0; k < 32; ++k)
        nibbles[k] = k % 8;
    const std::vector<u8> packed = pack_rows(nibbles, RowLayout::tight(1, 32, 32));
    CHECK(dword(packed, 0) == 0x75316420);
    for (u32 p = 0; p < 4; ++p) // a mask takes the pair (2p, 2p+1)
        CHECK((dword(packed, 0) >> 4 * p & 0x000f000f) == ((2 * p + 1) << 16 | 2 * p));
}

TEST_CASE("round trip at every stride, padding untouched") {
    for (u32 n : {1u, 2u, 3u, 17u, 257u}) {
        for (u32 k : {32u, 96u, 160u, 1024u, 1152u}) {
            RowLayout l = RowLayout::tight(n, k, 32);
            for (u64 pad : {0u, 16u, 128u}) {
                l.w_stride = round_up<u64>(k / 2, 16) + pad;
                l.s_stride = l.scale_row_bytes() + pad / 8;
                const std::vector<u8> nibbles = random_nibbles(u64{n} * k);
                const std::vector<u8> packed = pack_rows(nibbles, l, 0xa5);
                REQUIRE(packed.size() == n * l.w_stride);
                CHECK(unpack_rows(packed, l) == nibbles);
                u32 dirty = 0;
                for (u64 row = 0; row < n; ++row)
                    for (u64 at = k / 2; at < l.w_stride; ++at)
                        dirty += packed[row * l.w_stride + at] != 0xa5;
                CHECK(dirty == 0);

                std::vector<u16> scales(n * (k / 32));
                for (u64 i = 0; i < scales.size(); ++i)
                    scales[i] = static_cast<u16>(i * 40503);
                const std::vector<u8> packed_scales = pack_scales(scales, l, 0x5a);
                CHECK(unpack_scales(packed_scales, l) == scales);
                CHECK((pad == 0 || packed_scales.back() == 0x5a));
            }
        }
    }
}

TEST_CASE("bad shapes are refused by name") {
    const auto refused = [](RowLayout l, const char *word) {
        try {
            validate(l);
        } catch (const Error &e) {
            return std::string(e.what()).find(word) != std::string::npos;
        }
        return false;
    };
    CHECK(refused({0, 128, 128, 64, 2}, "n = 0"));
    CHECK(refused({1, 128, 48, 64, 6}, "group = 48"));
    CHECK(refused({1, 0, 32, 64, 2}, "k = 0"));
    CHECK(refused({1, 160, 64, 80, 6}, "k = 160"));
    CHECK(refused({1, 128, 128, 48, 2}, "w_stride = 48"));
    CHECK(refused({1, 128, 128, 72, 2}, "w_stride = 72"));
    CHECK(refused({1, 128, 32, 64, 6}, "s_stride = 6"));
    CHECK(refused({1, 128, 32, 64, 9}, "s_stride = 9"));
    CHECK_THROWS_AS(RowLayout::tight(1, 100, 32), Error);
    CHECK_THROWS_AS(RowLayout::tight(1, 128, 0), Error);

    const RowLayout l = RowLayout::tight(2, 64, 32);
    CHECK_THROWS_AS(pack_rows(std::vector<u8>(127), l), Error);
    CHECK_THROWS_AS(unpack_rows(std::vector<u8>(63), l), Error);
    CHECK_THROWS_AS(pack_scales(std::vector<u16>(3), l), Error);
    CHECK_THROWS_AS(unpack_scales(std::vector<u8>(9), l), Error);
    std::vector<u8> nibbles(128);
    nibbles[70] = 16;
    CHECK_THROWS_WITH_AS(pack_rows(nibbles, l), "nibble [1, 6] is 16: must be 0..15", Error);
}
