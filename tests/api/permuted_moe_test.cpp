// SPDX-License-Identifier: MIT
// nw_act_order_moe_linear_w4a16: to the bit nw_moe_linear_w4a16 of each slot's activations in its
// expert's order, in graphs too; and what it refuses.
#include <cstring>
#include <functional>

#include "api/product.h"
#include "base/half.h"
#include "kernels/permutation.h"

using namespace api_test;

namespace {

constexpr u32 experts = 3, n = 40, k = 256, group = 64, tokens = 3, top_k = 2,
              slots = tokens * top_k;

template <class T> std::vector<u8> bytes_of(const std::vector<T> &values) {
    std::vector<u8> out(values.size() * sizeof(T));
    std::memcpy(out.data(), values.data(), out.size());
    return out;
}

template <class T, class Draw> std::vector<u8> drawn(u64 count, const Draw &draw) {
    std::vector<T> out(count);
    for (T &value : out)
        value = draw();
    return bytes_of(out);
}

class Mixture {
public:
    Mixture() {
        p.dtype = NW_F16, p.block_size_m = 1, p.blocks = slots, p.slots = slots, p.top_k = top_k;
        p.experts = experts, p.n = n, p.k = k, p.group = group;
        p.a = a.data, p.w = w.data, p.s = s.data, p.c = c.data;
        p.expert_ids = static_cast<const int32_t *>(ids.data);
        p.w_stride = k / 2, p.w_expert = n * k / 2;
        p.s_stride = 2 * k / group, p.s_expert = n * p.s_stride;
    }

    std::vector<u8> result() const {
        std::vector<u8> out(c.size);
        HIP_OK(hipDeviceSynchronize());
        HIP_OK(hipMemcpy(out.data(), c.data, c.size, hipMemcpyDeviceToHost));
        HIP_OK(hipMemset(c.data, 0xff, c.size));
        return out;
    }

    // By nw_permute of each slot, then one product.
    std::vector<u8> slot_by_slot(nw_context *context) const {
        const Memory rows(u64{2} * slots * k);
        for (u32 slot = 0; slot < slots; ++slot) {
            nw_permutation one = NW_PERMUTATION_INIT;
            one.m = 1, one.k = k;
            one.a = static_cast<const u8 *>(a.data) + u64{2} * k * (slot / top_k);
            one.perm = static_cast<const u8 *>(perm.data) + u64{4} * k * expert_of[slot];
            one.y = static_cast<u8 *>(rows.data) + u64{2} * k * slot;
            NW_DONE(nw_permute(context, &one, nullptr));
        }
        nw_moe_w4a16 of_rows = p;
        of_rows.a = rows.data, of_rows.top_k = 1;
        NW_DONE(nw_moe_linear_w4a16(context, &of_rows, nullptr));
        return result();
    }

    std::vector<u32> orders() {
        std::vector<u32> out;
        for (u32 e = 0; e < experts; ++e)
            for (const u32 at : permutation(k, rng))
                out.push_back(at);
        return out;
    }

    Rng rng{5};
    const std::vector<u32> expert_of = {2, 0, 1, 2, 0, 1};
    const std::function<u16()> activation = [&] { return f32_to_f16(rng.normal()); };
    const std::function<u16()> scale = [&] { return f32_to_f16(rng.unit() / 64); };
    const std::function<u8()> byte = [&] { return static_cast<u8>(rng.below(256)); };
    const Memory a{drawn<u16>(u64{tokens} * k, activation)},
        w{drawn<u8>(experts * n * k / 2, byte)}, s{drawn<u16>(u64{experts} * n * k / group, scale)},
        perm{bytes_of(orders())}, ids{bytes_of(expert_of)}, c{u64{2} * slots * n};
    nw_moe_w4a16 p = NW_MOE_W4A16_INIT;
};

} // namespace

TEST_CASE("experts of act-order are to the bit those of permuted slots") {
    const Context context;
    Mixture m;
    for (const int silu : {0, 1}) {
        m.p.silu_gate_up = silu;
        const std::vector<u8> want = m.slot_by_slot(context);
        NW_DONE(nw_act_order_moe_linear_w4a16(context, &m.p, m.perm.data, nullptr));
        CHECK(m.result() == want);
        NW_DONE(nw_moe_linear_w4a16(context, &m.p, nullptr));
        CHECK(m.result() != want); // another order is another product
    }
}

TEST_CASE("experts of act-order in a graph, once prepared") {
    const Context context;
    const Stream stream;
    Mixture m;
    const auto launch = [&] {
        return nw_act_order_moe_linear_w4a16(context, &m.p, m.perm.data, stream);
    };
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(launch(), NW_NOT_PREPARED);
    CHECK_MESSAGE(said("nw_act_order_moe_prepare"), nw_last_error());
    Graph{stream};
    nw_moe_w4a16 all = m.p;
    all.block_size_m = 0;
    NW_DONE(nw_act_order_moe_prepare(context, &all));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(launch());
    m.p.block_size_m = 4, m.p.blocks = 2;
    NW_DONE(launch());
    CHECK_EQ(Graph{stream}.nodes(), 2);
    all.k = 16384 + group;
    CHECK_EQ(nw_act_order_moe_prepare(context, &all), NW_INVALID_ARGUMENT);
    CHECK_MESSAGE(said("k = 16448: must be at most 16384"), nw_last_error());
}

TEST_CASE("what experts of act-order refuse") {
    const Context context;
    Mixture m;
    const auto refused = [&](const void *perm, const char *part) {
        CHECK_EQ(nw_act_order_moe_linear_w4a16(context, &m.p, perm, nullptr), NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(part), nw_last_error());
    };
    refused(nullptr, "perm");
    refused(static_cast<const u8 *>(m.perm.data) + 4, "perm");
    m.p.block_size_m = 8, m.p.blocks = 1;
    refused(m.perm.data, "block_size = 8: must be 1, 2 or 4");
    m.p.block_size_m = 4, m.p.k = 4096 + group;
    refused(m.perm.data, "at most 4096 with blocks of 4");
}
