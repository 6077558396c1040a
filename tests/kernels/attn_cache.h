// SPDX-License-Identifier: MIT
// Attention to keys and values in a cache: in any format, in pages or not, of sequences of their
// own lengths. For the tests of every family that reads one.
#pragma once
#include <string_view>
#include <vector>

#include "check/check.h"
#include "decode_case.h"
#include "ref/attn_decode.h"

namespace nw::check {

struct CacheShape {
    u32 sq, sk, h = 2, hk = 1, b = 1;
    bool causal = true;
    u32 page = 0;        // keys, 0: no pages
    u32 share = 0;       // keys of a workgroup of attn_decode, 0: the contract's
    bool padded = false; // NaN between heads, keys and sequences
};

struct CacheCase : CacheShape {
    Dtype dtype;
    ref::CacheFormat format;
    u32 d;
    f32 scale;
    std::vector<u16> q, k, v; // [b, s, h, d]
    std::vector<i32> kv_len;
    std::vector<i32> idx, cnt; // lists of blocks, as attn_forward has them
    f64 least_p;               // p, of a largest of 1, that the kernel keeps with full precision
    bool lse = true;

    CacheCase(const Kernel &, const CacheShape &, Rng &, f32 sigma = 1);
    u16 word(f64 x) const { return round_to(dtype, x); }
    u32 pages_each() const { return page ? ceil_div(sk, page) : 1; }
    u32 pages() const { return page ? b * pages_each() + 3 : 1; }
    u16 *key(std::vector<u16> &x, u32 j, u32 head = 0) const { // of the first sequence
        return &x[(u64{j} * hk + head) * d];
    }
};

// A tensor in memory: strides in bytes; NaN where it has no element.
struct CachePlaced {
    u64 outer, row, head;
    std::vector<u8> bytes;

    CachePlaced(const CacheCase &, u32 many, u32 rows, u32 heads, u64 row_bytes);
};

struct CacheOutput {
    std::vector<u16> o;
    std::vector<f32> lse;
    std::vector<i32> table;
    CachePlaced k, v;
};

// Pages in any order; some of the cache are no sequence's.
std::vector<i32> page_table(const CacheCase &, Rng &);

// Launches the kernel; fails the test where a guard band or an input changed, or something was
// written between rows.
CacheOutput run(Test &, const Kernel &, const CacheCase &, std::source_location,
                std::vector<i32> table = {});

void say(Test &, const CacheCase &, std::string_view what);
void check_output(Test &, const CacheCase &, const CacheOutput &, std::source_location);
void check_case(Test &, const Kernel &, const CacheCase &, std::string_view what = "",
                std::source_location = std::source_location::current());

// Entries of the page table that are no page's read the last one, of the cache of this shape.
void check_no_page(Test &, const Kernel &, CacheCase);

} // namespace nw::check
