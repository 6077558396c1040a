// SPDX-License-Identifier: MIT
// The attn_decode family: softmax(scale q k^T) v with k and v in a cache, perhaps in pages.
#pragma once
#include "ref/attn_forward.h"

namespace nw::ref {

// Elements of k and v: of the dtype; f16(d * q) of GGUF's blocks q8_0; E4M3.
enum class CacheFormat { same, q8_0, fp8 };

// Rows [sequence or page, key, head], of d elements each; strides in bytes.
struct AttnCache {
    std::span<const u8> bytes;
    u64 outer, row, head;
};

struct AttnDecode {
    Dtype dtype;
    u32 b, sq, sk, h, hk, d;
    bool causal; // query i sees keys up to i + kv_len - sq
    f32 scale;
    AttnTensor q{};
    AttnCache k{}, v{};
    CacheFormat format = CacheFormat::same;
    u32 page = 0, pages = 0;           // keys of a page, 0: no pages; pages of the cache
    std::span<const i32> page_table{}; // [b, ceil(sk / page)]
    std::span<const i32> kv_len{};     // [b]; empty: sk
    std::span<const i32> idx{}, cnt{}; // [b, h, tiles, blocks] and [b, h, tiles]; empty: all blocks
    f64 least_p = 0;
};

AttnResult attn_decode(const AttnDecode &);

} // namespace nw::ref
