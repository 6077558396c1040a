// SPDX-License-Identifier: MIT
// nw_act_order_moe_linear_w4a16: to the bit nw_moe_linear_w4a16 of each slot's activations in its
// expert's order, in one launch or two, in graphs too; and refusals.
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <optional>

#include "api/product.h"
#include "base/half.h"
#include "kernels/permutation.h"

using namespace api_test;

namespace {

constexpr u32 experts = 3, n = 40, k = 256, group = 64, tokens = 19, top_k = 2,
              slots = tokens * top_k;
constexpr i32 no_expert = -1;
constexpr u32 block_sizes[] = {1, 2, 4, 8, 16, 32, 64};

template <class T, class Draw> std::vector<u8> drawn(u64 count, const Draw &draw) {
    std::vector<T> out(count);
    for (T &value : out)
        value = draw();
    return bytes_of(out);
}

const int32_t *ids_of(const Memory &memory) { return static_cast<const int32_t *>(memory.data); }

// Experts with an order each, and a token's slots at two of them or at none.
class Mixture {
public:
    explicit Mixture(u32 length = k) : columns(length) {
        p.dtype = NW_F16, p.block_size_m = 1, p.blocks = slots, p.slots = slots, p.top_k = top_k;
        p.experts = experts, p.n = n, p.k = columns, p.group = group;
        p.a = a.data, p.w = w.data, p.s = s.data, p.c = c.data;
        p.expert_ids = ids_of(ids);
        p.w_stride = columns / 2, p.w_expert = n * columns / 2;
        p.s_stride = 2 * columns / group, p.s_expert = n * p.s_stride;
        HIP_OK(hipMemset(c.data, 0xff, c.size));
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
        const Memory rows(u64{2} * slots * columns);
        for (u32 slot = 0; slot < slots; ++slot) {
            if (expert_of[slot] == no_expert)
                continue;
            nw_permutation one = NW_PERMUTATION_INIT;
            one.m = 1, one.k = columns;
            one.a = static_cast<const u8 *>(a.data) + u64{2} * columns * (slot / top_k);
            one.perm = static_cast<const u8 *>(perm.data) +
                       u64{4} * columns * static_cast<u32>(expert_of[slot]);
            one.y = static_cast<u8 *>(rows.data) + u64{2} * columns * slot;
            NW_DONE(nw_permute(context, &one, nullptr));
        }
        nw_moe_w4a16 of_rows = p;
        of_rows.a = rows.data, of_rows.top_k = 1;
        NW_DONE(nw_moe_linear_w4a16(context, &of_rows, nullptr));
        return result();
    }

    // The product's slots in blocks of each expert, padded.
    void sort(nw_context *context, u32 block_size) {
        const u32 blocks = static_cast<u32>(nw_moe_blocks(slots, experts, block_size));
        sorted.emplace(u64{4} * blocks * block_size), block_experts.emplace(u64{4} * blocks);
        nw_moe_routing lists = NW_MOE_ROUTING_INIT;
        lists.slots = slots, lists.experts = experts;
        lists.block_size_m = block_size, lists.blocks = blocks;
        lists.topk_ids = ids_of(ids);
        lists.sorted_token_ids = static_cast<int32_t *>(sorted->data);
        lists.expert_ids = static_cast<int32_t *>(block_experts->data);
        lists.num_tokens_post_padded = static_cast<int32_t *>(used.data);
        NW_DONE(nw_moe_align(context, &lists, nullptr));
        p.block_size_m = block_size, p.blocks = blocks;
        p.sorted_token_ids = lists.sorted_token_ids, p.expert_ids = lists.expert_ids;
        p.num_tokens_post_padded = lists.num_tokens_post_padded;
    }

    // The product's slots as they are, without a list, in blocks of the first slot's expert.
    void in_order(u32 block_size) {
        const u32 blocks = (slots + block_size - 1) / block_size;
        std::vector<i32> firsts(blocks);
        for (u32 slot = 0; slot < slots; ++slot)
            expert_of[slot] = firsts[slot / block_size] = expert_of[slot / block_size * block_size];
        block_experts.emplace(bytes_of(firsts));
        p.block_size_m = block_size, p.blocks = blocks;
        p.sorted_token_ids = nullptr, p.expert_ids = ids_of(*block_experts);
        p.num_tokens_post_padded = nullptr;
    }

