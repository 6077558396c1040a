// SPDX-License-Identifier: MIT
// Types and zero points of products with group-scaled 4-bit weights.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/half.h"
#include "runtime/kernel.h"
#include "runtime/op.h"

namespace nw {

// Form of the zero points.
enum class Zeros : u8 {
    eight,   // 8 everywhere: symmetric quantization
    packed,  // uint32 [ceil(N/8), K/G], 4 bits each: row n in bits 4 * (n % 8) of its dword
    typed,   // [N, K/G] in the activations' type, whole numbers 0..15
    carrier, // with the scale, uint32 [N, K/G] in place of s: s in the lower half, in the upper one
             // -z * s rounded (f16) or z as an integer (bf16)
};

constexpr std::string_view zeros_name(Zeros zeros) {
    constexpr std::string_view names[] = {"", "zp", "zt", "carrier"};
    return names[static_cast<u64>(zeros)];
}
inline std::string group_name(u64 group) { return group == per_row ? "k" : std::to_string(group); }

inline u64 word_of(Dtype dtype) { return find_word(name(dtype)); }
inline u64 word_of(Zeros zeros) { return find_word(zeros_name(zeros)); }

// Parameters of a kernel of these families.
inline Dtype dtype_of(const Kernel &k) {
    return k.p.dtype == word("bf16") ? Dtype::bf16 : Dtype::f16;
}
inline u32 group_of(const Kernel &k) { return k.p.group; }
inline Zeros zeros_of(const Kernel &k) {
    for (const Zeros zeros : {Zeros::packed, Zeros::typed, Zeros::carrier})
        if (k.p.zeros == word_of(zeros))
            return zeros;
    return Zeros::eight;
}

// A product's sizes: all that a choice depends on.
inline Op linear_w4a16(Dtype dtype, u64 group, Zeros zeros, u64 m, u64 n, u64 k) {
    Op op{.kind = OpKind::linear_w4a16};
    op.dtype = word_of(dtype);
    op.group = group;
    op.zeros = word_of(zeros);
    op.m = m, op.n = n, op.k = k;
    return op;
}

#include "op_words.inc"

// Types of GGUF weights with kernels.
inline constexpr std::span<const std::string_view> gguf_types = linear_gguf_type;

inline Op linear_gguf(std::string_view type, u64 m, u64 n, u64 k) {
    Op op{.kind = OpKind::linear_gguf};
    op.type = find_word(type);
    op.m = m, op.n = n, op.k = k;
    return op;
}

} // namespace nw
