// SPDX-License-Identifier: MIT
#include "formats/layers/hqq.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "formats/files/words.h"
#include "formats/layers/source_problem.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

constexpr std::string_view codes_suffix = ".W_q";

class HqqReader {
public:
    HqqReader(const Checkpoint &checkpoint, const Tensor &codes, std::vector<const Tensor *> &used)
        : checkpoint_(checkpoint), codes_(codes), used_(used),
          prefix_(codes.name.substr(0, codes.name.size() - codes_suffix.size() + 1)) {}

    HqqLayer read() {
        // Other entries that a layer may have: flags and numbers without effect here.
        for (const char *other :
             {"channel_wise", "compute_dtype", "encoded_state_dict", "offload_meta", "optimize",
              "quant_scale", "quant_zero", "round_zero", "stores_quant_config", "unpack_view_dtype",
              "view_as_float"})
            find(other);
        HqqLayer l;
        l.name = prefix_.substr(0, prefix_.size() - 1);
        used_.push_back(l.codes = &codes_);
        need_plain();
        read_shape(l);
        l.scales = &values(l, "scale");
        l.zeros = &values(l, "zero");
        if ((l.bias = find("bias"))) {
            if (l.bias->shape != std::vector<u64>{l.n})
                refuse_tensor(*l.bias, fmt::format("must be [N], N = {}", l.n));
            need_real(*l.bias);
        }
        return l;
    }

private:
    const Tensor *find(const std::string &suffix) {
        const Tensor *t = checkpoint_.find(prefix_ + suffix);
        if (t)
            used_.push_back(t);
        return t;
    }

    const Tensor &need(const std::string &suffix) {
        const Tensor *t = find(suffix);
        if (!t)
            refuse_tensor(codes_, fmt::format("its {} is missing from the checkpoint",
                                              in_quotes(prefix_ + suffix)));
        return *t;
    }

    static void need_real(const Tensor &t) {
        if (t.dtype != "F16" && t.dtype != "BF16" && t.dtype != "F32")
            refuse_tensor(t, "must be F16, BF16 or F32");
    }

    // The elements of an integer tensor; at most two.
    static std::vector<i64> integers(const Tensor &t) {
        const u64 size = t.dtype == "I64" ? 8 : t.dtype == "I32" ? 4 : t.dtype == "U8" ? 1 : 0;
        if (!size || t.bytes.size() / size > 2)
            refuse_tensor(t, "must be one or two integers (I64, I32 or U8)");
        std::vector<i64> out;
        for (u64 i = 0; i < t.bytes.size() / size; ++i)
            out.push_back(size == 8   ? load<i64>(t.bytes, i)
                          : size == 4 ? i64{load<i32>(t.bytes, i)}
                                      : i64{load<u8>(t.bytes, i)});
        return out;
    }

    i64 number(const std::string &suffix) {
        const Tensor &t = need(suffix);
        const std::vector<i64> values = integers(t);
        if (values.size() != 1)
            refuse_tensor(t, "must be one number");
        return values[0];
    }

    void need_plain() {
        if (find("scale_q") || find("zero_q") || find("zero_scale") || find("meta_scale"))
            refuse_tensor(codes_, "its scales or zero points are quantized themselves: quantize "
                                  "with quant_scale = False and quant_zero = False");
        if (const i64 bits = number("nbits"); bits != 4)
            refuse_tensor(codes_, fmt::format("has {} bits: only 4 are supported", bits));
        if (const i64 axis = number("axis"); axis != 1)
            refuse_tensor(codes_, fmt::format("is grouped along axis {}, across the rows of W: "
                                              "quantize with axis = 1, along them",
                                              axis));
        const Tensor &packing = need("packing");
        const std::string text(reinterpret_cast<const char *>(packing.bytes.data()),
                               std::min<size_t>(packing.bytes.size(), 64));
        if (text != "4bit_u8")
            refuse_tensor(packing, fmt::format("is {}: must be \"4bit_u8\"", in_quotes(text)));
        if (codes_.dtype != "U8")
            refuse_tensor(codes_, "must be U8, two codes each; save with view_as_float = False");
    }

    void read_shape(HqqLayer &l) {
        constexpr i64 most = i64{1} << 31;
        const Tensor &shape = need("shape");
        const std::vector<i64> sizes = integers(shape);
        if (sizes.size() != 2)
            refuse_tensor(shape, "must be N and K");
        const i64 n = sizes[0], k = sizes[1], group = number("group_size");
        if (n < 1 || k < 1 || n >= most || k >= most)
            refuse_tensor(shape,
                          fmt::format("says N = {}, K = {}: both must be 1 to 2^31 - 1", n, k));
        if (group < 1 || k % group || group % 8)
            refuse_tensor(codes_, fmt::format("has groups of {}: must divide K = {} and be a "
                                              "multiple of 8",
                                              group, k));
        l.n = static_cast<u32>(n);
        l.k = static_cast<u32>(k);
        l.group = static_cast<u32>(group);
        if (l.rows() % 2 || codes_.bytes.size() != l.rows() / 2 * l.group)
            refuse_tensor(codes_,
                          fmt::format("must have N * K / 2 = {} bytes of an even number of groups; "
                                      "{} says N = {}, K = {}",
                                      l.rows() * l.group / 2, in_quotes(shape.name), n, k));
    }

    const Tensor &values(const HqqLayer &l, const std::string &suffix) {
        const Tensor &t = need(suffix);
        need_real(t);
        u64 count = 1;
        for (u64 size : t.shape)
            count *= size;
        if (count != l.rows())
            refuse_tensor(t,
                          fmt::format("must have N * K / G = {} elements: N = {}, K = {}, G = {}",
                                      l.rows(), l.n, l.k, l.group));
        return t;
    }

    const Checkpoint &checkpoint_;
    const Tensor &codes_;
    std::vector<const Tensor *> &used_;
    std::string prefix_; // with its dot
};

} // namespace

bool is_hqq(const Checkpoint &checkpoint, const Tensor &t) {
    if (t.name.size() <= codes_suffix.size() || !t.name.ends_with(codes_suffix))
        return false;
    const std::string layer = t.name.substr(0, t.name.size() - codes_suffix.size());
    return checkpoint.find(layer + ".nbits") != nullptr; // attention may have a W_q too
}

HqqLayer read_hqq(const Checkpoint &checkpoint, const Tensor &codes,
                  std::vector<const Tensor *> &used) {
    return HqqReader(checkpoint, codes, used).read();
}

} // namespace nw
