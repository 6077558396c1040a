// SPDX-License-Identifier: MIT
// nw_moe_linear_w4a16: the same to the bit as nw_linear_w4a16 of each slot's expert, in graphs too;
// nw_moe_align; and each of their rules, broken one at a time.
#include <fmt/format.h>
#include <functional>

#include "api/product.h"
#include "base/half.h"
#include "base/rng.h"

using namespace api_test;

namespace {

constexpr u32 experts = 3, n = 40, k = 256, group = 64, tokens = 4, top_k = 2;
constexpr u32 slots = tokens * top_k;
constexpr u32 prefill_rows = 65; // the fewest that nw_linear_w4a16 takes prefill for
constexpr u64 w_row = k / 2, s_row = 2 * k / group, z_row = 4 * k / group;
constexpr u64 w_expert = n * w_row + 16, s_expert = n * s_row + 2, z_expert = n / 8 * z_row + 4;

std::vector<u8> random_bytes(u64 count, Rng &rng) {
    std::vector<u8> out(count);
    for (u8 &byte : out)
        byte = static_cast<u8>(rng.below(256));
    return out;
}

std::vector<u8> random_bf16(u64 count, Rng &rng) {
    std::vector<u8> out;
    for (u64 i = 0; i < count; ++i) {
        const u16 word = f32_to_bf16(rng.normal() / 8);
        out.insert(out.end(), {static_cast<u8>(word), static_cast<u8>(word >> 8)});
    }
    return out;
}

std::vector<u8> words(std::initializer_list<u32> values) {
    std::vector<u8> out;
    for (u32 value : values)
        for (u32 shift : {0, 8, 16, 24})
            out.push_back(static_cast<u8>(value >> shift));
    return out;
}

// Eight slots of four tokens at three experts, with operands in device memory.
class Mixture {
public:
    explicit Mixture(int zeros = NW_ZEROS_EIGHT, u64 seed = 1)
        : rng(seed), a(random_bf16(u64{tokens} * k, rng)), w(random_bytes(experts * w_expert, rng)),
          s(random_bf16(experts * s_expert / 2, rng)), z(random_bytes(experts * z_expert, rng)),
          bias(random_bf16(u64{experts} * n, rng)), c(u64{2} * slots * n) {
        p.dtype = NW_BF16, p.zeros = zeros, p.block_size_m = 1, p.blocks = slots, p.slots = slots;
        p.top_k = top_k, p.experts = experts, p.n = n, p.k = k, p.group = group;
        p.a = a.data, p.w = w.data, p.s = s.data, p.bias = bias.data, p.c = c.data;
        p.w_stride = w_row, p.w_expert = w_expert, p.s_stride = s_row, p.s_expert = s_expert;
        if (zeros == NW_ZEROS_PACKED)
            p.z = z.data, p.z_stride = z_row, p.z_expert = z_expert;
        p.expert_ids = static_cast<const int32_t *>(ids.data);
        clear();
    }

    void clear() {
        HIP_OK(hipMemset(c.data, 0xff, c.size));
        HIP_OK(hipDeviceSynchronize());
    }

    std::vector<u16> result() const {
        std::vector<u16> out(c.size / 2);
        HIP_OK(hipDeviceSynchronize());
        HIP_OK(hipMemcpy(out.data(), c.data, c.size, hipMemcpyDeviceToHost));
        return out;
    }
    bool untouched() const { return result() == std::vector<u16>(c.size / 2, 0xffff); }

