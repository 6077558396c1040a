// SPDX-License-Identifier: MIT
#include "formats/layers/source_linear.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_set>

#include "base/error.h"
#include "formats/claims/foreign_layouts.h"
#include "formats/files/words.h"
#include "formats/layers/source_hqq.h"
#include "formats/layers/source_names.h"
#include "formats/layers/source_problem.h"
#include "formats/layers/source_zeros.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

constexpr u64 most_rows = u64{1} << 31; // of N or K: they are u32, and half a row is less

// A layer's tensors: those with a common prefix. Slices are its matrices, more than one where the
// tensors have a leading dimension.
class Layer {
public:
    Layer(const Checkpoint &checkpoint, const Tensor &weights, std::string_view suffix)
        : checkpoint_(checkpoint), weights_(weights),
          prefix_(weights.name.substr(0, weights.name.size() - suffix.size())) {}

    std::vector<SourceLinear> read(const ModelClaims &model) {
        used_.push_back(&weights_);
        claims_ = model.of(prefix_.substr(0, prefix_.size() - 1));
        method_ = model.method();
        check_method();
        if (weights_.shape.size() != 2 && weights_.shape.size() != 3)
            fail(weights_, "must have 2 dimensions, or 3 where experts are stacked");
        stacked_ = weights_.shape.size() == 3;
        slices_ = stacked_ ? weights_.shape[0] : 1;
        if (slices_ == 0)
            fail(weights_, "has no slices");
        SourceLinear whole;
        whole.tensor = weights_.name;
        whole.prefix = prefix_;
        want_int(weights_);
        if (weights_.name.ends_with("qweight"))
            read_qweight(whole);
        else
            read_weight_packed(whole);
        name_linear(whole, prefix_, stacked_);
        std::vector<SourceLinear> out;
        for (u64 slice = 0; slice < slices_; ++slice)
            out.push_back(slice_of(whole, slice));
        return out;
    }

    const std::vector<const Tensor *> &used() const { return used_; }

private:
    [[noreturn]] static void fail(const Tensor &t, const std::string &why) {
        refuse_tensor(t, why);
    }

    const Tensor *find(std::string_view suffix) {
        const Tensor *t = checkpoint_.find(prefix_ + std::string(suffix));
        if (t)
            used_.push_back(t);
        return t;
    }

    const Tensor &need(std::string_view suffix) {
        const Tensor *t = find(suffix);
        if (!t)
            fail(weights_, fmt::format("its {} is missing from the checkpoint",
                                       in_quotes(prefix_ + std::string(suffix))));
        return *t;
    }

    // The config takes precedence: shapes of other layouts can look like those of this one.
    void check_method() const {
        if (const auto name = foreign_layout(checkpoint_, weights_); !name.empty())
            fail(weights_, fmt::format("is of {}, a layout that is not read; quantize the original "
                                       "model in a layout that is (`nw pack --help`)",
                                       name));
        if (claims_.bits && claims_.bits->value != 4)
            fail(weights_, fmt::format("the config says {} bits ({}): only 4 are supported",
                                       claims_.bits->value, claims_.bits->where));
        if (claims_.e2m1 && claims_.e2m1->value)
            fail(weights_, fmt::format("must be U8 or F4, as the config says floating-point "
                                       "numbers of 4 bits ({})",
                                       claims_.e2m1->where));
    }

    void want_int(const Tensor &t) const {
        if (t.dtype != "I32" && t.dtype != "U32")
            fail(t, "must be I32: eight 4-bit values each");
    }

    void want_real(const Tensor &t) const {
        if (t.dtype != "F16" && t.dtype != "BF16" && t.dtype != "F32")
            fail(t, "must be F16, BF16 or F32");
    }

    // The shape after the leading dimension.
    void want_shape(const Tensor &t, std::vector<u64> shape, const char *rule) const {
        if (stacked_)
            shape.insert(shape.begin(), slices_);
        if (t.shape != shape)
            fail(t, fmt::format("must have the shape {} ({}), because {} is {}", shape_text(shape),
                                rule, in_quotes(weights_.name), shape_text(weights_.shape)));
    }

