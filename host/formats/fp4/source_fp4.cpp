// SPDX-License-Identifier: MIT
#include "formats/fp4/source_fp4.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "formats/files/words.h"
#include "formats/layers/source_problem.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

using ByName = std::unordered_map<std::string_view, const Tensor *>;
using Shape = std::vector<u64>;

std::optional<std::string> without(const std::string &name, std::string_view suffix) {
    if (!name.ends_with(suffix) || name.size() == suffix.size())
        return std::nullopt;
    return name.substr(0, name.size() - suffix.size());
}

// Numbers that share a scale.
u32 group_of(GgmlType type) { return type == GgmlType::mxfp4 ? 32 : 16; }

// A byte has two numbers, a word eight; a shape of F4 counts them.
u64 numbers_of(const Tensor &codes, u64 size) {
    return size * (codes.dtype == "U32" ? 8 : codes.dtype == "U8" ? 2 : 1);
}

class Finder {
public:
    Finder(const std::vector<const Tensor *> &all, const ModelClaims &claims) : claims_(claims) {
        for (const Tensor *t : all)
            by_name_[t->name] = t;
    }

    // Nothing for other tensors. `used` are those that it has taken, also where it throws.
    std::optional<SourceFp4> read(const Tensor &t, std::vector<const Tensor *> &used) {
        used_ = &used;
        auto found = found_at(t);
        if (!found)
            return found;
        check_claims(*found);
        for (const char *name : {".bias", "_bias"})
            if (!found->bias && found->name + name != t.name)
                found->bias = find(found->name + name);
        found->made_from = used;
        std::erase(found->made_from, found->bias);
        return found;
    }

private:
    std::optional<SourceFp4> found_at(const Tensor &t) {
        if (t.dtype == "U32")
            return of_mlx(t);
        if (t.dtype != "U8" && t.dtype != "F4")
            return std::nullopt;
        if (const auto name = without(t.name, "_blocks"))
            return mxfp4_blocks(t, *name);
        for (std::string_view suffix : {".weight", ".weight_packed"})
            if (const auto name = without(t.name, suffix))
                return of_layer(t, *name, ".");
        return t.shape.size() == 3 ? of_layer(t, t.name, "_") : std::nullopt;
    }

    const Tensor *find(const std::string &name) const {
        const auto found = by_name_.find(name);
        if (found == by_name_.end())
            return nullptr;
        used_->push_back(found->second);
        return found->second;
    }

    void check_claims(const SourceFp4 &s) const {
        const Claims c = claims_.of(s.name);
        const char *type = find_ggml_type(s.type)->name.data();
        if (c.bits && c.bits->value != 4)
            refuse_tensor(*s.codes, fmt::format("has the shape of {}, but the config says {} bits "
                                                "({})",
                                                type, c.bits->value, c.bits->where));
        if (c.e2m1 && !c.e2m1->value)
            refuse_tensor(*s.codes, fmt::format("has the shape of {}, but the config says whole "
                                                "numbers ({})",
                                                type, c.e2m1->where));
        if (c.group && c.group->value != i64{group_of(s.type)})
            refuse_tensor(*s.codes,
                          fmt::format("has the shape of {}, in groups of {}, but the "
                                      "config says {} ({})",
                                      type, group_of(s.type), c.group->value, c.group->where));
    }

    const Tensor &scales_of(const Tensor &codes, const std::string &name, GgmlType type,
                            const Shape &shape) const {
        const Tensor *scales = find(name);
        if (!scales)
            refuse_tensor(codes, fmt::format("its scales {} are missing from the checkpoint",
                                             in_quotes(name)));
        // Bytes may be stored as such, of either type.
        const bool mx = type == GgmlType::mxfp4;
        const char *dtype = mx || codes.dtype == "U32" ? "U8" : "F8_E4M3";
        const bool fits = scales->dtype == "U8" || scales->dtype == (mx ? "F8_E8M0" : "F8_E4M3");
        if (!fits || scales->shape != shape)
            refuse_tensor(*scales,
                          fmt::format("must be {} {}, as {} is {}", dtype, shape_text(shape),
                                      in_quotes(codes.name), shape_text(codes.shape)));
        return *scales;
    }

    std::optional<SourceFp4> mxfp4_blocks(const Tensor &t, const std::string &name) const {
        const size_t dimensions = t.shape.size();
        if (dimensions < 3 || numbers_of(t, t.shape.back()) != 32)
            refuse_tensor(t, "must be [..., N, K/32, 16]: the numbers of 32 weights in 16 bytes");
        const Shape groups(t.shape.begin(), t.shape.end() - 1);
        const Tensor &scales = scales_of(t, name + "_scales", GgmlType::mxfp4, groups);
        return source(name, GgmlType::mxfp4, t, scales, 32 * groups.back(),
                      Shape(groups.begin(), groups.end() - 1), name + "_");
    }

