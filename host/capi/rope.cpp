// SPDX-License-Identifier: MIT
// The turns of each pair of a model's rows, for nw_rope.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "capi/context.h"

namespace nw::api {

namespace {

void check(const nw_rope_model &p) {
    need(p.pairs >= 1 && p.pairs <= 32768, "pairs = {}: must be 1..32768", p.pairs);
    need(std::isfinite(p.base) && p.base > 1, "base = {}: must be finite and above 1", p.base);
    need(std::isfinite(p.frequency_scale) && p.frequency_scale > 0,
         "frequency_scale = {}: must be finite and above 0", p.frequency_scale);
    need(p.extension >= 0 && p.extension <= 1, "extension = {}: must be 0..1", p.extension);
    need(p.extension == 0 ||
             (p.beta_slow > 0 && p.beta_fast >= p.beta_slow && std::isfinite(p.beta_fast)),
         "beta_fast = {}, beta_slow = {}: must be finite, above 0, and beta_fast the larger one",
         p.beta_fast, p.beta_slow);
    need(p.extension == 0 || p.original_context > 0,
         "original_context = 0: YaRN needs the context that the model was trained with");
    for (u32 j = 0; p.factors && j < p.pairs; ++j)
        need(std::isfinite(p.factors[j]) && p.factors[j] != 0,
             "factors[{}] = {}: must be finite and not 0", j, p.factors[j]);
    for (u32 j = 0; p.streams && j < p.pairs; ++j)
        need(p.streams[j] <= 3, "streams[{}] = {}: must be 0..3", j, p.streams[j]);
}

// The pair, as a real number, that makes so many turns in the original context.
f64 pair_of(const nw_rope_model &p, f64 turns) {
    return p.pairs * std::log(p.original_context / (2 * std::numbers::pi * turns)) /
           std::log(f64{p.base});
}

// How much of YaRN's extrapolation each pair has: 1 up to the first of a ramp, 0 from its end on.
f64 extrapolated(const nw_rope_model &p, u32 j) {
    if (p.extension == 0)
        return 0;
    const f64 first = std::max(0.0, std::floor(pair_of(p, p.beta_fast)));
    const f64 last = std::min(2.0 * p.pairs - 1, std::ceil(pair_of(p, p.beta_slow)));
    const f64 along = (j - first) / std::max(0.001, last - first);
    return p.extension * (1 - std::clamp(along, 0.0, 1.0));
}

u64 turns_of(const nw_rope_model &p, u32 j) {
    const f64 share = extrapolated(p, j), factor = p.factors ? f64{p.factors[j]} : 1.0;
    const f64 scale = p.frequency_scale * (1 - share) + share;
    const f64 turns = std::pow(f64{p.base}, -f64(j) / p.pairs) / std::fabs(factor) * scale /
                      (2 * std::numbers::pi);
    constexpr u64 stream_bits = 3;
    const u64 forward = static_cast<u64>((turns - std::floor(turns)) * 0x1p64);
    const u64 fraction = factor < 0 ? 0 - forward : forward;
    return (fraction & ~stream_bits) | (p.streams ? p.streams[j] : 0u);
}

} // namespace

} // namespace nw::api

nw_status nw_rope_turns(const nw_rope_model *model, uint64_t *turns) {
    using namespace nw;
    return api::guarded([&] {
        api::need(model, "model is null");
        api::need(model->size == sizeof *model,
                  "size = {}: must be {}, the size of nw_rope_model: NW_ROPE_MODEL_INIT sets it",
                  model->size, sizeof *model);
        api::need(turns, "turns is null: it must point to memory for {} numbers of 64 bits",
                  model->pairs);
        api::check(*model);
        for (u32 j = 0; j < model->pairs; ++j)
            turns[j] = api::turns_of(*model, j);
    });
}