    // The workspace size, and the launch in a workspace of exactly this size.
    std::vector<u8> act_order(nw_context *context, u64 bytes) const {
        u64 needed = 1;
        NW_DONE(nw_act_order_moe_workspace_size(context, &p, &needed));
        CHECK_EQ(needed, bytes);
        const Memory workspace(bytes);
        NW_DONE(nw_act_order_moe_linear_w4a16(context, &p, perm.data,
                                              bytes ? workspace.data : nullptr, bytes, nullptr));
        return result();
    }

    std::vector<u32> orders() {
        std::vector<u32> out;
        for (u32 e = 0; e < experts; ++e)
            for (const u32 at : permutation(columns, rng))
                out.push_back(at);
        return out;
    }
    std::vector<i32> draw_experts() {
        std::vector<i32> out(slots);
        for (i32 &expert : out)
            expert = static_cast<i32>(rng.below(experts + 1)) - 1;
        out[0] = 0;
        return out;
    }

    const u32 columns;
    Rng rng{5};
    std::vector<i32> expert_of = draw_experts();
    const std::function<u16()> activation = [&] { return f32_to_f16(rng.normal()); };
    const std::function<u16()> scale = [&] { return f32_to_f16(rng.unit() / 64); };
    const std::function<u8()> byte = [&] { return static_cast<u8>(rng.below(256)); };
    const std::function<f32()> weight = [&] { return rng.unit(); };
    const Memory a{drawn<u16>(u64{tokens} * columns, activation)},
        w{drawn<u8>(u64{experts} * n * columns / 2, byte)},
        s{drawn<u16>(u64{experts} * n * columns / group, scale)},
        z{drawn<u8>(u64{experts} * n * columns / group / 2, byte)},
        bias{drawn<u16>(u64{experts} * n, activation)}, weights{drawn<f32>(slots, weight)},
        perm{bytes_of(orders())}, ids{bytes_of(expert_of)}, c{u64{2} * slots * n}, used{4};
    std::optional<Memory> sorted, block_experts;
    nw_moe_w4a16 p = NW_MOE_W4A16_INIT;
};

// Whether a kernel has the permutation in it.
bool in_one_launch(nw_context *context, u32 block_size, u32 columns) {
    return nw_context_gfx(context) != std::string("gfx1030") && block_size <= 4 &&
           columns * block_size <= 16384;
}

u64 bytes_for(nw_context *context, const Mixture &m) {
    return in_one_launch(context, m.p.block_size_m, m.columns) ? 0 : u64{2} * slots * m.columns;
}

void use_all(Mixture &m) {
    m.p.zeros = NW_ZEROS_PACKED, m.p.z = m.z.data;
    m.p.z_stride = 4 * k / group, m.p.z_expert = n / 8 * m.p.z_stride;
    m.p.bias = m.bias.data, m.p.topk_weights = static_cast<const f32 *>(m.weights.data);
}

struct OnDevice {
    explicit OnDevice(int device) { HIP_OK(hipSetDevice(device)); }
    ~OnDevice() { static_cast<void>(hipSetDevice(0)); }
    OnDevice(const OnDevice &) = delete;
};
constexpr int gfx1151 = 0, gfx1201 = 1, gfx1100 = 3, gfx1030 = 4;

} // namespace

TEST_CASE("experts of act-order are to the bit those of permuted slots") {
    for (const int device : {gfx1151, gfx1201, gfx1100, gfx1030}) {
        const OnDevice on(device);
        const Context context;
        for (const u32 block_size : block_sizes)
            for (const int silu : {0, 1}) {
                CAPTURE(fmt::format("{} blocks of {} silu {}", nw_context_gfx(context), block_size,
                                    silu));
                Mixture m;
                m.sort(context, block_size);
                m.p.silu_gate_up = silu;
                if (silu)
                    use_all(m);
                const std::vector<u8> want = m.slot_by_slot(context);
                CHECK(m.act_order(context, bytes_for(context, m)) == want);
                NW_DONE(nw_moe_linear_w4a16(context, &m.p, nullptr));
                CHECK(m.result() != want); // another order is another product
            }
    }
}

