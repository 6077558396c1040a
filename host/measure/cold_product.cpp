// SPDX-License-Identifier: MIT
#include "measure/cold_product.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"

namespace nw {

namespace {

// By the op's contract if it takes several launches, else by the kernel's.
u64 bytes_of(u64 Op::*argument, const Op &op, const Kernel &kernel) {
    if (argument == &Op::w && op.w_stride)
        return op.n * op.w_stride; // padding after the last row too
    const OpContract *contract = contract_of(op.kind);
    return operand_bytes(contract ? contract->operands : kernel.contract->operands, argument, op,
                         kernel);
}

u64 largest(const hip::Device &device, std::span<const Op> ops,
            std::initializer_list<u64 Op::*> arguments) {
    u64 out = 0;
    for (const Op &op : ops) {
        const Kernel &any = cheapest(device.info().gfx, op);
        for (const auto argument : arguments)
            out = std::max(out, round_up<u64>(bytes_of(argument, op, any), page));
    }
    return out;
}

} // namespace

u64 operand_bytes(std::span<const Operand> operands, u64 Op::*argument, const Op &op,
                  const Kernel &kernel, const Machine &machine) {
    for (const Operand &operand : operands)
        if (operand.argument == argument && !operand.optional)
            return operand.bytes(op, kernel, machine);
    return 0;
}

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

ColdProduct::ColdProduct(const hip::Device &device, std::span<const Op> ops, u64 products,
                         const std::filesystem::path &kernels)
    : device_(device), modules_(device, kernels), start_(device.event()), stop_(device.event()),
      activations_(device.allocate(largest(device, ops, {&Op::a, &Op::x}))),
      c_(device.allocate(largest(device, ops, {&Op::c}))),
      weights_(device, largest(device, ops, {&Op::w}), products == 1 ? 0 : cold_rest) {
    // A product takes up to four pieces: scales and zero points of two launches.
    if (const u64 bytes = largest(device, ops, {&Op::s, &Op::z}))
        scales_.emplace(device, bytes, products == 1 ? 2 * bytes : cold_rest);
    activations_.fill(0);
}

// Loading and allocating are not part of the time.
void ColdProduct::prepare(const Kernel &kernel, const Op &op, const Op &round) {
    if (!contract_of(op.kind)) {
        modules_.function(kernel);
        return;
    }
    const Machine machine = machine_of(device_);
    const Plan whole = plan(op, kernel, machine);
    const u64 bytes = std::max(whole.workspace_bytes, plan(round, kernel, machine).workspace_bytes);
    if (workspace_.size() < bytes) {
        workspace_ = device_.allocate(bytes);
        workspace_.fill(0);
    }
    whole.each_kernel([&](const Kernel &k) { modules_.function(k); });
}

void ColdProduct::queue(const Kernel &kernel, Op op, Workgroups workgroups) {
    const auto cold = [&](u64 Op::*argument, Rotation &rotation) {
        const u64 bytes = bytes_of(argument, op, kernel);
        op.*argument = bytes ? address(rotation.take(bytes)) : 0;
    };
    for (const auto argument : {&Op::a, &Op::x}) // where both may be, one is optional
        op.*argument = bytes_of(argument, op, kernel) ? address(activations_.data()) : 0;
    op.c = address(c_.data());
    cold(&Op::w, weights_);
    if (scales_) {
        cold(&Op::s, *scales_);
        cold(&Op::z, *scales_);
    }
    if (workgroups == Workgroups::one_round)
        op.groups = ceil_div<u64>(op.n, kernel.rows_per_workgroup);
    if (!contract_of(op.kind)) {
        device_.record(start_);
        launch(modules_, kernel, op);
    } else {
        op.workspace = address(workspace_.data());
        op.workspace_bytes = workspace_.size();
        const Plan all = plan(op, kernel, machine_of(device_));
        device_.record(start_);
        launch(modules_, all);
    }
    device_.record(stop_);
}

f64 ColdProduct::us(const Kernel &kernel, const Op &op, const std::function<void()> &launched,
                    Workgroups workgroups) {
    const u64 rows = op.waves != automatic ? op.waves * kernel.p.rows
                     : kernel.p.bn         ? kernel.p.bn
                                           : kernel.rows_per_workgroup;
    Op round = op;
    round.n = std::min(op.n, device_.info().wgps * rows);
    prepare(kernel, op, round);
    for (const Op &one : {round, op}) {
        queue(kernel, one, workgroups);
        if (launched) {
            device_.synchronize();
            launched();
        }
    }
    const f64 us = 1000 * f64{device_.elapsed_ms(start_, stop_)};
    need_time(device_, us);
    return us;
}

f64 ColdProduct::us_as_new(const Kernel &kernel, const Op &op) {
    prepare(kernel, op, op);
    queue(kernel, op, Workgroups::stay);
    return 1000 * f64{device_.elapsed_ms(start_, stop_)};
}

std::vector<Op> ops_of(std::span<const ProductShape> shapes) {
    std::vector<Op> out;
    for (const ProductShape &p : shapes)
        out.push_back(p.op());
    return out;
}

Published published_kernel(std::string_view gfx, const ProductShape &p) {
    Op op = p.op();
    op.kind = OpKind::splitk_w4a16;
    op.zeros = find_word(p.zeros == Zeros::eight ? "sym" : "zp");
    const auto all = kernels_for(gfx, op, References::with);
    if (all.empty())
        throw Error(fmt::format("splitk_w4a16: no kernel for {} g{} m{} k{} on {}; "
                                "asm/splitk_w4a16/family.toml lists what there is",
                                name(p.dtype), group_name(p.group), p.m, p.k, gfx));
    all.front()->contract->settle(op, *all.front(), usual_machine(gfx));
    op.groups = automatic; // a workgroup for each WGP of the device
    return {*all.front(), op};
}

f64 published_us(ColdProduct &product, std::string_view gfx, const ProductShape &p) {
    const auto &[kernel, op] = published_kernel(gfx, p);
    return product.us(kernel, op);
}

const Kernel &chosen_kernel(std::string_view gfx, const ProductShape &p) {
    return choose(gfx, p.op());
}

} // namespace nw
