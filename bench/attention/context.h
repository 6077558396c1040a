// SPDX-License-Identifier: MIT
// Queries and keys as of a long text, made up: what the suite attention selects blocks from.
//
// Per key head: 64 topics, each a vector u of d standard normal values, and a vector v per block.
// Block n of 128 tokens has topic c(n), that of its run of 4 blocks, and a weight w(n), both at
// random, w uniform in 1/3..1; z are standard normal values, new for each token and head.
//   key of token t of block n     w u[c] + sqrt(1 - w^2) z;  v[n] in the needle of the block, 32
//                                 tokens; s, one vector for all blocks, of tokens 0..3: the sink
//   query of token i of block m   a (w u[c] + sqrt(1 - w^2) z) + s / 2; every fourth head adds
//                                 3 / 4 v[j], j an earlier block at random: it looks for a needle
// a of head h is 0.8 + 0.8 h / (heads - 1): heads differ in how sharply they attend. With d = 128
// two tokens of one topic and weight 1 have a logit of about 11 a, unrelated ones of 0 +- a.
#pragma once
#include <vector>

#include "base/half.h"
#include "base/rng.h"

namespace nw::bench {

struct ContextShape {
    u32 h, hk, d;
    u32 sq, sk; // the queries are the last tokens
};

class Context {
public:
    Context(Dtype, const ContextShape &);

    std::vector<u16> queries() const; // [sq, h, d]
    std::vector<u16> keys() const;    // [sk, hk, d]
    u32 needle(u32 h, u32 m) const;   // the block that block m of queries looks for
    static bool looks(u32 h) { return h % 4 == 0; }
    // The share of each block of keys in the attention of query i of head h; q is the query's row
    // of queries().
    std::vector<f64> shares(const std::vector<u16> &q, const std::vector<f32> &keys_of_head, u32 h,
                            u32 i) const;
    // [sk, d] of a key head, in f32.
    std::vector<f32> of_head(const std::vector<u16> &keys, u32 kv) const;

    const ContextShape shape;

private:
    f32 weight(u32 block) const;
    f32 topic(u32 kv, u32 block, u32 d) const;
    f32 own(u32 kv, u32 block, u32 d) const;
    f32 sink(u32 kv, u32 d) const;
    u32 needle_at(u32 block) const;

    Dtype dtype_;
    u32 diagonal_; // block of the first query
    Rng topics_, own_, sinks_, blocks_, keys_, queries_;
};

} // namespace nw::bench
