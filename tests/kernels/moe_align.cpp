// SPDX-License-Identifier: MIT
// moe_align: lists of any routing, every word of them.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>

#include "check/check.h"
#include "check/ops.h"
#include "ref/moe_align.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

constexpr i32 untouched = 0x5eedf00d;

struct Routing {
    std::vector<i32> topk_ids;
    u32 experts, block_size, spare = 0; // blocks beyond the maximum that can be needed

    u32 blocks() const { return aligned_blocks() + spare; }
    // How many there may be, however slots fall.
    u32 aligned_blocks() const {
        const u32 slots = static_cast<u32>(topk_ids.size());
        return (slots + std::min(slots, experts) * (block_size - 1)) / block_size;
    }
};

void check_lists(Test &t, const Kernel &kernel, const Routing &p, const char *what,
                 std::source_location where = std::source_location::current()) {
    const u32 slots = static_cast<u32>(p.topk_ids.size()), blocks = p.blocks();
    t.shape(fmt::format("slots={} experts={} block_size={} blocks={} {}", slots, p.experts,
                        p.block_size, blocks, what));
    const std::vector<i32> before(u64{blocks} * p.block_size, untouched);
    std::vector<i32> and_more = p.topk_ids; // slots past the last would show
    and_more.resize(slots + 256, 0);
    const Region ids = t.region<i32>(and_more), sorted = t.region<i32>(before),
                 experts = t.region<i32>(std::span(before).first(blocks)),
                 used = t.region<i32>(std::span(before).first(1));
    launch(t.modules, kernel,
           MoeAlign{slots, p.experts, p.block_size, blocks, ids.data(), sorted.data(),
                    experts.data(), used.data()});
    t.modules.device().synchronize();
    ++t.launches;
    const ref::MoeLists want = ref::moe_align(p.topk_ids, p.experts, p.block_size, blocks);
    t.unchanged("topk_ids", ids, where);
    t.holds("sorted_token_ids", sorted, want.sorted_token_ids, where);
    t.holds("expert_ids", experts, want.expert_ids, where);
    t.holds("num_tokens_post_padded", used, {want.num_tokens_post_padded}, where);
}

// Slots at experts drawn at random, one in `bad` at none.
Routing random(Rng &rng, u32 slots, u32 experts, u32 block_size, u32 bad = 0) {
    const std::array none = {-1,
                             static_cast<i32>(experts),
                             511,
                             512,
                             1 << 20,
                             std::numeric_limits<i32>::min(),
                             std::numeric_limits<i32>::max()};
    Routing out{std::vector<i32>(slots), experts, block_size};
    for (i32 &id : out.topk_ids)
        id = bad && rng.below(bad) == 0 ? none[rng.below(none.size())]
                                        : static_cast<i32>(rng.below(experts));
    return out;
}

// As routers have it: each token at `top_k` experts, none twice.
Routing routed(Rng &rng, u32 tokens, u32 top_k, u32 experts, u32 block_size) {
    Routing out{{}, experts, block_size};
    for (u32 token = 0; token < tokens; ++token) {
        std::vector<i32> mine;
        while (mine.size() < top_k) {
            const i32 id = static_cast<i32>(rng.below(experts));
            if (std::ranges::find(mine, id) == mine.end())
                mine.push_back(id);
        }
        out.topk_ids.insert(out.topk_ids.end(), mine.begin(), mine.end());
    }
    return out;
}

void few(Test &t, const Kernel &kernel) {
    for (u32 block_size : moe_block_sizes)
        for (u32 slots : {1u, 31u, 33u, 129u})
            for (u32 experts : {1u, 5u, 512u})
                check_lists(t, kernel, random(t.rng, slots, experts, block_size), "few");
}

// At the ends of steps, of waves' shares and of rounds of all waves.
void edges(Test &t, const Kernel &kernel) {
    for (const auto &shape : check::edge_shapes(kernel))
        for (u32 experts : {shape.experts, 128u, 511u})
            check_lists(t, kernel, random(t.rng, shape.slots, experts, 16), "edges");
}

// All slots at one expert, the first, the last and one between; one slot at each.
void lopsided(Test &t, const Kernel &kernel) {
    for (i32 expert : {0, 15, 16, 100, 511}) {
        Routing one{std::vector<i32>(3000, expert), 512, 32};
        check_lists(t, kernel, one, "one expert");
    }
    Routing each{std::vector<i32>(512), 512, 64};
    for (i32 i = 0; i < 512; ++i)
        each.topk_ids[static_cast<u64>(i)] = 511 - i;
    check_lists(t, kernel, each, "one slot each");
}

void bad_ids(Test &t, const Kernel &kernel) {
    for (u32 experts : {1u, 60u, 511u})
        check_lists(t, kernel, random(t.rng, 500, experts, 16, 3), "ids of no expert");
    Routing none{std::vector<i32>(70, -1), 8, 16};
    check_lists(t, kernel, none, "no expert at all");
    Routing spare = random(t.rng, 300, 20, 64, 5);
    spare.spare = 700;
    check_lists(t, kernel, spare, "room to spare");
}

void models(Test &t, const Kernel &kernel) {
    check_lists(t, kernel, routed(t.rng, 512, 8, 128, 32), "512 tokens, 8 of 128");
    check_lists(t, kernel, routed(t.rng, 2048, 8, 128, 64), "2048 tokens, 8 of 128");
    check_lists(t, kernel, routed(t.rng, 999, 10, 512, 64), "999 tokens, 10 of 512");
    check_lists(t, kernel, routed(t.rng, 77, 2, 8, 16), "77 tokens, 2 of 8");
}

} // namespace

CHECK_FAMILY(moe_align) {
    if (t.entry)
        return check_lists(t, kernel, random(t.rng, 33, 5, 16), "entry");
    check_lists(t, kernel, random(t.rng, 2500, 37, 16, 9), "every path");
    bad_ids(t, kernel);
    if (t.checkers)
        return;
    few(t, kernel);
    edges(t, kernel);
    lopsided(t, kernel);
    models(t, kernel);
}
