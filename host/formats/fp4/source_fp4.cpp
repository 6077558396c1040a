// SPDX-License-Identifier: MIT
#include "formats/fp4/source_fp4.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "formats/json.h"
#include "formats/words.h"

namespace nw {

namespace {

using ByName = std::unordered_map<std::string_view, const Tensor *>;
using Shape = std::vector<u64>;

[[noreturn]] void fail(const Tensor &t, const std::string &why) {
    throw Error(
        fmt::format("{} ({} {}): {}", in_quotes(t.name), t.dtype, shape_text(t.shape), why));
}

std::optional<std::string> without(const std::string &name, std::string_view suffix) {
    if (!name.ends_with(suffix) || name.size() == suffix.size())
        return std::nullopt;
    return name.substr(0, name.size() - suffix.size());
}

class Finder {
public:
    explicit Finder(const std::vector<const Tensor *> &all) {
        for (const Tensor *t : all)
            by_name_[t->name] = t;
    }

    std::optional<SourceFp4> read(const Tensor &t) {
        if (t.dtype == "U32")
            return of_mlx(t);
        if (t.dtype != "U8")
            return std::nullopt;
        if (const auto name = without(t.name, "_blocks"))
            return mxfp4_blocks(t, *name);
        for (std::string_view suffix : {".weight", ".weight_packed"})
            if (const auto name = without(t.name, suffix))
                return of_layer(t, *name);
        return std::nullopt;
    }

private:
    const Tensor *find(const std::string &name) const {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : found->second;
    }

    const Tensor &scales_of(const Tensor &codes, const std::string &name, std::string_view dtype,
                            const Shape &shape) const {
        const Tensor *scales = find(name);
        if (!scales)
            fail(codes,
                 fmt::format("its scales {} are missing from the checkpoint", in_quotes(name)));
        if (scales->dtype != dtype || scales->shape != shape)
            fail(*scales, fmt::format("must be {} {}, as {} is {}", dtype, shape_text(shape),
                                      in_quotes(codes.name), shape_text(codes.shape)));
        return *scales;
    }

    std::optional<SourceFp4> mxfp4_blocks(const Tensor &t, const std::string &name) const {
        const size_t dimensions = t.shape.size();
        if (dimensions < 3 || t.shape.back() != 16)
            fail(t, "must be [..., N, K/32, 16]: the numbers of 32 weights in 16 bytes");
        const Shape groups(t.shape.begin(), t.shape.end() - 1);
        const Tensor &scales = scales_of(t, name + "_scales", "U8", groups);
        return source(name, GgmlType::mxfp4, t, scales, 32 * groups.back(),
                      Shape(groups.begin(), groups.end() - 1));
    }

    // By the type of its scales; other tensors of bytes have none of these.
    std::optional<SourceFp4> of_layer(const Tensor &t, const std::string &name) const {
        const Tensor *scales = find(name + ".weight_scale");
        if (!scales || t.shape.size() < 2 || (scales->dtype != "F8_E4M3" && scales->dtype != "U8"))
            return std::nullopt;
        if (const Tensor *zeros = find(name + ".weight_zero_point"))
            fail(*zeros,
                 "zero points, which ggml's types of e2m1 have not; quantize symmetrically");
        if (scales->dtype == "F8_E4M3")
            return nvfp4(t, name);
        return codes_of_layer(GgmlType::mxfp4, t, name, ".weight_scale", "U8", 32);
    }

    // Words of eight numbers, by how many share a scale.
    std::optional<SourceFp4> of_mlx(const Tensor &t) const {
        const auto name = without(t.name, ".weight");
        const Tensor *scales = name ? find(*name + ".scales") : nullptr;
        if (!scales || scales->dtype != "U8" || t.shape.size() < 2 || scales->shape.empty())
            return std::nullopt;
        const u64 words = t.shape.back(), groups = scales->shape.back();
        if (words == 8 * groups)
            fail(t, "is MLX's mxfp8: only 4 bits are supported");
        if (words == 4 * groups)
            return codes_of_layer(GgmlType::mxfp4, t, *name, ".scales", "U8", 32);
        SourceFp4 out = codes_of_layer(GgmlType::nvfp4, t, *name, ".scales", "U8", 16);
        out.scale = 1;
        return out;
    }

