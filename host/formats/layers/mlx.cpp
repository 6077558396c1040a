// SPDX-License-Identifier: MIT
#include "formats/layers/mlx.h"

#include <fmt/format.h>

#include "base/error.h"
#include "formats/files/words.h"
#include "formats/layers/source_problem.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

constexpr std::string_view codes_suffix = ".weight";
constexpr u64 most_rows = u64{1} << 31; // of N or K: they are u32

bool is_real(const Tensor &t) { return t.dtype == "F16" || t.dtype == "BF16" || t.dtype == "F32"; }

std::string stem(const Tensor &codes) {
    return codes.name.substr(0, codes.name.size() - codes_suffix.size());
}

// 0 where the config doesn't say it.
u32 number(const std::optional<Claim<i64>> &claim) {
    constexpr i64 most = 1 << 20;
    return claim && claim->value > 0 && claim->value <= most ? static_cast<u32>(claim->value) : 0;
}

} // namespace

u32 MlxLayer::code(u64 row, u32 column) const {
    // 3, 5 and 6 bits may lie in two words.
    const u64 words = u64{k} * bits / 32, bit = u64{column} * bits;
    const u64 at = row * words + bit / 32;
    u64 word = load<u32>(codes->bytes, at);
    if (bit % 32 + bits > 32)
        word |= u64{load<u32>(codes->bytes, at + 1)} << 32;
    return static_cast<u32>(word >> bit % 32) & ((1u << bits) - 1);
}

bool is_mlx(const Checkpoint &checkpoint, const Tensor &t) {
    if (t.dtype != "U32" || !t.name.ends_with(codes_suffix))
        return false;
    const Tensor *scales = checkpoint.find(stem(t) + ".scales");
    return scales && is_real(*scales);
}

MlxLayer read_mlx(const Checkpoint &checkpoint, const Claims &claims, const Tensor &codes,
                  std::vector<const Tensor *> &used) {
    MlxLayer l;
    l.name = stem(codes);
    l.codes = &codes;
    l.scales = checkpoint.find(l.name + ".scales");
    l.biases = checkpoint.find(l.name + ".biases");
    used.insert(used.end(), {l.codes, l.scales});
    if (!l.biases)
        refuse_tensor(codes, fmt::format("its {} is missing from the checkpoint",
                                         in_quotes(l.name + ".biases")));
    used.push_back(l.biases);
    l.bits = number(claims.bits);
    l.group = number(claims.group);
    if (!l.bits || l.bits > 8 || !l.group)
        refuse_tensor(codes,
                      "is of MLX, whose bits, 1 to 8, and group_size are in \"quantization\" "
                      "of config.json: give the folder that has it");
    const size_t dimensions = codes.shape.size();
    if (dimensions != 2 && dimensions != 3)
        refuse_tensor(codes, "must have 2 dimensions, or 3 where experts are stacked");
    const u64 experts = dimensions == 3 ? codes.shape[0] : 1, n = codes.shape[dimensions - 2];
    const u64 row_bits = 32 * codes.shape.back(), k = row_bits / l.bits;
    if (experts < 1 || n < 1 || k < 1 || experts >= most_rows || n >= most_rows || k >= most_rows)
        refuse_tensor(codes, fmt::format("N = {}, K = {}: both must be 1 to 2^31 - 1", n, k));
    if (k * l.bits != row_bits || k % l.group)
        refuse_tensor(codes,
                      fmt::format("has rows of {} words, which are no whole groups of {} codes "
                                  "of {} bits, as the config says",
                                  codes.shape.back(), l.group, l.bits));
    std::vector<u64> groups = codes.shape;
    groups.back() = k / l.group;
    for (const Tensor *t : {l.scales, l.biases})
        if (!is_real(*t) || t->dtype != l.scales->dtype || t->shape != groups)
            refuse_tensor(*t,
                          fmt::format("must be {} {}, because the config says {} bits in groups "
                                      "of {}, and {} is {}",
                                      l.scales->dtype, shape_text(groups), l.bits, l.group,
                                      in_quotes(codes.name), shape_text(codes.shape)));
    l.experts = dimensions == 3 ? static_cast<u32>(experts) : 0;
    l.n = static_cast<u32>(n);
    l.k = static_cast<u32>(k);
    return l;
}

} // namespace nw
