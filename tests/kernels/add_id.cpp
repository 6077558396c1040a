// SPDX-License-Identifier: MIT
// add_id: equal to one rounding of the host's, indices repeated and outside, in place and not.
#include "ref/add_id.h"

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

struct Case {
    u32 k, n1, n2, experts;
    u64 pad = 0; // elements between rows
    bool in_place = false, outside = false;
};

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("k={} n1={} n2={} experts={} pad={} in_place={} outside={}", p.k, p.n1,
                        p.n2, p.experts, p.pad, p.in_place, p.outside));
    const Tensor of_a = check::tensor({p.k, p.n1, p.n2, 1}, 4, p.pad),
                 of_b = check::tensor({p.k, p.experts, 1, 1}, 4, 2 * p.pad),
                 of_ids = check::tensor({p.n1, p.n2, 1, 1}, 4, p.pad),
                 of_c = p.in_place ? of_a : check::tensor({p.k, p.n1, p.n2, 1}, 4, p.pad + 1);
    const std::vector<f32> left = check::hard_values(t.rng, of_a.elements()),
                           right = check::hard_values(t.rng, of_b.elements(), true);
    std::vector<i32> indices(of_ids.elements());
    for (i32 &id : indices)
        id = static_cast<i32>(t.rng.below(p.experts));
    if (p.outside) {
        indices[0] = -1;
        indices[1] = static_cast<i32>(p.experts);
    }
    const Region a = t.region<u8>(check::placed(of_a, left)),
                 b = t.region<u8>(check::placed(of_b, right)),
                 ids = t.region<u8>(check::placed(of_ids, indices)),
                 own = t.region<u8>(std::vector<u8>(of_c.bytes(), Tensor::poison));
    const Region &c = p.in_place ? a : own;
    launch(t.modules, kernel,
           ops::AddId{.k = p.k,
                      .n1 = p.n1,
                      .n2 = p.n2,
                      .experts = p.experts,
                      .a = static_cast<const f32 *>(a.data()),
                      .b = static_cast<const f32 *>(b.data()),
                      .ids = static_cast<const i32 *>(ids.data()),
                      .c = static_cast<f32 *>(c.data()),
                      .a_s1 = of_a.stride[1],
                      .a_s2 = of_a.stride[2],
                      .b_s1 = of_b.stride[1],
                      .c_s1 = of_c.stride[1],
                      .c_s2 = of_c.stride[2],
                      .ids_stride = of_ids.stride[1]});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("b", b, where);
    t.unchanged("ids", ids, where);
    if (!p.in_place)
        t.unchanged("a", a, where);
    const std::vector<f32> got = check::taken<f32>(t, "c", of_c, c, where),
                           want = ref::add_id(left, right, indices, p.k);
    for (u64 i = 0; i < want.size(); ++i)
        if (std::isnan(want[i]) ? !std::isnan(got[i])
                                : std::bit_cast<u32>(got[i]) != std::bit_cast<u32>(want[i]))
            return t.fail(fmt::format("c of row {}, [{}], is {:a}, not {:a}", i / p.k, i % p.k,
                                      got[i], want[i]),
                          where);
}

} // namespace

CHECK_FAMILY(add_id) {
    const u32 span = 128 * kernel.number("pieces");
    if (t.entry)
        return check_case(t, kernel, {.k = span + 5, .n1 = 3, .n2 = 2, .experts = 4});
    check_case(t, kernel, {.k = span + 6, .n1 = 4, .n2 = 3, .experts = 5, .pad = 3});
    check_case(t, kernel, {.k = 129, .n1 = 2, .n2 = 3, .experts = 4, .pad = 1, .in_place = true});
    check_case(t, kernel, {.k = 33, .n1 = 4, .n2 = 2, .experts = 3, .outside = true});
    if (t.checkers)
        return;
    check_case(t, kernel, {.k = 2880, .n1 = 4, .n2 = 33, .experts = 32});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel, {.k = shape.k, .n1 = 2, .n2 = 2, .experts = 2});
}
