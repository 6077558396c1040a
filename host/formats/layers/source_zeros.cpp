// SPDX-License-Identifier: MIT
#include "formats/layers/source_zeros.h"

#include <fmt/format.h>

#include "formats/files/words.h"
#include "formats/layers/source_names.h"
#include "formats/layers/source_problem.h"

namespace nw {

namespace {

// The set of values (0..15) among the zero points of all slices.
u32 zeros_seen(const SourceLinear &l, u64 slices) {
    const bool awq = l.format == SourceFormat::awq_gemm;
    const bool by_row = l.format == SourceFormat::compressed_tensors;
    const u64 words = l.zeros.size() / 4 / slices, inner = by_row ? l.groups() : l.zero_words();
    const u32 last = l.n % 8 && !awq ? l.n % 8 : 8; // nibbles used of the last word
    u32 seen = 0;
    for (u64 i = 0; i < words * slices; ++i) {
        const u64 at = by_row ? i % words / inner : i % inner;
        const u32 word = load<u32>(l.zeros, i), used = at + 1 == l.zero_words() ? last : 8;
        for (u32 j = 0; j < used; ++j)
            seen |= 1u << nibble(word, j);
    }
    return seen;
}

} // namespace

void read_zeros(SourceLinear &l, const Tensor &zeros, u64 slices, const Claims &claims) {
    const u32 seen = zeros_seen(l, slices);
    MappedFile::release(l.zeros); // all layers' zeros can exceed the largest tensor
    constexpr u32 sevens = 1 << 7, eights = 1 << 8, fifteen = 1 << 15;
    const bool gptq = l.format == SourceFormat::gptq_v1;
    // Some symmetric files claim v1 but store 8 as v2 does: the stored values decide.
    const bool may_be_symmetric = !claims.symmetric || claims.symmetric->value;
    if (gptq && may_be_symmetric && (seen == sevens || seen == eights)) {
        l.format = seen == sevens ? SourceFormat::gptq_v1 : SourceFormat::gptq_v2;
        l.symmetric = true;
        return;
    }
    if (claims.symmetric && claims.symmetric->value && (gptq || seen != eights))
        refuse_tensor(zeros,
                      fmt::format("the config says sym ({}), but zero points are {}; one of them "
                                  "belongs to another checkpoint",
                                  claims.symmetric->where,
                                  gptq ? "neither all 7 (v1) nor all 8 (v2)" : "not all 8"));
    if (gptq && !claims.zeros_as_they_are)
        refuse_tensor(zeros,
                      "is asymmetric, and no config says whether zero points are stored less 1 "
                      "(checkpoint_format = gptq, as AutoGPTQ has them) or as they are "
                      "(gptq_v2): the same bytes are other weights; say --checkpoint-format "
                      "gptq or gptq_v2");
    if (gptq && claims.zeros_as_they_are->value)
        l.format = SourceFormat::gptq_v2;
    if (l.format == SourceFormat::gptq_v1 && (seen & fifteen))
        refuse_tensor(zeros,
                      "contains 15, in GPTQ v1 a zero point of 16 to some readers and of 0, "
                      "stored as -1, to others: save it as gptq_v2 with the program that made "
                      "it; if the file is v2, its config needs checkpoint_format = gptq_v2, or "
                      "say --checkpoint-format gptq_v2");
    l.symmetric = l.format == SourceFormat::gptq_v1 ? seen == sevens : seen == eights;
    if (!l.symmetric && l.per_row() && !spread_over_groups(l))
        refuse_tensor(zeros,
                      fmt::format("has one zero point per row, and K = {} is no multiple of 32: "
                                  "rows without groups must be symmetric; quantize "
                                  "symmetrically, or in groups of 32, 64 or 128",
                                  l.k));
}

} // namespace nw
