// SPDX-License-Identifier: MIT
// A slice of attention of one layer on a simulated part: its tensors and its launches, each timed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bench/attention/launch.h"
#include "measure/shapes.h"

namespace nw::bench {

struct BlockLists {
    std::vector<i32> idx, cnt; // [h, tiles, blocks], [h, tiles]
    f64 pairs = 0;             // of queries and keys that they see
};

inline constexpr u32 attention_block = 128;

// The diagonal and a random share `density` of the blocks before it.
BlockLists random_lists(const ContextShape &, f64 density);
// Pairs of queries and keys that causal attention sees.
f64 seen_pairs(const ContextShape &);

// The slice of a long sequence that is timed: queries before its middle, which see half of the
// keys, the average of all queries, or all queries if they are few. Workgroups fill the part twice,
// with lists of any length eight times or more. One key head, or two with lists, where attn_forward
// takes heads in turn; all heads where it takes them at the same time, with lists on parts whose
// DRAM channels are address bits (T-132).
ContextShape slice_of(const Kernel &forward, const AttentionLayer &, u32 tokens, bool listed);

struct Rule {
    std::string_view rule; // peak, mass
    f32 share;
};

class LayerOnDevice {
public:
    LayerOnDevice(const hip::Device &, std::string_view gfx, Dtype, const Context &);

    Timed mean();
    Timed score();
    Timed select(const Rule &);
    // By the lists of the last select() or set_lists(), or over all blocks; the first heads only.
    Timed forward(bool listed, const ContextShape &heads);
    void set_lists(const BlockLists &);
    BlockLists lists() const;

    const std::vector<u16> &queries() const { return q_words_; }
    const std::vector<u16> &keys() const { return k_words_; }

private:
    const Kernel &find(std::string_view family, std::string_view rule = "") const;
    Op op(OpKind) const;
    u32 tiles() const { return ceil_div(p_.sq, attention_block); }
    u32 blocks() const { return ceil_div(p_.sk, attention_block); }

    const hip::Device &device_;
    const std::string gfx_;
    const Dtype dtype_;
    const ContextShape p_;
    const std::vector<u16> q_words_, k_words_;
    hip::Buffer q_, k_, v_, o_, mean_, score_, idx_, cnt_;
    Modules modules_;
};

} // namespace nw::bench