    // By the type of its scales; other tensors of bytes have none of these.
    std::optional<SourceFp4> of_layer(const Tensor &t, const std::string &name, const char *join) {
        const auto found = by_name_.find(name + join + "weight_scale");
        if (found == by_name_.end() || t.shape.size() < 2)
            return std::nullopt;
        const std::string &dtype = found->second->dtype;
        if (dtype != "F8_E4M3" && dtype != "U8" && dtype != "F8_E8M0")
            return std::nullopt;
        if (const Tensor *zeros = find(name + join + "weight_zero_point"))
            refuse_tensor(
                *zeros, "zero points, which ggml's types of e2m1 have not; quantize symmetrically");
        const bool factor = by_name_.contains(name + join + "weight_scale_2") ||
                            by_name_.contains(name + join + "weight_global_scale");
        const GgmlType type =
            dtype == "F8_E4M3" || (dtype == "U8" && factor) ? GgmlType::nvfp4 : GgmlType::mxfp4;
        if (columns_first(t, *found->second, type))
            return nvfp4_factor(of_columns(type, t, *found->second, name, name + join), join);
        SourceFp4 out = codes_of_layer(type, t, name, std::string(join) + "weight_scale", join);
        return nvfp4_factor(std::move(out), join);
    }

    // Stacks as x @ W has them. Codes and scales have N in common and differ along K: both shapes
    // tell, also where N = K.
    static bool columns_first(const Tensor &codes, const Tensor &scales, GgmlType type) {
        const Shape &c = codes.shape, &s = scales.shape;
        return c.size() == 3 && s.size() == 3 && c[0] == s[0] && c[2] == s[2] &&
               numbers_of(codes, c[1]) == s[1] * group_of(type) && codes.dtype == "U8";
    }

    SourceFp4 of_columns(GgmlType type, const Tensor &t, const Tensor &scales,
                         const std::string &name, const std::string &prefix) const {
        const u64 k = numbers_of(t, t.shape[1]);
        check_k(type, t, k);
        find(scales.name);
        SourceFp4 out = source(name, type, t, scales, k, {t.shape[0], t.shape[2]}, prefix);
        out.columns_first = true;
        return out;
    }

    // Words of eight numbers, by how many share a scale.
    std::optional<SourceFp4> of_mlx(const Tensor &t) const {
        const auto name = without(t.name, ".weight");
        const auto found = name ? by_name_.find(*name + ".scales") : by_name_.end();
        const Tensor *scales = found == by_name_.end() ? nullptr : found->second;
        if (!scales || scales->dtype != "U8" || t.shape.size() < 2 || scales->shape.empty())
            return std::nullopt;
        const u64 words = t.shape.back(), groups = scales->shape.back();
        if (words == 8 * groups)
            refuse_tensor(t, "is MLX's mxfp8: only 4 bits are supported");
        if (words == 4 * groups)
            return codes_of_layer(GgmlType::mxfp4, t, *name, ".scales", ".");
        SourceFp4 out = codes_of_layer(GgmlType::nvfp4, t, *name, ".scales", ".");
        out.scale = 1;
        return out;
    }

    // Adds the scale of the whole tensor, which nvfp4 has.
    SourceFp4 nvfp4_factor(SourceFp4 out, const char *join) const {
        if (out.type != GgmlType::nvfp4)
            return out;
        if (const Tensor *factor = find(out.name + join + "weight_scale_2"))
            out.scale = whole(*factor);
        else if (const Tensor *divisor = find(out.name + join + "weight_global_scale"))
            out.scale = reciprocal(*divisor, whole(*divisor));
        else
            refuse_tensor(*out.codes, "nvfp4 has a scale of the whole tensor: weight_scale_2 or "
                                      "weight_global_scale, which is missing");
        return out;
    }

    static void check_k(GgmlType type, const Tensor &t, u64 k) {
        const GgmlTypeInfo &info = *find_ggml_type(type);
        if (k % info.elements)
            refuse_tensor(t, fmt::format("K = {}: must be a multiple of {}, a block of ggml's {}",
                                         k, info.elements, info.name));
    }

    // [..., N, K/2] of bytes or [..., N, K/8] of words, with a scale for each group of a row.
    SourceFp4 codes_of_layer(GgmlType type, const Tensor &t, const std::string &name,
                             const std::string &scales, const char *join) const {
        const u64 k = numbers_of(t, t.shape.back());
        check_k(type, t, k);
        const Shape outer(t.shape.begin(), t.shape.end() - 1);
        Shape groups = outer;
        groups.push_back(k / group_of(type));
        return source(name, type, t, scales_of(t, name + scales, type, groups), k, outer,
                      name + join);
    }

    static f32 whole(const Tensor &t) {
        if (t.dtype != "F32" || t.bytes.size() != sizeof(f32))
            refuse_tensor(t, "must be one F32");
        const f32 scale = load<f32>(t.bytes, 0);
        if (!std::isfinite(scale) || scale <= 0)
            refuse_tensor(t, fmt::format("is {}: must be finite and greater than 0", scale));
        return scale;
    }