    u64 rows(const Tensor &t) const { return t.shape[t.shape.size() - 2]; }
    u64 columns(const Tensor &t) const { return t.shape.back(); }

    void want_matrix(const Tensor &t) const {
        if (t.shape.size() != weights_.shape.size() || (stacked_ && t.shape[0] != slices_))
            fail(t, fmt::format("must have the same dimensions and slices as {}, {}",
                                in_quotes(weights_.name), shape_text(weights_.shape)));
    }

    // ---- the two spellings -------------------------------------------------------------------

    void read_qweight(SourceLinear &l) {
        const Tensor &scales = need("scales"), &zeros = need("qzeros");
        want_matrix(scales);
        const u64 wr = rows(weights_), wc = columns(weights_);
        const u64 n = columns(scales);
        if (n == 8 * wc) {
            l.format = SourceFormat::awq_gemm;
            set_shape(l, n, wr, rows(scales));
        } else if (n == wc) {
            l.format = SourceFormat::gptq_v1; // or v2: decided by the zero points
            set_shape(l, n, 8 * wr, rows(scales));
        } else if (rows(scales) == wr && method_ != "gptq") {
            fail(weights_, fmt::format("has as many rows as {} {}, which is AWQ's GEMV layout; "
                                       "save the model with version = GEMM",
                                       in_quotes(scales.name), shape_text(scales.shape)));
        } else {
            fail(weights_,
                 fmt::format("{} with {} {}, whose columns are N",
                             method_ == "gptq"  ? "does not fit GPTQ's [K/8, N]"
                             : method_ == "awq" ? "does not fit AWQ's [K, N/8]"
                                                : "fits neither GPTQ [K/8, N] nor AWQ [K, N/8]",
                             in_quotes(scales.name), shape_text(scales.shape)));
        }
        const bool awq = l.format == SourceFormat::awq_gemm;
        if (method_ == (awq ? "gptq" : "awq"))
            fail(weights_, fmt::format("has the shape of {}'s weights, but the config says {}",
                                       awq ? "AWQ" : "GPTQ", method_));
        want_shape(zeros, {l.groups(), l.zero_words()}, "[K/G, N/8]");
        l.zeros = zeros.bytes;
        want_int(zeros);
        read_rest(l, scales, find("g_idx"));
        read_zeros(l, zeros, slices_, claims_);
    }

    void read_weight_packed(SourceLinear &l) {
        l.format = SourceFormat::compressed_tensors;
        const Tensor &scales = need("weight_scale"), &shape = need("weight_shape");
        want_matrix(scales);
        const auto [n, k] = said_shape(shape);
        if (rows(weights_) != n || columns(weights_) != ceil_div<u64>(k, 8))
            fail(weights_, fmt::format("must be [N, ceil(K/8)] of 4-bit weights; {} says N = {}, "
                                       "K = {}",
                                       in_quotes(shape.name), n, k));
        set_shape(l, n, k, columns(scales));
        want_shape(scales, {n, l.groups()}, "[N, K/G]");
        const Tensor *zeros = find("weight_zero_point");
        if (zeros && zeros->dtype == "I8") {
            check_unpacked(l, *zeros);
            zeros = nullptr;
        } else if (zeros) {
            want_shape(*zeros, {l.zero_words(), l.groups()}, "[ceil(N/8), K/G]");
            want_int(*zeros);
            l.zeros = zeros->bytes;
        } else if (claims_.symmetric && !claims_.symmetric->value) {
            fail(weights_,
                 fmt::format("the config says zero points ({} is false), but its {} is "
                             "missing from the checkpoint",
                             claims_.symmetric->where, in_quotes(prefix_ + "weight_zero_point")));
        }
        read_rest(l, scales, find("weight_g_idx"));
        if (zeros)
            read_zeros(l, *zeros, slices_, claims_);
        else
            l.symmetric = true;
    }

