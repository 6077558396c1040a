// SPDX-License-Identifier: MIT
#include "measure/cold_gguf.h"

#include <algorithm>

#include "runtime/gguf_linear.h"

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

void ColdGguf::queue(const Kernel &kernel, const GgufShape &p) {
    const GgufRoute route = gguf_route(kernel, p.type, p.m, p.n, p.k);
    const GgufLinear args{p.type,
                          p.m,
                          p.n,
                          p.k,
                          x_.data(),
                          u64{4} * p.k,
                          weights_.take(p.weight_bytes()),
                          c_.data(),
                          workspace_.data(),
                          workspace_.size()};
    device_.record(start_);
    launch(modules_, route, args);
    device_.record(stop_);
}

f64 ColdGguf::us(const Kernel &kernel, const GgufShape &p) {
    const GgufRoute route = gguf_route(kernel, p.type, p.m, p.n, p.k);
    const u32 wgps = device_.info().wgps;
    GgufShape round = p; // brings the code to where later launches find it
    round.n = std::min(p.n, wgps * kernel.rows_per_workgroup);
    u64 bytes = gguf_route_workspace(route, p.m, p.n, p.k, wgps);
    bytes = std::max(bytes, gguf_route_workspace(gguf_route(kernel, p.type, p.m, round.n, p.k), p.m,
                                                 round.n, p.k, wgps));
    if (workspace_.size() < bytes) {
        workspace_ = device_.allocate(bytes);
        workspace_.fill(0);
    }
    for (const Kernel *k : {route.convert, route.kernel, route.last})
        modules_.function(*k); // loading is no part of the time
    queue(kernel, round);
    queue(kernel, p);
    const f64 us = 1000 * f64{device_.elapsed_ms(start_, stop_)};
    need_time(device_, us);
    return us;
}

} // namespace nw
