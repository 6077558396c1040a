// SPDX-License-Identifier: MIT
#include "cold_product.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"

namespace nw::bench {

namespace {

constexpr u64 page = 4096; // a buffer begins on one
// Bytes that others touch before a piece of memory comes back: twice the largest cache of the
// parts.
constexpr u64 rest = u64{192} << 20;
constexpr u64 activation_bytes = 65536; // all that the kernels take
constexpr u64 output_bytes = u64{1} << 20;

u64 scale_stride(const ProductShape &p) { return u64{2} * (p.k / p.group); }

} // namespace

Rotation::Rotation(const hip::Device &device, u64 largest, u64 rest)
    : buffer_(device.allocate(2 * round_up(largest, page) + rest)) {
    buffer_.fill(0); // times do not depend on values, but nothing reads what nobody wrote
}

void *Rotation::take(u64 bytes) {
    if (next_ + bytes > buffer_.size())
        next_ = 0;
    void *at = static_cast<std::byte *>(buffer_.data()) + next_;
    next_ += round_up(bytes, page);
    return at;
}

ColdProduct::ColdProduct(const hip::Device &device, u64 largest_weights, u64 largest_scales)
    : device_(device), modules_(device), start_(device.event()), stop_(device.event()),
      a_(device.allocate(activation_bytes)), c_(device.allocate(output_bytes)),
      weights_(device, largest_weights, rest), scales_(device, largest_scales, rest) {
    a_.fill(0);
}

SplitKGeometry ColdProduct::geometry(const ProductShape &p) const {
    return published_geometry(p.m, p.n, p.k, device_.info().compute_units);
}

void ColdProduct::launch(const ProductShape &p, const SplitKGeometry &g) {
    SplitK arguments{p.dtype, p.m,     p.n,     p.k,       p.group,    a_.data(),
                     nullptr, nullptr, nullptr, c_.data(), p.w_stride, scale_stride(p)};
    arguments.w = weights_.take(p.n * p.w_stride);
    arguments.s = scales_.take(p.n * scale_stride(p));
    if (p.zeros)
        arguments.z = scales_.take(p.n * scale_stride(p));
    const Kernel &kernel = find_splitk(device_.info().gfx, arguments, g);
    modules_.function(kernel); // loading is no part of the time
    device_.record(start_);
    nw::launch(modules_, kernel, arguments, device_.info().compute_units, g.waves);
    device_.record(stop_);
}

f64 ColdProduct::us(const ProductShape &p) {
    if (u64{2} * p.m * p.n > output_bytes)
        throw Error(
            fmt::format("n = {}: outputs above {} bytes are not foreseen", p.n, output_bytes));
    // One round first: brings the code to where later launches find it.
    ProductShape round = p;
    const SplitKGeometry g = geometry(p);
    round.n = std::min(p.n, device_.info().compute_units * g.waves * g.rows);
    launch(round, g);
    launch(p, g);
    const f64 us = 1000 * f64{device_.elapsed_ms(start_, stop_)};
    if (!(us > 0))
        throw Error(fmt::format("{} keeps no time: HIPSIM_TIMING must be on or exact",
                                device_.info().label));
    return us;
}

} // namespace nw::bench