    // Zero points of before version 0.4, a byte each, which has them of symmetric layers, too.
    void check_unpacked(const SourceLinear &l, const Tensor &zeros) const {
        want_shape(zeros, {l.n, l.groups()}, "[N, K/G] of unpacked zero points");
        if (std::ranges::any_of(zeros.bytes, [](std::byte b) { return b != std::byte{0}; }))
            fail(zeros, "has zero points that are not packed, a byte each, and are not all 0; save "
                        "the model with compressed-tensors 0.4 or newer");
    }

    // N and K as weight_shape has them: [2], of stacked experts [3] or one row for each.
    std::pair<u64, u64> said_shape(const Tensor &t) const {
        if (t.dtype != "I64" && t.dtype != "I32")
            fail(t, "must be I64 or I32");
        const u64 size = t.dtype == "I64" ? 8 : 4, count = t.bytes.size() / size;
        const auto at = [&](u64 i) {
            return size == 8 ? load<i64>(t.bytes, i) : i64{load<i32>(t.bytes, i)};
        };
        if (count < 2 || (count != 2 && !stacked_))
            fail(t, "must contain N and K");
        const i64 n = at(count - 2), k = at(count - 1);
        if (stacked_ && count == 2 * slices_)
            for (u64 i = 0; i < count; i += 2)
                if (at(i) != n || at(i + 1) != k)
                    fail(t, "experts of one tensor must have the same shape");
        if (n < 1 || k < 1)
            fail(t, fmt::format("says N = {}, K = {}: both must be positive", n, k));
        return {static_cast<u64>(n), static_cast<u64>(k)};
    }

    // ---- what they share ---------------------------------------------------------------------

    void set_shape(SourceLinear &l, u64 n, u64 k, u64 groups) const {
        if (n < 1 || k < 1 || n >= most_rows || k >= most_rows)
            fail(weights_, fmt::format("N = {}, K = {}: both must be 1 to 2^31 - 1", n, k));
        if (k % 16)
            fail(weights_, fmt::format("K = {}: must be a multiple of 16", k));
        const i64 said = claims_.group ? claims_.group->value : 0;
        const u64 whole = said > 0 ? static_cast<u64>(said) : 1;
        if (k % whole && groups == ceil_div(k, whole))
            fail(weights_, fmt::format("K = {} is no multiple of the groups of {} that the config "
                                       "says ({}): the last group is short, and kernels have whole "
                                       "ones; quantize in groups that divide K",
                                       k, said, claims_.group->where));
        if (groups < 1 || k % groups)
            fail(weights_,
                 fmt::format("K = {} is not a multiple of the {} scales of a row", k, groups));
        l.n = static_cast<u32>(n);
        l.k = static_cast<u32>(k);
        l.group = static_cast<u32>(k / groups);
        if (said && said != i64{l.group} && !(said < 0 && groups == 1))
            fail(weights_, fmt::format("the config says groups of {} ({}), the shape of the scales "
                                       "{}; one of them belongs to another checkpoint",
                                       said, claims_.group->where, l.group));
        if (groups > 1 && l.group != 32 && l.group != 64 && l.group != 128)
            fail(weights_, fmt::format("K = {} with {} scales per row makes groups of {}: must be "
                                       "32, 64, 128 or a whole row; quantize with one of these",
                                       k, groups, l.group));
    }

    void read_rest(SourceLinear &l, const Tensor &scales, const Tensor *g_idx) {
        want_real(scales);
        l.scales = scales.bytes;
        l.scale_dtype = scales.dtype;
        l.weights = weights_.bytes;
        if (const Tensor *bias = find("bias")) {
            want_shape(*bias, {l.n}, "[N]");
            want_real(*bias);
            l.bias = bias->bytes;
            l.bias_dtype = bias->dtype;
        }
        if (g_idx) {
            want_shape(*g_idx, {l.k}, "[K]");
            want_int(*g_idx);
            g_idx_ = g_idx;
        }
        check_order(l);
    }

