// SPDX-License-Identifier: MIT
#include "api/product.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

#include "base/half.h"
#include "base/rng.h"

namespace api_test {

namespace {

// Read by the simulated library at its first call, which comes later.
[[maybe_unused]] const int devices =
    setenv("HIPSIM_ARCH", "gfx1151,gfx1201,gfx1151,gfx1100,gfx1030", 1);

constexpr u8 between_rows = 0xff; // NaN as a scale

// A matrix of `rows` rows in bytes.
struct Rows {
    Rows(u64 rows, u64 row_bytes, u64 multiple, u64 padding)
        : stride(round_up(row_bytes, multiple) + padding), bytes(rows * stride, between_rows) {
        for (u64 row = 0; row < rows; ++row)
            std::memset(bytes.data() + row * stride, 0, row_bytes);
    }
    template <class T> T &at(u64 row, u64 column) {
        return reinterpret_cast<T *>(bytes.data() + row * stride)[column];
    }
    const u64 stride;
    std::vector<u8> bytes;
};

Dtype type_of(int dtype) { return dtype == NW_BF16 ? Dtype::bf16 : Dtype::f16; }

struct Operands {
    explicit Operands(const Shape &);
    void set_group(Rng &, u32 n, u32 g);
    void set_zero(u32 n, u32 g, u32 zero);
    void add_weight(u32 n, u32 k, u32 q, u32 zero, f64 scale);
    void join_halves();