    static f32 reciprocal(const Tensor &t, f32 divisor) {
        if (const f32 scale = 1 / divisor; std::isfinite(scale))
            return scale;
        refuse_tensor(
            t, fmt::format("is {}: its reciprocal, which multiplies, must be finite", divisor));
    }

    static SourceFp4 source(const std::string &name, GgmlType type, const Tensor &codes,
                            const Tensor &scales, u64 k, Shape outer, std::string prefix) {
        SourceFp4 out{.name = name,
                      .type = type,
                      .outer = std::move(outer),
                      .rows = 1,
                      .k = k,
                      .codes = &codes,
                      .scales = &scales,
                      .prefix = std::move(prefix)};
        for (u64 size : out.outer)
            out.rows *= size;
        if (out.rows == 0 || k == 0)
            refuse_tensor(codes, "has no weights");
        return out;
    }

    const ModelClaims &claims_;
    ByName by_name_;
    std::vector<const Tensor *> *used_ = nullptr;
};

// `count` numbers in pairs to those that are half of count apart.
void halves(const std::byte *pairs, u32 count, std::byte *out) {
    const auto code = [&](u32 i) { return std::to_integer<u32>(pairs[i / 2]) >> i % 2 * 4 & 15; };
    for (u32 i = 0; i < count / 2; ++i)
        out[i] = static_cast<std::byte>(code(i) | code(count / 2 + i) << 4);
}

// Scales of `row` are whole bytes, as many as there are groups.
void check_scales(const SourceFp4 &s, u64 row, std::span<const std::byte> scales) {
    const bool mx = s.type == GgmlType::mxfp4;
    const u32 most = mx ? 0xfe : 0x7e;
    for (u64 g = 0; g < scales.size(); ++g)
        if (const u32 scale = std::to_integer<u32>(scales[g]); scale > most)
            refuse_tensor(*s.scales,
                          fmt::format("row {}, group {} has the scale {:#04x}, {}; quantize it "
                                      "without",
                                      row, g, scale,
                                      mx              ? "NaN in e8m0, which ggml's mxfp4 has not"
                                      : scale == 0x7f ? "NaN in e4m3, which ggml's nvfp4 has not"
                                                      : "negative, which ggml's nvfp4 has not"));
}

} // namespace

u64 SourceFp4::row_bytes() const {
    const GgmlTypeInfo &info = *find_ggml_type(type);
    return k / info.elements * info.bytes;
}

u8 SourceFp4::code_byte(u64 row, u64 i) const {
    const u64 n = outer.back();
    return load<u8>(codes->bytes,
                    columns_first ? (row / n * (k / 2) + i) * n + row % n : row * (k / 2) + i);
}

u8 SourceFp4::scale_byte(u64 row, u64 g) const {
    const u64 n = outer.back(), groups = k / group_of(type);
    return load<u8>(scales->bytes,
                    columns_first ? (row / n * groups + g) * n + row % n : row * groups + g);
}

SourceFp4s take_fp4(std::vector<const Tensor *> &others, const ModelClaims &claims) {
    Finder finder(others, claims);
    SourceFp4s out;
    std::unordered_set<const Tensor *> used;
    for (const Tensor *t : others) {
        std::vector<const Tensor *> parts = {t};
        try {
            auto found = finder.read(*t, parts);
            if (!found)
                continue;
            out.layers.push_back(std::move(*found));
        } catch (const Error &e) {
            out.problems.emplace_back(e.what());
        }
        used.insert(parts.begin(), parts.end());
    }
    std::erase_if(others, [&](const Tensor *t) { return used.contains(t); });
    return out;
}

void ggml_rows(const SourceFp4 &s, u64 first, u64 count, std::byte *out) {
    const GgmlTypeInfo &info = *find_ggml_type(s.type);
    const u32 group = group_of(s.type), scales = info.elements / group;
    const u64 blocks = s.k / info.elements;
    std::vector<std::byte> column(s.columns_first ? s.k / 2 : 0), d(s.k / group);
    for (u64 row = first; row < first + count; ++row) {
        const std::byte *codes = &s.codes->bytes[s.columns_first ? 0 : row * s.k / 2];
        for (u64 i = 0; i < column.size(); ++i)
            column[i] = std::byte{s.code_byte(row, i)};
        if (s.columns_first)
            codes = column.data();
        for (u64 g = 0; g < d.size(); ++g)
            d[g] = std::byte{s.scale_byte(row, g)};
        check_scales(s, row, d);
        for (u64 b = 0; b < blocks; ++b, out += info.bytes) {
            std::memcpy(out, &d[b * scales], scales);
            for (u32 g = 0; g < scales; ++g)
                halves(codes + (b * info.elements + g * group) / 2, group,
                       out + scales + g * group / 2);
        }
    }
}

} // namespace nw
