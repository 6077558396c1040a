// SPDX-License-Identifier: MIT
#include "measure/cold_product.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"

namespace nw {

namespace {

constexpr u64 page = 4096; // a buffer begins on one

template <class Bytes> u64 largest(std::span<const ProductShape> shapes, const Bytes &bytes) {
    u64 out = 0;
    for (const ProductShape &p : shapes)
        out = std::max(out, round_up<u64>(bytes(p), page));
    return out;
}

u64 activation_bytes(const ProductShape &p) { return u64{2} * p.m * p.k; }
u64 output_bytes(const ProductShape &p) { return u64{2} * p.m * p.n; }
u64 weight_bytes(const ProductShape &p) { return p.weight_bytes(); }
u64 scale_bytes(const ProductShape &p) { return std::max(p.scale_bytes(), p.zero_bytes()); }

Op op_of(const ProductShape &p, const ColdProduct::Memory &at) {
    Op op = p.op();
    op.a = address(at.a);
    op.w = address(at.w);
    op.s = address(at.s);
    op.z = address(at.z);
    op.c = address(at.c);
    op.w_stride = p.w_stride;
    op.s_stride = p.s_stride();
    op.z_stride = p.z_stride();
    return op;
}

} // namespace

void need_time(const hip::Device &device, f64 us) {
    if (!(us > 0))
        throw Error(fmt::format("{} keeps no time: HIPSIM_TIMING must be on or exact",
                                device.info().label));
}

Rotation::Rotation(const hip::Device &device, u64 largest, u64 rest)
    : buffer_(device.allocate(2 * largest + rest)) {
    buffer_.fill(0); // times do not depend on values, but nothing reads what nobody wrote
}

void *Rotation::take(u64 bytes) {
    if (next_ + bytes > buffer_.size())
        next_ = 0;
    void *at = static_cast<std::byte *>(buffer_.data()) + next_;
    next_ += round_up(bytes, page);
    return at;
}

// A product takes up to four pieces of a rotation: scales and zero points of two launches.
ColdProduct::ColdProduct(const hip::Device &device, std::span<const ProductShape> shapes,
                         u64 products, const std::filesystem::path &kernels)
    : device_(device), modules_(device, kernels), start_(device.event()), stop_(device.event()),
      a_(device.allocate(largest(shapes, activation_bytes))),
      c_(device.allocate(largest(shapes, output_bytes))),
      weights_(device, largest(shapes, weight_bytes), products == 1 ? 0 : cold_rest),
      scales_(device, largest(shapes, scale_bytes),
              products == 1 ? 2 * largest(shapes, scale_bytes) : cold_rest) {
    a_.fill(0);
}

ColdProduct::Memory ColdProduct::memory(const ProductShape &p) {
    return {a_.data(), weights_.take(p.weight_bytes()), scales_.take(p.scale_bytes()),
            p.has_z() ? scales_.take(p.zero_bytes()) : nullptr, c_.data()};
}

f64 ColdProduct::us(const ProductShape &p, u32 warm_rows, const Launch &launch,
                    const std::function<void()> &launched) {
    const auto queue = [&](const ProductShape &shape) {
        const Memory at = memory(shape);
        device_.record(start_);
        launch(shape, at);
        device_.record(stop_);
        if (launched) {
            device_.synchronize();
            launched();
        }
    };
    ProductShape round = p;
    round.n = std::min(p.n, warm_rows);
    queue(round);
    queue(p);
    const f64 us = 1000 * f64{device_.elapsed_ms(start_, stop_)};
    need_time(device_, us);
    return us;
}

namespace {

Op splitk_op(Op op) {
    op.kind = OpKind::splitk_w4a16;
    op.zeros = find_word(op.zeros == word_of(Zeros::eight) ? "sym" : "zp");
    return op;
}

} // namespace

Published published_kernel(std::string_view gfx, const ProductShape &p) {
    Op op = splitk_op(p.op());
    const auto all = kernels_for(gfx, op, References::with);
    if (all.empty())
        throw Error(fmt::format("splitk_w4a16: no kernel for {} g{} m{} k{} on {}; "
                                "asm/splitk_w4a16/family.toml lists what there is",
                                name(p.dtype), group_name(p.group), p.m, p.k, gfx));
    all.front()->contract->settle(op, *all.front(), usual_machine(gfx));
    return {*all.front(), op.waves};
}

f64 published_us(ColdProduct &product, const ProductShape &p) {
    const hip::DeviceInfo &on = product.device().info();
    const auto &[kernel, waves] = published_kernel(on.gfx, p);
    product.modules().function(kernel); // loading is no part of the time
    return product.us(p, on.wgps * static_cast<u32>(waves) * kernel.p.rows,
                      [&](const ProductShape &shape, const ColdProduct::Memory &at) {
                          Op op = splitk_op(op_of(shape, at));
                          op.waves = waves;
                          launch(product.modules(), kernel, op);
                      });
}

const Kernel &chosen_kernel(std::string_view gfx, const ProductShape &p) {
    return choose(gfx, p.op());
}

void launch_product(ColdProduct &product, const Kernel &kernel, const ProductShape &p,
                    const ColdProduct::Memory &at, Workgroups workgroups) {
    Op op = op_of(p, at);
    if (workgroups == Workgroups::one_round)
        op.groups = ceil_div(p.n, kernel.rows_per_workgroup);
    launch(product.modules(), kernel, op);
}

f64 product_us(ColdProduct &product, const Kernel &kernel, const ProductShape &p,
               const std::function<void()> &launched, Workgroups workgroups) {
    product.modules().function(kernel);
    const u32 rows = kernel.p.bn ? kernel.p.bn : kernel.rows_per_workgroup;
    return product.us(
        p, product.device().info().wgps * rows,
        [&](const ProductShape &shape, const ColdProduct::Memory &at) {
            launch_product(product, kernel, shape, at, workgroups);
        },
        launched);
}

} // namespace nw