    // Expected c, by one nw_linear_w4a16 per slot, with silu_gate_up by prefill; rows of no
    // slot are 0xffff.
    std::vector<u16> slot_by_slot(nw_context *context) const {
        const u32 m = p.silu_gate_up ? prefill_rows : 1;
        const u64 row = p.silu_gate_up ? n : 2 * n;
        const Memory rows(c.size), product(m * row), token(std::vector<u8>(u64{2} * m * k));
        HIP_OK(hipMemset(rows.data, 0xff, rows.size));
        for (u32 slot = 0; slot < slots; ++slot) {
            const u64 e = expert_of[slot];
            if (e >= experts)
                continue;
            nw_w4a16 q = NW_W4A16_INIT;
            q.dtype = NW_BF16, q.zeros = p.zeros, q.m = m, q.n = n, q.k = k, q.group = group;
            HIP_OK(hipMemcpy(token.data, at(a, u64{slot / top_k} * 2 * k), 2 * k,
                             hipMemcpyDeviceToDevice));
            q.a = token.data, q.w = at(w, e * w_expert);
            q.s = at(s, e * s_expert), q.bias = at(bias, e * 2 * n);
            q.z = p.z ? at(z, e * z_expert) : nullptr;
            q.c = product.data;
            q.w_stride = w_row, q.s_stride = s_row, q.z_stride = z_row;
            q.silu_gate_up = p.silu_gate_up;
            NW_DONE(nw_linear_w4a16(context, &q, nullptr));
            HIP_OK(hipMemcpy(at(rows, slot * row), q.c, row, hipMemcpyDeviceToDevice));
        }
        std::vector<u16> out(c.size / 2);
        HIP_OK(hipDeviceSynchronize());
        HIP_OK(hipMemcpy(out.data(), rows.data, rows.size, hipMemcpyDeviceToHost));
        return out;
    }

    static void *at(const Memory &memory, u64 offset) {
        return static_cast<u8 *>(memory.data) + offset;
    }

    static constexpr u32 expert_of[slots] = {2, 0, 1, ~0u, 0, 2, 7, 1};
    Rng rng;
    const Memory a, w, s, z, bias, c;
    const Memory ids{words({2, 0, 1, ~0u, 0, 2, 7, 1})};
    // Blocks of two: experts 0, 1, 2 and one past the count.
    const Memory block_ids{words({0, 1, 2, 0})}, sorted{words({1, 4, 2, 7, 0, 5, 3, 3})},
        used{words({6})};
    nw_moe_w4a16 p = NW_MOE_W4A16_INIT;
};

// Lists of nw_moe_align for the routing of a Mixture.
class Lists {
public:
    Lists(const Mixture &m, u32 block_size)
        : blocks(static_cast<u32>(nw_moe_blocks(slots, experts, block_size))),
          sorted(u64{4} * blocks * block_size), ids(u64{4} * blocks), used(4) {
        for (const Memory *list : {&sorted, &ids, &used})
            HIP_OK(hipMemset(list->data, 0x77, list->size));
        routing.slots = slots, routing.experts = experts;
        routing.block_size_m = block_size, routing.blocks = blocks;
        routing.topk_ids = static_cast<const int32_t *>(m.ids.data);
        routing.sorted_token_ids = static_cast<int32_t *>(sorted.data);
        routing.expert_ids = static_cast<int32_t *>(ids.data);
        routing.num_tokens_post_padded = static_cast<int32_t *>(used.data);
    }

    void put_into(nw_moe_w4a16 &p) const {
        p.block_size_m = routing.block_size_m, p.blocks = blocks;
        p.sorted_token_ids = routing.sorted_token_ids;
        p.expert_ids = routing.expert_ids;
        p.num_tokens_post_padded = routing.num_tokens_post_padded;
    }

    bool untouched() const {
        HIP_OK(hipDeviceSynchronize());
        for (const Memory *list : {&sorted, &ids, &used}) {
            std::vector<u8> now(list->size);
            HIP_OK(hipMemcpy(now.data(), list->data, now.size(), hipMemcpyDeviceToHost));
            if (now != std::vector<u8>(now.size(), 0x77))
                return false;
        }
        return true;
    }

    const u32 blocks;
    const Memory sorted, ids, used;
    nw_moe_routing routing = NW_MOE_ROUTING_INIT;
};

} // namespace

TEST_CASE("a row of c is that of nw_linear_w4a16, or is left alone") {
    const Context context;
    for (const int zeros : {NW_ZEROS_EIGHT, NW_ZEROS_PACKED}) {
        Mixture m(zeros);
        const std::vector<u16> want = m.slot_by_slot(context);
        NW_DONE(nw_moe_linear_w4a16(context, &m.p, nullptr));
        CHECK(m.result() == want);
        m.clear();
        m.p.block_size_m = 2, m.p.blocks = 4;
        m.p.expert_ids = static_cast<const int32_t *>(m.block_ids.data);
        m.p.sorted_token_ids = static_cast<const int32_t *>(m.sorted.data);
        m.p.num_tokens_post_padded = static_cast<const int32_t *>(m.used.data);
        NW_DONE(nw_moe_linear_w4a16(context, &m.p, nullptr));
        CHECK(m.result() == want);
    }
}

