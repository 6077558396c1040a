// SPDX-License-Identifier: MIT
// One instruction's lane kernel, called directly: no wave, no code object.
#pragma once
#include <bit>
#include <stdexcept>
#include <string>

#include "sim/func/alu/frames.h"

namespace nw::sim::test {

// MODE with these fields for f32 and for f16 and f64; IEEE and DX10_CLAMP on.
inline Mode make_mode(u32 round, u32 denorm, bool gfx12 = false) {
    Mode m;
    m.gfx12 = gfx12;
    m.bits = round | round << 2 | denorm << 4 | denorm << 6 | 3 << 8;
    m.update();
    return m;
}

inline LaneKernel kernel_of(const std::string &name) {
    Op op = find_op(name);
    LaneKernel kernel = frames().lane[static_cast<size_t>(op)];
    if (!kernel)
        throw std::runtime_error("no lane kernel for " + name);
    return kernel;
}

// The host's FPU as the frames set it for this row.
inline u32 host_control(const std::string &name, const Mode &m) {
    const OpInfo &r = info(find_op(name));
    bool wide = (r.a == Type::f64 && r.d != Type::f32) || (r.d == Type::f64 && r.a != Type::f32);
    u32 host = wide ? m.mxcsr64 : m.mxcsr32;
    return r.d == Type::f16 || r.cls == Class::trans ? host & ~(3u << 13) : host;
}

inline void lane_op(const char *name, Row &d, const Row &a) {
    static const Mode m = make_mode(0, 3);
    static std::string last;
    static LaneKernel kernel;
    if (last != name)
        kernel = kernel_of(last = name);
    kernel(d.lane, a.lane, a.lane, a.lane, ~0u, m);
}

// One lane's result of up to three 32-bit (or 16-bit) sources.
inline u32 lane_op(const std::string &name, u32 a, const Mode &m, u32 b = 0, u32 c = 0) {
    Row d{}, x, y, z;
    for (u32 l = 0; l < row_lanes; ++l)
        x.lane[l] = a, y.lane[l] = b, z.lane[l] = c;
    LaneKernel kernel = kernel_of(name);
    MxcsrScope scope(host_control(name, m));
    kernel(d.lane, x.lane, y.lane, z.lane, ~0u, m);
    return d.lane[17];
}
inline u32 lane_op(const std::string &name, u32 a) { return lane_op(name, a, make_mode(0, 3)); }

inline u64 lane_op64(const std::string &name, u64 a, const Mode &m = make_mode(0, 3), u64 b = 0,
                     u64 c = 0) {
    Row rows[4][2] = {};
    u64 values[4] = {0, a, b, c};
    for (u32 n = 0; n < 4; ++n)
        for (u32 l = 0; l < row_lanes; ++l) {
            rows[n][0].lane[l] = static_cast<u32>(values[n]);
            rows[n][1].lane[l] = static_cast<u32>(values[n] >> 32);
        }
    LaneKernel kernel = kernel_of(name);
    MxcsrScope scope(host_control(name, m));
    kernel(rows[0][0].lane, rows[1][0].lane, rows[2][0].lane, rows[3][0].lane, ~0u, m);
    return rows[0][0].lane[9] | u64{rows[0][1].lane[9]} << 32;
}

} // namespace nw::sim::test