    SourceFp4 nvfp4(const Tensor &t, const std::string &name) const {
        SourceFp4 out = codes_of_layer(GgmlType::nvfp4, t, name, ".weight_scale", "F8_E4M3", 16);
        if (const Tensor *factor = find(name + ".weight_scale_2"))
            out.scale = whole(out, *factor);
        else if (const Tensor *divisor = find(name + ".weight_global_scale"))
            out.scale = reciprocal(*divisor, whole(out, *divisor));
        else
            fail(t, "nvfp4 has a scale of the whole tensor: weight_scale_2 or weight_global_scale, "
                    "which is missing");
        return out;
    }

    // [..., N, K/2] of bytes or [..., N, K/8] of words, with a scale of `dtype` for `group` numbers
    // of a row.
    SourceFp4 codes_of_layer(GgmlType type, const Tensor &t, const std::string &name,
                             const char *scales, std::string_view dtype, u64 group) const {
        const GgmlTypeInfo &info = *find_ggml_type(type);
        const u64 k = (t.dtype == "U32" ? 8 : 2) * t.shape.back();
        if (k % info.elements)
            fail(t, fmt::format("K = {}: must be a multiple of {}, a block of ggml's {}", k,
                                info.elements, info.name));
        const Shape outer(t.shape.begin(), t.shape.end() - 1);
        Shape groups = outer;
        groups.push_back(k / group);
        return source(name, type, t, scales_of(t, name + scales, dtype, groups), k, outer);
    }

    static f32 whole(SourceFp4 &of, const Tensor &t) {
        if (t.dtype != "F32" || t.bytes.size() != sizeof(f32))
            fail(t, "must be one F32");
        const f32 scale = load<f32>(t.bytes, 0);
        if (!std::isfinite(scale) || scale <= 0)
            fail(t, fmt::format("is {}: must be finite and greater than 0", scale));
        of.made_from.push_back(&t);
        return scale;
    }

    static f32 reciprocal(const Tensor &t, f32 divisor) {
        if (const f32 scale = 1 / divisor; std::isfinite(scale))
            return scale;
        fail(t, fmt::format("is {}: its reciprocal, which multiplies, must be finite", divisor));
    }

    static SourceFp4 source(const std::string &name, GgmlType type, const Tensor &codes,
                            const Tensor &scales, u64 k, Shape outer) {
        SourceFp4 out{name, type, std::move(outer), 1, k, &codes, &scales, {}, {&codes, &scales}};
        for (u64 size : out.outer)
            out.rows *= size;
        if (out.rows == 0 || k == 0)
            fail(codes, "has no weights");
        return out;
    }

    ByName by_name_;
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
            fail(*s.scales, fmt::format("row {}, group {} has the scale {:#04x}, {}; quantize it "
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

std::vector<SourceFp4> take_fp4(std::vector<const Tensor *> &others) {
    Finder finder(others);
    std::vector<SourceFp4> out;
    std::unordered_set<const Tensor *> used;
    for (const Tensor *t : others)
        if (auto found = finder.read(*t)) {
            used.insert(found->made_from.begin(), found->made_from.end());
            out.push_back(std::move(*found));
        }
    std::erase_if(others, [&](const Tensor *t) { return used.contains(t); });
    return out;
}

void ggml_rows(const SourceFp4 &s, u64 first, u64 count, std::byte *out) {
    const GgmlTypeInfo &info = *find_ggml_type(s.type);
    const u32 group = s.type == GgmlType::mxfp4 ? 32 : 16, scales = info.elements / group;
    const u64 blocks = s.k / info.elements;
    for (u64 row = first; row < first + count; ++row) {
        const std::byte *codes = &s.codes->bytes[row * s.k / 2];
        const auto d = s.scales->bytes.subspan(row * s.k / group, s.k / group);
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