    const Shape &shape;
    const Dtype type;
    const u32 length, groups;
    const bool packed, carrier;
    Rows a, w, s, z, bias;
    std::vector<f64> exact, bound;
};

Operands::Operands(const Shape &p)
    : shape(p), type(type_of(p.dtype)), length(p.group == NW_PER_ROW ? p.k : p.group),
      groups(p.k / length), packed(p.zeros == NW_ZEROS_PACKED),
      carrier(p.zeros == NW_ZEROS_CARRIER), a(p.m, 2 * p.k, 1, 0),
      w(p.n, p.k / 2, 16, 16 * p.padding),
      s(p.n, (carrier ? 4 : 2) * groups, 2, (carrier ? 4 : 2) * p.padding),
      z(packed ? (p.n + 7) / 8 : p.n, (packed ? 4 : 2) * groups, 4, 4 * p.padding),
      bias(1, 2 * p.n, 1, 0), exact(u64{p.m} * p.n), bound(exact.size()) {}

void Operands::set_zero(u32 n, u32 g, u32 zero) {
    if (packed)
        z.at<u32>(n / 8, g) |= zero << 4 * (n % 8);
    else if (carrier)
        s.at<u16>(n, 2 * g + 1) = type == Dtype::bf16
                                      ? static_cast<u16>(zero)
                                      : round_to(type, -to_f32(type, s.at<u16>(n, 2 * g)) * zero);
    else
        z.at<u16>(n, g) = round_to(type, zero);
}

// The nibbles of a dword are k = 0 2 4 6 1 3 5 7. The bound is the one nibblewave.h states.
void Operands::add_weight(u32 n, u32 k, u32 q, u32 zero, f64 scale) {
    w.at<u32>(n, k / 8) |= q << 4 * (k % 2 * 4 + k % 8 / 2);
    const f64 weight = (static_cast<f64>(q) - zero) * scale,
              least = type == Dtype::bf16 ? 0 : 0x1p-14;
    f64 size = scale, relative = type == Dtype::bf16 ? 0x1p-9 : 0x1p-11;
    if (shape.prefill()) {
        size = std::fmax(std::fabs(weight), least);
        size += carrier && type == Dtype::f16 ? zero * scale : 0;
        relative = (type == Dtype::bf16 ? 0x1p-8 : 0x1p-11) + (shape.k + 8) * 0x1p-24;
    } else if (shape.mid()) {
        relative = type == Dtype::bf16 ? 0x1p-8 + shape.k * 0xap-24 : 0x1p-12 + shape.k * 0x1p-25;
    }
    for (u32 m = 0; m < shape.m; ++m) {
        const f64 x = to_f32(type, a.at<u16>(m, k));
        exact[m * shape.n + n] += x * weight;
        bound[m * shape.n + n] += relative * std::fmax(std::fabs(x), least) * size;
    }
}

// SiLU(gate) * up: its slope is below 1.1, f32 arithmetic adds a few 2^-24 of the result.
void Operands::join_halves() {
    const u32 columns = shape.columns();
    std::vector<f64> y, off;
    for (u64 i = 0; i < u64{shape.m} * columns; ++i) {
        const u64 gate = i / columns * shape.n + i % columns, up = gate + columns;
        const f64 silu = exact[gate] / (1 + std::exp(-exact[gate])), silu_off = 1.1 * bound[gate];
        y.push_back(silu * exact[up]);
        off.push_back(silu_off * (std::fabs(exact[up]) + bound[up]) + std::fabs(silu) * bound[up] +
                      0x1p-18 * std::fabs(y.back()));
    }
    exact = y;
    bound = off;
}

void Operands::set_group(Rng &random, u32 n, u32 g) {
    const u32 zero = shape.zeros == NW_ZEROS_EIGHT ? 8 : random.below(16);
    const u16 stored = round_to(type, (1 + random.unit()) / 64);
    const f64 scale = to_f32(type, stored);
    s.at<u16>(n, carrier ? 2 * g : g) = stored;
    set_zero(n, g, zero);
    for (u32 k = g * length; k < (g + 1) * length; ++k) {
        const u32 q = random.below(16);
        add_weight(n, k, q, zero, scale);
    }
}

Operands make(const Shape &p, u64 seed) {
    Operands out(p);
    Rng random(seed);
    for (u32 m = 0; m < p.m; ++m)
        for (u32 k = 0; k < p.k; ++k)
            out.a.at<u16>(m, k) = round_to(out.type, random.normal());
    for (u32 n = 0; n < p.n; ++n) {
        for (u32 g = 0; g < out.groups; ++g)
            out.set_group(random, n, g);
        const u16 bias = round_to(out.type, p.bias ? random.normal() : 0);
        out.bias.at<u16>(0, n) = bias;
        for (u32 m = 0; m < p.m; ++m)
            out.exact[m * p.n + n] += to_f32(out.type, bias);
    }
    if (p.silu)
        out.join_halves();
    return out;
}

} // namespace

Context::Context(const char *directory) { NW_DONE(nw_context_create(directory, &handle)); }

Memory::Memory(u64 bytes) : size(bytes) { HIP_OK(hipMalloc(&data, bytes)); }

Memory::Memory(const std::vector<u8> &contents) : Memory(contents.size()) {
    HIP_OK(hipMemcpy(data, contents.data(), size, hipMemcpyHostToDevice));
}

void *Product::upload(const std::vector<u8> &contents) {
    return memory_.emplace_back(std::make_unique<Memory>(contents))->data;
}

Product::Product(const Shape &shape, u64 seed) {
    const Operands made = make(shape, seed);
    nw_w4a16 &p = arguments_;
    p.dtype = shape.dtype, p.zeros = shape.zeros, p.group = shape.group;
    p.m = shape.m, p.n = shape.n, p.k = shape.k;
    p.a = upload(made.a.bytes), p.w = upload(made.w.bytes), p.s = upload(made.s.bytes);
    p.w_stride = made.w.stride, p.s_stride = made.s.stride;
    p.silu_gate_up = shape.silu;
    if (shape.zeros == NW_ZEROS_PACKED || shape.zeros == NW_ZEROS_TYPED)
        p.z = upload(made.z.bytes), p.z_stride = made.z.stride;
    if (shape.bias)
        p.bias = upload(made.bias.bytes);
    exact_ = made.exact;
    bound_ = made.bound;
    p.c = upload(std::vector<u8>(2 * exact_.size()));
    clear();
}

void Product::clear() {
    HIP_OK(hipMemset(arguments_.c, 0xff, 2 * exact_.size()));
    HIP_OK(hipDeviceSynchronize());
}

std::vector<u16> Product::result() const {
    std::vector<u16> out(exact_.size());
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipMemcpy(out.data(), arguments_.c, 2 * out.size(), hipMemcpyDeviceToHost));
    return out;
}

bool Product::untouched() const { return result() == std::vector<u16>(exact_.size(), 0xffff); }

std::string Product::difference() const {
    const Dtype type = type_of(arguments_.dtype);
    const std::vector<u16> c = result();
    for (u64 i = 0; i < c.size(); ++i) {
        const f64 got = to_f32(type, c[i]), bound = bound_[i] + ulp(type, exact_[i]) / 2;
        if (!(std::fabs(got - exact_[i]) <= bound))
            return fmt::format("c[{}] is {}, exact is {}", i, got, exact_[i]);
    }
    return {};
}

} // namespace api_test