    SourceLinear slice_of(const SourceLinear &whole, u64 slice) const {
        SourceLinear l = whole;
        const auto part = [&](std::span<const std::byte> all) {
            const u64 bytes = all.size() / slices_;
            return all.subspan(slice * bytes, bytes);
        };
        l.weights = part(whole.weights);
        l.scales = part(whole.scales);
        l.zeros = part(whole.zeros);
        l.bias = part(whole.bias);
        if (stacked_)
            l.expert = static_cast<u32>(slice);
        if (g_idx_)
            read_order(l, part(g_idx_->bytes));
        return l;
    }

    void read_order(SourceLinear &l, std::span<const std::byte> g_idx) const {
        const u32 groups = l.stored_groups(), length = l.k / groups;
        std::vector<u32> group_of(l.k), members(groups);
        for (u32 k = 0; k < l.k; ++k) {
            group_of[k] = load<u32>(g_idx, k);
            if (group_of[k] >= groups)
                fail(*g_idx_, fmt::format("has group {} for k = {}: must be 0 to {}",
                                          static_cast<i32>(group_of[k]), k, groups - 1));
            ++members[group_of[k]];
            l.act_order |= group_of[k] != k / length;
        }
        for (u32 g = 0; g < groups; ++g)
            if (members[g] != length)
                fail(*g_idx_, fmt::format("assigns {1} of the k to group {0}: each needs {2}", g,
                                          members[g], length));
        MappedFile::release(g_idx);
        if (l.act_order)
            l.group_of = std::move(group_of);
    }

    void check_order(const SourceLinear &l) const {
        if (claims_.act_order && claims_.act_order->value && !g_idx_ && l.groups() > 1)
            fail(weights_, fmt::format("the config says act-order, but its {} is missing: the "
                                       "group of each column is unknown",
                                       l.by_row() ? "weight_g_idx" : "g_idx"));
    }

    const Checkpoint &checkpoint_;
    Claims claims_;
    std::string method_; // the config's quant_method
    const Tensor &weights_;
    std::string prefix_;
    bool stacked_ = false;
    u64 slices_ = 1;
    const Tensor *g_idx_ = nullptr;
    std::vector<const Tensor *> used_;
};

// Name suffixes of a layer's weights.
std::string_view weights_suffix(const std::string &name) {
    for (std::string_view suffix : {"qweight", "weight_packed"}) {
        const size_t rest = name.size() - suffix.size();
        if (name.ends_with(suffix) && rest > 1 && (name[rest - 1] == '.' || name[rest - 1] == '_'))
            return suffix;
    }
    return {};
}

} // namespace

std::string_view name(SourceFormat format) {
    constexpr std::array names = {"gptq_v1", "gptq_v2", "awq_gemm", "compressed_tensors", "hqq"};
    return names[static_cast<size_t>(format)];
}

SourceLinears find_linears(const Checkpoint &checkpoint, const ModelClaims &claims) {
    SourceLinears out;
    std::unordered_set<const Tensor *> used;
    const std::vector<const Tensor *> tensors = checkpoint.tensors();
    // Adds what read() returns; `parts` are the tensors that it has used.
    const auto add = [&](const auto &read, const std::vector<const Tensor *> &parts) {
        try {
            for (SourceLinear &l : read())
                out.linears.push_back(std::move(l));
        } catch (const Error &e) {
            out.problems.emplace_back(e.what());
        }
        used.insert(parts.begin(), parts.end());
    };
    for (const Tensor *t : tensors) {
        if (const std::string other = other_format(checkpoint, *t); !other.empty())
            add([&]() -> std::vector<SourceLinear> { refuse_tensor(*t, other); }, {t});
        if (is_hqq(checkpoint, *t)) {
            std::vector<const Tensor *> parts;
            add([&] { return std::vector{hqq_linear(read_hqq(checkpoint, *t, parts))}; }, parts);
        }
        const std::string_view suffix = weights_suffix(t->name);
        if (suffix.empty() || t->dtype == "U8" || t->dtype == "F4") // e2m1: fp4/source_fp4.h
            continue;
        Layer layer(checkpoint, *t, suffix);
        add([&] { return layer.read(claims); }, layer.used());
    }
    for (const Tensor *t : tensors)
        if (!used.contains(t))
            out.others.push_back(t);
    return out;
}

} // namespace nw
