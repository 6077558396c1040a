// SPDX-License-Identifier: MIT
// Attention for the tests of the C API: operands in device memory, and the expected result in
// double.
#pragma once
#include <optional>

#include "api/product.h"
#include "base/half.h"
#include "base/rng.h"
#include "ref/attn_decode.h"
#include "ref/attn_mean.h"
#include "ref/attn_select.h"

namespace api_test {

struct AttentionShape {
    int dtype = NW_F16;
    u32 sq = 300, sk = 300, h = 4, hk = 2, d = 64, b = 1;
    bool causal = true;
    bool fused = false; // q, k and v are views of [b, s, h + 2 hk, d]; sq = sk
    bool lse = true;
    f32 shared = 0; // how much queries and keys of a block have in common
};

// Device memory between two guard bands, NaN until it is written.
class Result {
public:
    explicit Result(u64 bytes);
    void *data() const { return static_cast<u8 *>(memory_.data) + guard; }
    void clear();
    bool guards_clean() const;
    bool untouched() const; // since clear()
    template <class T> std::vector<T> read() const {
        std::vector<T> out(bytes_ / sizeof(T));
        HIP_OK(hipMemcpy(out.data(), data(), bytes_, hipMemcpyDeviceToHost));
        return out;
    }

private:
    static constexpr u64 guard = 4096;
    std::vector<u8> everything() const;
    const u64 bytes_;
    Memory memory_;
};

class Attention {
public:
    explicit Attention(const AttentionShape &, u64 seed = 1);
    nw_attn arguments() const;
    nw_attn_select selection() const; // into idx and cnt
    nw_attn_mean mean() const;        // of keys, into its result
    nw_attn listed() const;           // arguments() with idx and cnt

    // From now on keys and values are in a cache: in pages, unless `page` is 0, in any order; of
    // sequences of these lengths, unless there are none. What no query sees is NaN.
    void use_cache(ref::CacheFormat, u32 page, std::vector<i32> kv_len);

    void clear();
    bool untouched() const;
    // Differences in o and lse, over lists or over all blocks; empty if they are right.
    std::string difference(const ref::AttnLists *lists = nullptr) const;
    // The lists that are right, where rounding of scores decides none.
    ref::AttnLists lists(const nw_attn_select &) const;
    // Differences in idx and cnt, and in means.
    std::string difference_of_lists(const nw_attn_select &) const;
    std::string difference_of_means() const;

    const AttentionShape shape;

private:
    Dtype type() const { return shape.dtype == NW_BF16 ? Dtype::bf16 : Dtype::f16; }
    u32 tiles() const { return ceil_div(shape.sq, ref::attn_block); }
    u32 blocks() const { return ceil_div(shape.sk, ref::attn_block); }
    ref::AttnTokens tokens(const std::vector<u16> &, u32 count, u32 heads) const;
    std::vector<f32> scores(const nw_attn_select &) const;
    void place();
    ref::AttnResult exact(const ref::AttnLists *) const;
    std::vector<u8> cached(const std::vector<u16> &) const;

    struct Cache {
        ref::CacheFormat format;
        u32 page, pages; // keys; 0: none
        u64 row;         // bytes
        std::vector<i32> table, kv_len;
        std::vector<u8> k, v;
    };
    ref::AttnCache rows(const std::vector<u8> &) const;
    std::optional<Cache> cache_;
    std::vector<u16> q_, k_, v_; // [b, s, h, d]
    std::vector<std::unique_ptr<Memory>> memory_;
    nw_attn arguments_ = NW_ATTN_INIT;
    Result o_, lse_, idx_, cnt_, mean_;
};

} // namespace api_test