TEST_CASE("a prepared mixture is captured; one that is not is refused") {
    const Context context;
    const Stream stream;
    Mixture m;
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_moe_linear_w4a16(context, &m.p, stream), NW_NOT_PREPARED);
    CHECK_MESSAGE(said("call nw_moe_prepare for this product before capture begins"),
                  nw_last_error());
    Graph{stream};

    nw_moe_w4a16 all = NW_MOE_W4A16_INIT; // no pointers, no strides, every block size
    all.dtype = NW_BF16, all.n = n, all.k = k, all.group = group;
    NW_DONE(nw_moe_prepare(context, &all));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(nw_moe_linear_w4a16(context, &m.p, stream));
    Graph graph(stream);
    CHECK(m.untouched());
    graph.launch(stream);
    HIP_OK(hipStreamSynchronize(stream));
    CHECK(m.result() == m.slot_by_slot(context));

    uint64_t bytes = 1;
    NW_DONE(nw_moe_workspace_size(context, &m.p, &bytes));
    CHECK_EQ(bytes, 0);
}

TEST_CASE("blocks of 16 and more, as nw_moe_align makes them, are prefill's") {
    const Context context;
    for (const int zeros : {NW_ZEROS_EIGHT, NW_ZEROS_PACKED})
        for (const u32 block_size : {16u, 32u, 64u}) {
            Mixture m(zeros);
            m.p.silu_gate_up = 1;
            const std::vector<u16> want = m.slot_by_slot(context);
            const Lists lists(m, block_size);
            NW_DONE(nw_moe_align(context, &lists.routing, nullptr));
            lists.put_into(m.p);
            NW_DONE(nw_moe_linear_w4a16(context, &m.p, nullptr));
            CHECK(m.result() == want);
        }
}

TEST_CASE("what a preparation loads, the lists' kernel with it") {
    const Context context;
    const Stream stream;
    Mixture m;
    const Lists lists(m, 32);
    lists.put_into(m.p);
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_moe_align(context, &lists.routing, stream), NW_NOT_PREPARED);
    CHECK_MESSAGE(said("call nw_moe_prepare for this product before capture"), nw_last_error());
    Graph{stream};
    NW_DONE(nw_moe_prepare(context, &m.p));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(nw_moe_align(context, &lists.routing, stream));
    NW_DONE(nw_moe_linear_w4a16(context, &m.p, stream));
    Graph{stream};
    CHECK(m.untouched());
}

