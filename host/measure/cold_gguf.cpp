// SPDX-License-Identifier: MIT
#include "measure/cold_gguf.h"

#include <algorithm>

namespace nw {

namespace {

template <class Bytes> u64 largest(std::span<const GgufShape> shapes, const Bytes &bytes) {
    u64 out = 0;
    for (const GgufShape &p : shapes)
        out = std::max<u64>(out, bytes(p));
    return out;
}

} // namespace

ColdGguf::ColdGguf(const hip::Device &device, std::span<const GgufShape> shapes, u64 products,
                   const std::filesystem::path &kernels)
    : device_(device), modules_(device, kernels), start_(device.event()), stop_(device.event()),
      x_(device.allocate(largest(shapes, [](const auto &p) { return u64{4} * p.m * p.k; }))),
      c_(device.allocate(largest(shapes, [](const auto &p) { return u64{4} * p.m * p.n; }))),
      weights_(device, largest(shapes, [](const auto &p) { return p.weight_bytes(); }),
               products == 1 ? 0 : cold_rest) {
    x_.fill(0); // times do not depend on values, but nothing reads what nobody wrote
}

Plan ColdGguf::plan_of(const Kernel &kernel, const GgufShape &p) const {
    return plan(p.op(), kernel, machine_of(device_));
}

void ColdGguf::queue(const Kernel &kernel, const GgufShape &p) {
    Plan plan = plan_of(kernel, p);
    plan.op.x = address(x_.data());
    plan.op.x_stride = u64{4} * p.k;
    plan.op.w = address(weights_.take(p.weight_bytes()));
    plan.op.c = address(c_.data());
    plan.op.workspace = address(workspace_.data());
    plan.op.workspace_bytes = workspace_.size();
    device_.record(start_);
    launch(modules_, plan);
    device_.record(stop_);
}

f64 ColdGguf::us(const Kernel &kernel, const GgufShape &p) {
    GgufShape round = p; // brings the code to where later launches find it
    round.n = std::min(p.n, device_.info().wgps * kernel.rows_per_workgroup);
    const Plan whole = plan_of(kernel, p);
    const u64 bytes = std::max(whole.workspace_bytes, plan_of(kernel, round).workspace_bytes);
    if (workspace_.size() < bytes) {
        workspace_ = device_.allocate(bytes);
        workspace_.fill(0);
    }
    whole.each_kernel([&](const Kernel &k) { modules_.function(k); }); // no part of the time
    queue(kernel, round);
    queue(kernel, p);
    const f64 us = 1000 * f64{device_.elapsed_ms(start_, stop_)};
    need_time(device_, us);
    return us;
}

} // namespace nw
