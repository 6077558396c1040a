// SPDX-License-Identifier: MIT
#include "gguf_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ref/gguf_product.h"
#include "ref/rms_norm.h"

namespace nw::check {

namespace {

constexpr f32 eps = 1e-5f;
constexpr u64 tile_bytes = 1152;

std::vector<std::byte> tiles_of(std::span<const f32> x, u32 m, u32 k) {
    std::vector<std::byte> out;
    for (u32 r = 0; r < m; ++r) {
        const auto row = ref::quantize_q8(x.subspan(u64{r} * k, k), 1, k);
        out.insert(out.end(), row.begin(), row.end());
    }
    return out;
}

std::vector<f32> times(std::span<const f64> y, f64 factor) {
    std::vector<f32> out(y.size());
    std::ranges::transform(y, out.begin(), [&](f64 v) { return static_cast<f32>(v * factor); });
    return out;
}

// The block's values are whole numbers of steps, its largest 127: no rounding is near a half.
void put_block(Rng &rng, std::span<f32> x, std::span<const f32> norm) {
    const f64 step = std::ldexp(1.0 + rng.unit(), static_cast<int>(rng.below(8)) - 10);
    const u32 largest = rng.below(32);
    for (u32 i = 0; i < 32; ++i) {
        const i32 q = i == largest ? 127 : static_cast<i32>(rng.below(255)) - 127;
        x[i] = static_cast<f32>(step * q / f64{norm[i]});
    }
}

} // namespace

GgufInput::GgufInput(Test &t, GgufRows form, std::vector<f32> x, u32 m, u32 k, TileOrder order)
    : form_(form), m_(m), k_(k), x_(std::move(x)) {
    if (form == GgufRows::normed)
        make_normed(t.rng);
    else
        tiles_ = tiles_of(x_, m, k);
    if (form == GgufRows::tiles) {
        a_memory_.emplace(
            t.region<std::byte>(order == TileOrder::steps ? tiles_by_step() : tiles_));
        return;
    }
    // A gap of 16 bytes between rows.
    std::vector<f32> rows(u64{m} * (k + 4), std::numeric_limits<f32>::quiet_NaN());
    for (u32 r = 0; r < m; ++r)
        std::copy_n(&x_[u64{r} * k], k, &rows[u64{r} * (k + 4)]);
    rows.resize(rows.size() - 4);
    x_memory_.emplace(t.region<f32>(rows));
    if (form == GgufRows::normed)
        norm_memory_.emplace(t.region<f32>(norm_));
}

void GgufInput::make_normed(Rng &rng) {
    norm_.resize(k_);
    for (f32 &w : norm_)
        w = (0.25f + rng.unit()) * (rng.below(4) ? 1.0f : -1.0f);
    const auto block = [&](u32 row, u32 b) {
        put_block(rng, std::span(x_).subspan(u64{row} * k_ + 32 * b, 32),
                  std::span(norm_).subspan(u64{32} * b, 32));
    };
    for (u32 r = 0; r < m_; ++r)
        for (u32 b = 0; b < k_ / 32; ++b)
            block(r, b);
    // A block whose scale would be another one with a root that is a little off is drawn again.
    for (bool same = false; !same;) {
        const std::vector<f64> y = ref::rms_norm(x_, norm_, m_, k_, eps);
        const auto low = times(y, 1 - 0x1p-19), high = times(y, 1 + 0x1p-19);
        same = true;
        for (u32 r = 0; r < m_; ++r)
            for (u32 b = 0; b < k_ / 32; ++b) {
                const u64 at = u64{r} * k_ + 32 * b;
                if (ref::quantize_q8(std::span(low).subspan(at, 32), 1, 32) !=
                    ref::quantize_q8(std::span(high).subspan(at, 32), 1, 32))
                    block(r, b), same = false;
            }
        if (same)
            tiles_ = tiles_of(times(y, 1), m_, k_);
    }
}

std::span<const std::byte> GgufInput::tiles(u32 row) const {
    const u64 bytes = tiles_.size() / m_;
    return std::span(tiles_).subspan(row * bytes, bytes);
}

std::vector<std::byte> GgufInput::tiles_by_step() const {
    std::vector<std::byte> out;
    for (u64 step = 0; step < ceil_div<u64>(k_, 1024); ++step)
        for (u32 r = 0; r < m_; ++r) {
            const auto tile = tiles(r).subspan(step * tile_bytes, tile_bytes);
            out.insert(out.end(), tile.begin(), tile.end());
        }
    return out;
}

void GgufInput::put(Op &op) const {
    op.a = a_memory_ ? address(a_memory_->data()) : 0;
    op.x = x_memory_ ? address(x_memory_->data()) : 0;
    op.x_stride = 4 * (u64{k_} + 4);
    op.norm = norm_memory_ ? address(norm_memory_->data()) : 0;
    op.eps = norm_memory_ ? std::bit_cast<u32>(eps) : 0;
}

void GgufInput::unchanged(Test &t, std::source_location where) const {
    for (const auto &[name, memory] :
         {std::pair("a", &a_memory_), std::pair("x", &x_memory_), std::pair("norm", &norm_memory_)})
        if (*memory)
            t.unchanged(name, **memory, where);
}

} // namespace nw::check