TEST_CASE("every rule of nw_moe_align, broken one at a time") {
    using R = nw_moe_routing;
    struct Bad {
        const char *says;
        std::function<void(R &)> breaks;
    };
    const auto behind = [](const int32_t *p, u64 bytes) {
        return reinterpret_cast<int32_t *>(reinterpret_cast<u64>(p) + bytes);
    };
    const Bad cases[] = {
        {"size = 8: must be sizeof(nw_moe_routing)", [](R &r) { r.size = 8; }},
        {"slots = 0: must be 1..2^30-1", [](R &r) { r.slots = 0; }},
        {"slots = 1073741824: must be", [](R &r) { r.slots = 1u << 30; }},
        {"experts = 0: must be 1..512", [](R &r) { r.experts = 0; }},
        {"experts = 513: must be 1..512", [](R &r) { r.experts = 513; }},
        {"block_size = 24: must be one of", [](R &r) { r.block_size_m = 24; }},
        {"blocks = 2: 8 slots at 3 experts may need 3 blocks of 16; increase blocks",
         [](R &r) { r.blocks = 2; }},
        {"blocks = 67108864: with 16 slots each must be below 2^30",
         [](R &r) { r.blocks = 1u << 26; }},
        {"topk_ids is null", [](R &r) { r.topk_ids = nullptr; }},
        {"sorted_token_ids is null", [](R &r) { r.sorted_token_ids = nullptr; }},
        {"expert_ids is null", [](R &r) { r.expert_ids = nullptr; }},
        {"num_tokens_post_padded is null", [](R &r) { r.num_tokens_post_padded = nullptr; }},
        {"topk_ids = ", [&](R &r) { r.topk_ids = behind(r.topk_ids, 2); }},
        {"overlaps topk_ids = ", [&](R &r) { r.sorted_token_ids = behind(r.topk_ids, 28); }},
        {"overlaps sorted_token_ids = ", [](R &r) { r.expert_ids = r.sorted_token_ids + 47; }},
        {"overlaps expert_ids = ", [](R &r) { r.num_tokens_post_padded = r.expert_ids + 2; }},
    };
    const Context context;
    const Mixture m;
    const Lists lists(m, 16);
    for (const Bad &bad : cases) {
        R r = lists.routing;
        bad.breaks(r);
        CAPTURE(bad.says);
        CHECK_EQ(nw_moe_align(context, &r, nullptr), NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(bad.says), nw_last_error());
        CHECK(lists.untouched());
    }
    CHECK_EQ(nw_moe_align(nullptr, &lists.routing, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_moe_align(context, nullptr, nullptr), NW_INVALID_ARGUMENT);
    CHECK(said("product is null: it must point to an nw_moe_routing"));
    CHECK_EQ(nw_moe_blocks(4096, 128, 64), 190);
    CHECK_EQ(nw_moe_blocks(8, 128, 64), 8);
    CHECK_EQ(nw_moe_blocks(8, 128, 0), 0);
    NW_DONE(nw_moe_align(context, &lists.routing, nullptr)); // nothing else was wrong
    CHECK_FALSE(lists.untouched());
}

TEST_CASE("every rule, broken one at a time") {
    struct Bad {
        const char *says; // must be in the message
        std::function<void(nw_moe_w4a16 &, const Mixture &)> breaks;
    };
    using P = nw_moe_w4a16;
    const auto odd = [](const void *pointer) {
        return reinterpret_cast<const int32_t *>(static_cast<const u8 *>(pointer) + 2);
    };
    const Bad cases[] = {
        {"size = 8: must be sizeof(nw_moe_w4a16)", [](P &p, auto &) { p.size = 8; }},
        {"dtype = 2: must be", [](P &p, auto &) { p.dtype = 2; }},
        {"zeros = 5: must be", [](P &p, auto &) { p.zeros = 5; }},
        {"zeros are typed: an expert's must be packed",
         [](P &p, auto &) { p.zeros = NW_ZEROS_TYPED; }},
        {"silu_gate_up = 2: must be 0 or 1", [](P &p, auto &) { p.silu_gate_up = 2; }},
        {"n = 39: gate and up must have the same number of rows",
         [](P &p, auto &) { p.n = 39, p.silu_gate_up = 1; }},
        {"n = 36: must be a multiple of 8 where gate and up have packed",
         [](P &p, auto &) { p.n = 36, p.silu_gate_up = 1; }},
        {"block_size = 3: must be one of 1, 2, 4, 8, 16, 32, 64",
         [](P &p, auto &) { p.block_size_m = 3; }},
        {"block_size = 0: must be", [](P &p, auto &) { p.block_size_m = 0; }},
        {"blocks = 0: must be at least 1", [](P &p, auto &) { p.blocks = 0; }},
        {"blocks = 2147483648: with 1 slots each must be below 2^31",
         [](P &p, auto &) { p.blocks = 1u << 31; }},
        {"workgroups of 256 are more than 2^32 - 1 work-items; split",
         [](P &p, auto &) { p.blocks = 1u << 24; }},
        {"slots = 268435456: a has 68719476736 bytes, but in blocks of 16 must be smaller than "
         "2^32",
         [](P &p, auto &) { p.block_size_m = 16, p.slots = 1u << 28; }},
        {"slots = 268435456: c has 21474836480 bytes, but in blocks of 64 must be smaller",
         [](P &p, auto &) { p.block_size_m = 64, p.slots = p.top_k = 1u << 28; }},
        {"slots = 0: must be 1..2^31-1", [](P &p, auto &) { p.slots = 0; }},
        {"slots = 4294967295: must be", [](P &p, auto &) { p.slots = ~0u; }},
        {"top_k = 0: must be", [](P &p, auto &) { p.top_k = 0; }},
        {"experts = 0: must be at least 1", [](P &p, auto &) { p.experts = 0; }},
        {"n = 0: must be at least 1", [](P &p, auto &) { p.n = 0; }},
        {"k = 200: must be a positive multiple of the group size 64; pad",
         [](P &p, auto &) { p.k = 200; }},
        {"k = 0: must be a positive multiple", [](P &p, auto &) { p.k = 0; }},
        {"group = 256: must be 32, 64 or 128", [](P &p, auto &) { p.group = 256; }},
        {"a is null", [](P &p, auto &) { p.a = nullptr; }},
        {"w is null", [](P &p, auto &) { p.w = nullptr; }},
        {"s is null", [](P &p, auto &) { p.s = nullptr; }},
        {"z is null", [](P &p, auto &) { p.z = nullptr; }},
        {"c is null", [](P &p, auto &) { p.c = nullptr; }},
        {"expert_ids is null", [](P &p, auto &) { p.expert_ids = nullptr; }},
        {"z is given, but zeros are eight", [](P &p, auto &) { p.zeros = NW_ZEROS_EIGHT; }},
        {": must be 16-byte aligned", [](P &p, auto &m) { p.a = Mixture::at(m.a, 8); }},
        {": must be 16-byte aligned", [](P &p, auto &m) { p.w = Mixture::at(m.w, 4); }},
        {": must be 4-byte aligned", [](P &p, auto &m) { p.z = Mixture::at(m.z, 2); }},
        {"expert_ids = ", [&](P &p, auto &) { p.expert_ids = odd(p.expert_ids); }},
        {"sorted_token_ids = ", [&](P &p, auto &m) { p.sorted_token_ids = odd(m.sorted.data); }},
        {"num_tokens_post_padded = ",
         [&](P &p, auto &m) { p.num_tokens_post_padded = odd(m.used.data); }},
        {"topk_weights = ",
         [](P &p,
            auto &m) { p.topk_weights = reinterpret_cast<const float *>(Mixture::at(m.a, 2)); }},
        {"w_stride = 112: must be at least a row, K/2 = 128",
         [](P &p, auto &) { p.w_stride = 112; }},
        {"w_stride = 136: must be a multiple of 16", [](P &p, auto &) { p.w_stride = 136; }},
        {"w_expert = 5104: must be at least the rows of an expert",
         [](P &p, auto &) { p.w_expert = n * w_row - 16; }},
        {"w_expert = 4294967296: must be below", [](P &p, auto &) { p.w_expert = u64{1} << 32; }},
        {"s_expert = 321: must be a multiple of 2",
         [](P &p, auto &) { p.s_expert = n * s_row + 1; }},
        {"z_stride = 8: must be at least a row, 4*K/G = 16", [](P &p, auto &) { p.z_stride = 8; }},
        {"z_expert = 78: must be at least", [](P &p, auto &) { p.z_expert = 78; }},
        {"overlaps a = ", [](P &p, auto &m) { p.c = Mixture::at(m.a, m.a.size - 2); }},
        {"overlaps w = ", [](P &p, auto &m) { p.c = Mixture::at(m.w, 2 * w_expert); }},
        {"overlaps bias = ", [](P &p, auto &m) { p.c = Mixture::at(m.bias, 0); }},
        {"overlaps expert_ids = ", [](P &p, auto &m) { p.c = Mixture::at(m.ids, 28); }},
    };
    const Context context;
    const Mixture m(NW_ZEROS_PACKED);
    for (const Bad &bad : cases) {
        P p = m.p;
        bad.breaks(p, m);
        CAPTURE(bad.says);
        CHECK_EQ(nw_moe_linear_w4a16(context, &p, nullptr), NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(bad.says), nw_last_error());
        CHECK(m.untouched());
    }
    CHECK_EQ(nw_moe_linear_w4a16(nullptr, &m.p, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_moe_linear_w4a16(context, nullptr, nullptr), NW_INVALID_ARGUMENT);
    CHECK(said("product is null: it must point to an nw_moe_w4a16"));
    CHECK_EQ(nw_moe_workspace_size(context, &m.p, nullptr), NW_INVALID_ARGUMENT);
    NW_DONE(nw_moe_linear_w4a16(context, &m.p, nullptr)); // nothing else was wrong
}
