// SPDX-License-Identifier: MIT
// permute_a: every activation where the list has it, and nothing past the rows.
#include <fmt/format.h>
#include <numeric>

#include "check/check.h"
#include "check/ops.h"
#include "permutation.h"

using namespace nw;
using check::Test;

namespace {

void check_rows(Test &t, const Kernel &kernel, u32 m, u32 k, const std::vector<u32> &perm,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={}", m, k));
    std::vector<u16> from(u64{m} * k);
    for (u16 &x : from)
        x = static_cast<u16>(t.rng.below(1 << 16)); // NaN too: these are bits
    const check::Region a = t.region<u16>(from), order = t.region<u32>(perm),
                        y = t.region<u16>(std::vector<u16>(from.size(), nan_poison));
    launch(t.modules, kernel, PermuteA{m, k, a.data(), order.data(), y.data()});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("a", a, where);
    t.unchanged("perm", order, where);
    t.guards_clean("y", y, where);
    t.same("y", Dtype::f16, y.read_as<u16>(), permuted(from, perm), where);
}

} // namespace

CHECK_FAMILY(permute_a) {
    if (t.entry)
        return check_rows(t, kernel, 2, 64, permutation(64, t.rng));
    for (const auto &shape : check::edge_shapes(kernel))
        check_rows(t, kernel, shape.m, shape.k, permutation(shape.k, t.rng));
    check_rows(t, kernel, 5, 4096, permutation(4096, t.rng));
    if (t.checkers)
        return;
    check_rows(t, kernel, 2, 32768, permutation(32768, t.rng));
    // Lists that are no permutation: all the same one, and backwards.
    check_rows(t, kernel, 2, 4096, std::vector<u32>(4096, 4095));
    std::vector<u32> backwards(4096);
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    check_rows(t, kernel, 1, 4096, backwards);
}