TEST_CASE("experts of act-order without a list of slots") {
    for (const int device : {gfx1151, gfx1030}) {
        const OnDevice on(device);
        const Context context;
        for (const u32 block_size : block_sizes) {
            CAPTURE(fmt::format("{} blocks of {}", nw_context_gfx(context), block_size));
            Mixture m;
            m.in_order(block_size);
            const std::vector<u8> want = m.slot_by_slot(context);
            CHECK(m.act_order(context, bytes_for(context, m)) == want);
        }
    }
}

TEST_CASE("experts of act-order with rows longer than a kernel's LDS takes") {
    const Context context;
    for (const u32 block_size : {2u, 4u, 16u}) {
        CAPTURE(block_size);
        Mixture m(8192 + group);
        m.sort(context, block_size);
        const std::vector<u8> want = m.slot_by_slot(context);
        CHECK(m.act_order(context, u64{2} * slots * m.columns) == want);
    }
}

TEST_CASE("experts of act-order in a graph, once prepared") {
    const Context context;
    const Stream stream;
    Mixture m;
    const Memory workspace(u64{2} * slots * k);
    const auto launch = [&] {
        return nw_act_order_moe_linear_w4a16(context, &m.p, m.perm.data, workspace.data,
                                             workspace.size, stream);
    };
    for (const u32 block_size : {1u, 64u}) {
        m.p.block_size_m = block_size, m.p.blocks = 1;
        HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        CHECK_EQ(launch(), NW_NOT_PREPARED);
        CHECK_MESSAGE(said("nw_act_order_moe_prepare"), nw_last_error());
        CHECK_EQ(Graph{stream}.nodes(), 0);
    }
    nw_moe_w4a16 all = m.p;
    all.block_size_m = 0;
    NW_DONE(nw_act_order_moe_prepare(context, &all));
    for (const u32 block_size : block_sizes) {
        m.p.block_size_m = block_size;
        HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        NW_DONE(launch());
        CHECK_EQ(Graph{stream}.nodes(), block_size <= 4 ? 1 : 2);
    }
    all.k = 32768 + group;
    CHECK_EQ(nw_act_order_moe_prepare(context, &all), NW_INVALID_ARGUMENT);
    CHECK_MESSAGE(said("k = 32832: must be at most 32768"), nw_last_error());
}

TEST_CASE("what experts of act-order refuse") {
    const Context context;
    Mixture m;
    const Memory workspace(u64{2} * slots * k + 8);
    const auto refused = [&](const void *perm, void *at, u64 bytes, const char *part) {
        CHECK_EQ(nw_act_order_moe_linear_w4a16(context, &m.p, perm, at, bytes, nullptr),
                 NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(part), nw_last_error());
        const std::vector<u8> untouched(m.c.size, 0xff);
        CHECK(m.result() == untouched);
    };
    const u64 size = u64{2} * slots * k;
    const void *misaligned = static_cast<const u8 *>(m.perm.data) + 4;
    for (const u32 block_size : {1u, 16u}) {
        m.p.block_size_m = block_size, m.p.blocks = 1;
        refused(nullptr, workspace.data, size, "perm");
        refused(misaligned, workspace.data, size, "perm");
    }
    refused(m.perm.data, nullptr, size,
            "workspace is null, workspace_bytes = 19456: it must point to");
    refused(m.perm.data, workspace.data, size - 1,
            "workspace_bytes = 19455: must be at least 19456");
    refused(m.perm.data, static_cast<u8 *>(workspace.data) + 8, size, "must be 16-byte aligned");
    m.p.a = nullptr;
    refused(m.perm.data, workspace.data, size, "a is null");
    m.p.a = m.a.data, m.p.block_size_m = 3;
    refused(m.perm.data, workspace.data, size, "block_size = 3: must be one of 1, 2, 4");
    u64 bytes = 0;
    CHECK_EQ(nw_act_order_moe_workspace_size(context, &m.p, &bytes), NW_INVALID_ARGUMENT);
    CHECK_MESSAGE(said("block_size = 3"), nw_last_error());
    m.p.block_size_m = 16;
    CHECK_EQ(nw_act_order_moe_workspace_size(context, &m.p, nullptr), NW_INVALID_ARGUMENT);
    CHECK_MESSAGE(said("bytes is null"), nw_last_error());
}
