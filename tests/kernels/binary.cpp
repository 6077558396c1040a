// SPDX-License-Identifier: MIT
// binary: equal to one rounding of the host's, and another to c's type, for every way to repeat b,
// types that differ, strides in any order, of elements too, in place and not.
#include "ref/binary.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/half.h"
#include "check/check.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

enum class Place { apart, a, b };

struct Case {
    ref::Shape n, b_n;
    u64 pad = 0; // elements between rows
    bool permuted = false, hard = false;
    Place place = Place::apart;
    // types: a, b, c. turned: elements of a and c lie apart, others of their second rows between
    // them.
    std::array<const char *, 3> types = {"f32", "f32", "f32"};
    bool turned = false;
};

u64 size_of(std::string_view type) { return type == "f32" ? 4 : 2; }

f32 rounded(std::string_view type, f32 x) {
    return type == "f16"    ? f16_to_f32(f32_to_f16(x))
           : type == "bf16" ? bf16_to_f32(f32_to_bf16(x))
                            : x;
}

// The values as elements of the type, in the tensor's memory.
std::vector<u8> stored(const Tensor &in, std::string_view type, const std::vector<f32> &values) {
    if (type == "f32")
        return check::placed(in, values);
    std::vector<u16> halves;
    for (const f32 x : values)
        halves.push_back(type == "f16" ? f32_to_f16(x) : f32_to_bf16(x));
    return check::placed(in, halves);
}

std::vector<f32> read(Test &t, const Tensor &in, std::string_view type, const Region &region,
                      std::source_location where) {
    if (type == "f32")
        return check::taken<f32>(t, "c", in, region, where);
    std::vector<f32> out;
    for (const u16 half : check::taken<u16>(t, "c", in, region, where))
        out.push_back(type == "f16" ? f16_to_f32(half) : bf16_to_f32(half));
    return out;
}

// Memory of a or c. Turned, elements are the tensor's second dimension.
Tensor memory_of(const Case &p, std::string_view type, bool permuted) {
    if (!p.turned)
        return check::tensor(p.n, size_of(type), p.pad, permuted);
    return check::tensor({1, p.n[0], p.n[1], p.n[2]}, size_of(type), p.pad, true);
}

u64 stride_of(const Case &p, const Tensor &in, int dimension) {
    if (!p.turned)
        return in.stride[dimension];
    return dimension == 3 ? 0 : in.stride[dimension + 1];
}

// Quotients below 2^-126 may be rounded twice, those to halves by a rounding in f32 anyway.
bool equal(f32 got, f32 want, bool quotient) {
    if (std::isnan(want))
        return std::isnan(got);
    const bool subnormal = quotient && std::fabs(want) <= 0x1p-126f && std::isfinite(got);
    return std::bit_cast<u32>(got) == std::bit_cast<u32>(want) ||
           (subnormal && std::fabs(f64{got} - want) <= 0x1p-149);
}

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    const auto [a_type, b_type, c_type] = p.types;
    t.shape(fmt::format("a {} b {} pad={} permuted={} place={} types {} turned={}",
                        fmt::join(p.n, "x"), fmt::join(p.b_n, "x"), p.pad, p.permuted,
                        static_cast<int>(p.place), fmt::join(p.types, " "), p.turned));
    const Tensor a = memory_of(p, a_type, p.permuted),
                 b = check::tensor(p.b_n, size_of(b_type), 2 * p.pad, p.permuted),
                 c = p.place == Place::a   ? a
                     : p.place == Place::b ? b
                                           : memory_of(p, c_type, false);
    std::vector<f32> x = p.hard ? check::hard_values(t.rng, a.elements())
                                : check::normal_values(t.rng, a.elements()),
                     y = p.hard ? check::hard_values(t.rng, b.elements(), true)
                                : check::normal_values(t.rng, b.elements());
    for (f32 &one : x)
        one = rounded(a_type, one);
    for (f32 &one : y)
        one = rounded(b_type, one);
    const Region left = t.region<u8>(stored(a, a_type, x)),
                 right = t.region<u8>(stored(b, b_type, y)),
                 own = t.region<u8>(std::vector<u8>(c.bytes(), Tensor::poison));
    const Region &out = p.place == Place::a ? left : p.place == Place::b ? right : own;
    launch(t.modules, kernel,
           ops::Binary{.function = kernel.param("function"),
                       .a_type = a_type,
                       .b_type = b_type,
                       .c_type = c_type,
                       .k = p.n[0],
                       .n1 = p.n[1],
                       .n2 = p.n[2],
                       .n3 = p.n[3],
                       .b_k = p.b_n[0],
                       .b_n1 = p.b_n[1],
                       .b_n2 = p.b_n[2],
                       .b_n3 = p.b_n[3],
                       .a = left.data(),
                       .b = right.data(),
                       .c = out.data(),
                       .a_s0 = stride_of(p, a, 0),
                       .b_s0 = b.stride[0],
                       .c_s0 = stride_of(p, c, 0),
                       .a_s1 = stride_of(p, a, 1),
                       .a_s2 = stride_of(p, a, 2),
                       .a_s3 = stride_of(p, a, 3),
                       .b_s1 = b.stride[1],
                       .b_s2 = b.stride[2],
                       .b_s3 = b.stride[3],
                       .c_s1 = stride_of(p, c, 1),
                       .c_s2 = stride_of(p, c, 2),
                       .c_s3 = stride_of(p, c, 3)});
    t.modules.device().synchronize();
    ++t.launches;
    if (p.place != Place::a)
        t.unchanged("a", left, where);
    if (p.place != Place::b)
        t.unchanged("b", right, where);
    const std::vector<f32> got = read(t, c, c_type, out, where),
                           want = ref::binary(kernel.param("function"), x, p.n, y, p.b_n);
    for (u64 i = 0; i < want.size(); ++i)
        if (!equal(got[i], rounded(c_type, want[i]), kernel.param("function") == "div"))
            return t.fail(fmt::format("c[{}] is {:a}, not {:a}", i, got[i], want[i]), where);
}

} // namespace

