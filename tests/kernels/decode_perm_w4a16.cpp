// SPDX-License-Identifier: MIT
// decode_perm_w4a16: the same bits as decode_w4a16 on permuted activations, if that has the same
// method for the number of rows; and within its bound of the reference.
#include <algorithm>
#include <fmt/format.h>

#include "check/decode_bound.h"
#include "decode_case.h"
#include "permutation.h"

using namespace nw;
using check::Test;

namespace {

constexpr u32 k_per_step = 1024;

bool same_method(const Kernel &plain, const Kernel &kernel) {
    return plain.family == "decode_w4a16" && plain.param("dtype") == kernel.param("dtype") &&
           plain.param("dequant") == kernel.param("dequant") &&
           plain.number("m") == kernel.number("m");
}

// Null if decode_w4a16 has another method for the number of rows.
const Kernel *plain_kernel(const Kernel &kernel) {
    const std::string symbol =
        "decode_w4a16" + std::string(kernel.symbol.substr(kernel.family.size()));
    const Kernel *plain = find_kernel(kernel.gfx, symbol);
    if (plain)
        need_built(*plain);
    else if (std::ranges::any_of(kernels(kernel.gfx),
                                 [&](const Kernel &k) { return same_method(k, kernel); }))
        throw Error(fmt::format("{} {}: no such kernel to compare with", kernel.gfx, symbol));
    return plain;
}

std::vector<u16> run_permuted(Test &t, const Kernel &kernel, const DecodeCase &p,
                              const std::vector<u32> &perm) {
    const check::Region order = t.region<u32>(perm);
    std::vector<u16> c = run(t, p, [&](const W4A16 &product) {
        Op op = product;
        op.kind = OpKind::permuted_w4a16;
        op.perm = address(order.data());
        if (p.workgroups)
            op.groups = p.workgroups;
        launch(t.modules, step(kernel, op, machine_of(t.modules.device())));
    });
    t.unchanged("perm", order);
    return c;
}

void check_product(Test &t, const Kernel &kernel, const DecodeCase &p, const char *what,
                   std::source_location where = std::source_location::current()) {
    const std::vector<u32> perm = permutation(p.k, t.rng);
    DecodeCase before = p;
    before.a = permuted(p.a, perm);
    t.shape(fmt::format("m={} n={} k={} group={} bias={} workgroups={} {}", p.m, p.n, p.k, p.group,
                        p.bias.empty() ? "no" : "yes", p.workgroups, what));
    const std::vector<u16> got = run_permuted(t, kernel, p, perm);
    const ref::DecodeResult exact = ref::decode_w4a16(before.reference());
    t.within("c", p.dtype, got, exact.c, check::decode_bound(kernel, before.reference(), exact),
             where);
    const Kernel *plain = t.checkers || t.entry ? nullptr : plain_kernel(kernel);
    if (plain)
        t.same("c", p.dtype, got, run(t, *plain, before), where);
}

// The longest row that LDS holds.
u32 most_k(const Kernel &kernel) {
    const u32 m = kernel.number("m");
    return m == 3 ? 4096 : 16384 / m;
}

// One load of activations and two, whole and with tails.
void loads(Test &t, const Kernel &kernel) {
    const u32 g = kernel.number("group"), most = most_k(kernel);
    for (u32 k : {g, k_per_step, k_per_step + g, most / 2, most / 2 + g, most - g, most}) {
        DecodeCase p(kernel, 5, k, t.rng);
        if (k != g)
            p.add_bias(t.rng);
        check_product(t, kernel, p, "loads");
    }
}

void rounds_of_rows(Test &t, const Kernel &kernel) {
    for (u32 k : {2 * k_per_step + kernel.number("group"), most_k(kernel)}) {
        DecodeCase p(kernel, 3 * kernel.rows_per_workgroup - 6, k, t.rng);
        p.workgroups = 1;
        check_product(t, kernel, p, "rounds of rows");
    }
}

// A single activation that is not zero meets the weights of its own column alone.
void one_hot(Test &t, const Kernel &kernel) {
    const u32 k = 2 * k_per_step + kernel.number("group");
    DecodeCase p(kernel, 9, k, t.rng);
    for (u32 at : {0u, 1u, 31u, 32u, 1023u, 1024u, k - 1}) {
        std::ranges::fill(p.a, u16{0});
        for (u32 m = 0; m < p.m; ++m)
            p.a[u64{m} * k + (at + 33 * m) % k] = p.word(m % 2 ? -1.5 : 1);
        check_product(t, kernel, p, fmt::format("one-hot at {}", at).c_str());
    }
}

} // namespace

CHECK_FAMILY(decode_perm_w4a16) {
    if (t.entry) {
        DecodeCase p(kernel, kernel.rows_per_workgroup + 1, kernel.number("group"), t.rng);
        return check_product(t, kernel, p, "entry");
    }
    for (const auto &shape : check::edge_shapes(kernel)) {
        DecodeCase p(kernel, shape.n, shape.k, t.rng);
        check_product(t, kernel, p, "edge");
    }
    rounds_of_rows(t, kernel);
    if (t.checkers || !thorough(t, kernel))
        return;
    loads(t, kernel);
    one_hot(t, kernel);
}
