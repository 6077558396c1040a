// SPDX-License-Identifier: MIT
// Weights of e2m1 in safetensors, and the same as rows of ggml's blocks, which kernels read.
//
//   mxfp4  NAME_blocks U8 [..., K/32, 16], NAME_scales U8 [..., K/32], e8m0: as gpt-oss; or
//          NAME.weight_packed U8 [..., N, K/2], NAME.weight_scale U8 [..., N, K/32]: as
//          compressed-tensors and AutoRound; or NAME.weight in place of weight_packed: as Quark;
//          or NAME.weight U32 [..., N, K/8], NAME.scales U8 [..., N, K/32]: as MLX.
//          Scales may be F8_E8M0, the same bytes.
//   nvfp4  NAME.weight U8 [..., N, K/2], NAME.weight_scale F8_E4M3 [..., N, K/16],
//          NAME.weight_scale_2 F32, one number that multiplies: as ModelOpt; or NAME.weight_packed
//          in place of weight, and NAME.weight_global_scale, which divides: as compressed-tensors;
//          scales of these may be U8, the same bytes;
//          or NAME.weight U32 [..., N, K/8], NAME.scales U8 [..., N, K/16] of e4m3: as MLX, which
//          has no other scale; or of stacked experts NAME U8 [E, K/2, N],
//          NAME_weight_scale F8_E4M3 [E, K/16, N], NAME_weight_scale_2: as ModelOpt has gpt-oss and
//          Llama 4, columns first; also [E, N, K/2] and [E, N, K/16]
//
// Codes of U8 may be F4, whose shape counts numbers: K in place of K/2.
//
// A byte has numbers 2i, in its low nibble, and 2i + 1; a word four such bytes. In ggml's blocks
// (gguf_blocks.h) a byte has two that are half a group apart. Codes of numbers and bytes of scales
// are the same: conversion loses nothing. What ggml has otherwise than OCP is refused: e8m0's NaN,
// 255, and of e4m3 NaN and signs.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/claims/layer_claims.h"
#include "formats/gguf/gguf_types.h"
#include "formats/safetensors/checkpoint.h"

namespace nw {

struct SourceFp4 {
    std::string name;
    GgmlType type = GgmlType::mxfp4; // or nvfp4
    std::vector<u64> outer;          // dimensions but the last, [experts, N] or [N]
    u64 rows = 0, k = 0;             // rows: product of outer
    const Tensor *codes = nullptr, *scales = nullptr;
    std::optional<f32> scale;   // of the whole tensor
    bool columns_first = false; // codes are [E, K/2, N], scales [E, K/G, N]
    const Tensor *bias = nullptr;
    std::vector<const Tensor *> made_from;
    std::string prefix; // of the names of its tensors in the file

    u64 row_bytes() const; // of ggml's blocks
    // Byte i of the row's codes, which has numbers 2i and 2i + 1; the scale of its group g.
    u8 code_byte(u64 row, u64 i) const;
    u8 scale_byte(u64 row, u64 g) const;
};

struct SourceFp4s {
    std::vector<SourceFp4> layers;
    std::vector<std::string> problems; // of those that can't be read: a group without its scales,
                                       // shapes that differ, a K that is not of whole blocks
};

// Takes these tensors out of `others`.
SourceFp4s take_fp4(std::vector<const Tensor *> &others, const ModelClaims &);

// `count` rows from `first` on, count * row_bytes() bytes. Throws Error for a scale that ggml's
// type has not.
void ggml_rows(const SourceFp4 &, u64 first, u64 count, std::byte *out);

} // namespace nw