CHECK_FAMILY(binary) {
    const u32 width = kernel.number("width"), span = 32 * width * kernel.number("pieces");
    if (t.entry)
        return check_case(t, kernel, {{span + 4, 5, 1, 1}, {span + 4, 5, 1, 1}});
    const u32 k = span + 4;
    check_case(t, kernel, {.n = {k, 4, 3, 2}, .b_n = {k, 4, 3, 2}, .pad = 8, .permuted = true});
    check_case(t, kernel, {.n = {400, 1, 1, 1}, .b_n = {400, 1, 1, 1}, .hard = true});
    check_case(t, kernel, {.n = {k, 6, 4, 2}, .b_n = {k, 3, 1, 2}, .pad = 4}); // rows repeat
    check_case(t, kernel, {.n = {k, 3, 2, 1}, .b_n = {1, 3, 2, 1}, .pad = 4}); // one for a row
    check_case(t, kernel,
               {.n = {8 * width, 3, 5, 1}, .b_n = {2 * width, 1, 5, 1}}); // columns repeat
    check_case(t, kernel, {.n = {k, 3, 1, 1}, .b_n = {k, 1, 1, 1}, .place = Place::a});
    check_case(t, kernel, {.n = {k, 3, 2, 1}, .b_n = {k, 3, 2, 1}, .pad = 4, .place = Place::a});
    if (width == 1) {
        for (const auto &types : {std::array{"f16", "f16", "f16"},
                                  {"bf16", "f32", "bf16"},
                                  {"f32", "f16", "f32"},
                                  {"f16", "f32", "f32"}})
            check_case(t, kernel,
                       {.n = {75, 3, 4, 1}, .b_n = {25, 1, 4, 1}, .pad = 1, .types = types});
        check_case(t, kernel, {.n = {9, 5, 4, 1}, .b_n = {3, 5, 1, 1}, .pad = 2, .turned = true});
        check_case(t, kernel,
                   {.n = {33, 7, 2, 1},
                    .b_n = {33, 1, 2, 1},
                    .place = Place::a,
                    .types = {"f16", "bf16", "f16"}});
    }
    if (t.checkers)
        return;
    check_case(t, kernel, {.n = {k, 3, 2, 1}, .b_n = {k, 3, 2, 1}, .pad = 0, .place = Place::b});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.n = {shape.k, 2, 1, 1}, .b_n = {shape.k, 1, 1, 1}, .hard = true});
    if (width == 1)
        for (const u32 b_k : {1u, 3u, 7u, 21u, 105u})
            check_case(t, kernel, {.n = {105, 2, 2, 2}, .b_n = {b_k, 2, 1, 1}, .pad = 3});
}
