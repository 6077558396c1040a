// SPDX-License-Identifier: MIT
// nw_rope_turns against the reference, what it refuses, and nw_rope with what it makes.
#include <cmath>
#include <vector>

#include "api/product.h"
#include "api/upload.h"
#include "ref/rope.h"

using namespace api_test;

namespace {

nw_rope_model yarn() {
    nw_rope_model model = NW_ROPE_MODEL_INIT;
    model.pairs = 32, model.base = 150000, model.frequency_scale = 1.0f / 32, model.extension = 1;
    model.original_context = 4096;
    return model;
}

nw::ref::RopeModel same(const nw_rope_model &model) {
    nw::ref::RopeModel out{.pairs = model.pairs,
                           .base = model.base,
                           .frequency_scale = model.frequency_scale,
                           .extension = model.extension,
                           .beta_fast = model.beta_fast,
                           .beta_slow = model.beta_slow,
                           .original_context = model.original_context};
    if (model.factors)
        out.factors.assign(model.factors, model.factors + model.pairs);
    return out;
}

// Far below what a position of 2^31 makes of it.
void check_turns(const nw_rope_model &model, const std::vector<u32> &streams = {}) {
    std::vector<uint64_t> turns(model.pairs);
    NW_DONE(nw_rope_turns(&model, turns.data()));
    const auto want = nw::ref::rope_turns(nw::ref::rope_frequencies(same(model)), streams);
    for (u32 j = 0; j < model.pairs; ++j) {
        const f64 apart = std::fabs(static_cast<f64>(static_cast<int64_t>(turns[j] - want[j])));
        CHECK_MESSAGE(apart <= 4096, "pair ", j);
        if (!streams.empty())
            CHECK_EQ(turns[j] % 4, streams[j]);
    }
}

} // namespace

TEST_CASE("nw_rope_turns: bases, factors, YaRN and streams are the reference's") {
    nw_rope_model plain = NW_ROPE_MODEL_INIT;
    plain.pairs = 64;
    check_turns(plain);
    check_turns(yarn());
    std::vector<float> factors(64, 8.0f);
    plain.base = 500000, plain.factors = factors.data();
    check_turns(plain);
    factors[0] = -1, factors[5] = -2.5f; // the other way round
    check_turns(plain);
    std::vector<uint8_t> streams(64);
    std::vector<u32> wanted(64);
    for (u32 j = 0; j < 64; ++j)
        wanted[j] = streams[j] = static_cast<uint8_t>(j % 3);
    plain.streams = streams.data();
    check_turns(plain, wanted);
}

TEST_CASE("nw_rope_turns refuses by name") {
    uint64_t turns[64];
    nw_rope_model model = yarn();
    const auto refused = [&](nw_rope_model bad, const char *text) {
        CHECK_EQ(nw_rope_turns(&bad, turns), NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(text), nw_last_error());
    };
    model.pairs = 0;
    refused(model, "pairs = 0: must be 1..32768");
    model = yarn(), model.base = NAN;
    refused(model, "base = nan: must be finite and above 1");
    model = yarn(), model.original_context = 0;
    refused(model, "original_context = 0: YaRN needs the context");
    const float factors[32] = {1, 0};
    model = yarn(), model.factors = factors;
    refused(model, "factors[1] = 0: must be finite and not 0");
    const uint8_t streams[32] = {4};
    model = yarn(), model.streams = streams;
    refused(model, "streams[0] = 4: must be 0..3");
    model = yarn(), model.size = 8;
    refused(model, "size = 8: must be");
    CHECK_EQ(nw_rope_turns(nullptr, turns), NW_INVALID_ARGUMENT);
    model = yarn();
    CHECK_EQ(nw_rope_turns(&model, nullptr), NW_INVALID_ARGUMENT);
}

TEST_CASE("nw_rope rotates by them") {
    constexpr u32 d = 64, heads = 2, tokens = 3, count = d * heads * tokens;
    const nw_rope_model model = yarn();
    std::vector<uint64_t> turns(model.pairs);
    NW_DONE(nw_rope_turns(&model, turns.data()));
    const std::vector<int32_t> positions = {0, 4095, 131071};
    std::vector<f32> x(count), y(count);
    for (u32 i = 0; i < count; ++i)
        x[i] = static_cast<f32>(std::sin(i * 0.7) * 3);
    const Memory x_on(4 * count), turns_on(8 * turns.size()), positions_on(4 * tokens);
    HIP_OK(hipMemcpy(x_on.data, x.data(), x_on.size, hipMemcpyHostToDevice));
    HIP_OK(hipMemcpy(turns_on.data, turns.data(), turns_on.size, hipMemcpyHostToDevice));
    HIP_OK(
        hipMemcpy(positions_on.data, positions.data(), positions_on.size, hipMemcpyHostToDevice));
    nw_rope_op rope = NW_ROPE_OP_INIT;
    rope.y_type = NW_F32, rope.layout = NW_ROPE_NEOX, rope.d = d, rope.n1 = heads, rope.n2 = tokens;
    rope.pairs = model.pairs, rope.x = rope.y = x_on.data, rope.turns = turns_on.data;
    rope.pos = static_cast<const int32_t *>(positions_on.data);
    rope.x_s1 = rope.y_s1 = 4 * d, rope.x_s2 = rope.y_s2 = 4 * d * heads;
    const Context context;
    NW_DONE(nw_rope(context, &rope, nullptr));
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipMemcpy(y.data(), x_on.data, x_on.size, hipMemcpyDeviceToHost));
    const std::vector<f64> frequencies = nw::ref::rope_frequencies(same(model));
    for (u32 row = 0; row < heads * tokens; ++row) {
        const std::vector<int32_t> at(model.pairs, positions[row / heads]);
        const std::span<const f32> in(&x[row * d], d);
        const auto want = nw::ref::rope_row(in, frequencies, at, true, 1);
        for (u32 i = 0; i < d; ++i)
            CHECK_LE(std::fabs(y[row * d + i] - want[i]), 6 * 0x1p-21);
    }
}
