// SPDX-License-Identifier: MIT
// binary: equal to one rounding of the host's, for every way to repeat b, strides in any order, in
// place and not.
#include "ref/binary.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

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
};

// Quotients below 2^-126 may be rounded twice.
bool equal(f32 got, f32 want, bool quotient) {
    if (std::isnan(want))
        return std::isnan(got);
    const bool subnormal = quotient && std::fabs(want) <= 0x1p-126f && std::isfinite(got);
    return std::bit_cast<u32>(got) == std::bit_cast<u32>(want) ||
           (subnormal && std::fabs(f64{got} - want) <= 0x1p-149);
}

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("a {} b {} pad={} permuted={} place={}", fmt::join(p.n, "x"),
                        fmt::join(p.b_n, "x"), p.pad, p.permuted, static_cast<int>(p.place)));
    const Tensor a = check::tensor(p.n, 4, p.pad, p.permuted),
                 b = check::tensor(p.b_n, 4, 2 * p.pad, p.permuted),
                 c = p.place == Place::a   ? a
                     : p.place == Place::b ? b
                                           : check::tensor(p.n, 4, p.pad);
    const std::vector<f32> x = p.hard ? check::hard_values(t.rng, a.elements())
                                      : check::normal_values(t.rng, a.elements()),
                           y = p.hard ? check::hard_values(t.rng, b.elements(), true)
                                      : check::normal_values(t.rng, b.elements());
    const Region left = t.region<u8>(check::placed(a, x)),
                 right = t.region<u8>(check::placed(b, y)),
                 own = t.region<u8>(std::vector<u8>(c.bytes(), Tensor::poison));
    const Region &out = p.place == Place::a ? left : p.place == Place::b ? right : own;
    launch(t.modules, kernel,
           ops::Binary{.function = kernel.param("function"),
                       .k = p.n[0],
                       .n1 = p.n[1],
                       .n2 = p.n[2],
                       .n3 = p.n[3],
                       .b_k = p.b_n[0],
                       .b_n1 = p.b_n[1],
                       .b_n2 = p.b_n[2],
                       .b_n3 = p.b_n[3],
                       .a = static_cast<const f32 *>(left.data()),
                       .b = static_cast<const f32 *>(right.data()),
                       .c = static_cast<f32 *>(out.data()),
                       .a_s1 = a.stride[1],
                       .a_s2 = a.stride[2],
                       .a_s3 = a.stride[3],
                       .b_s1 = b.stride[1],
                       .b_s2 = b.stride[2],
                       .b_s3 = b.stride[3],
                       .c_s1 = c.stride[1],
                       .c_s2 = c.stride[2],
                       .c_s3 = c.stride[3]});
    t.modules.device().synchronize();
    ++t.launches;
    if (p.place != Place::a)
        t.unchanged("a", left, where);
    if (p.place != Place::b)
        t.unchanged("b", right, where);
    const std::vector<f32> got = check::taken<f32>(t, "c", c, out, where),
                           want = ref::binary(kernel.param("function"), x, p.n, y, p.b_n);
    for (u64 i = 0; i < want.size(); ++i)
        if (!equal(got[i], want[i], kernel.param("function") == "div"))
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
    if (t.checkers)
        return;
    check_case(t, kernel, {.n = {k, 3, 2, 1}, .b_n = {k, 3, 2, 1}, .pad = 0, .place = Place::b});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.n = {shape.k, 2, 1, 1}, .b_n = {shape.k, 1, 1, 1}, .hard = true});
    if (width == 1)
        for (const u32 b_k : {1u, 3u, 7u, 21u, 105u})
            check_case(t, kernel, {.n = {105, 2, 2, 2}, .b_n = {b_k, 2, 1, 1}, .pad = 3});
}
