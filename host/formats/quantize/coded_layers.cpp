// SPDX-License-Identifier: MIT
#include "formats/quantize/coded_layers.h"

#include <fmt/format.h>

#include "base/error.h"
#include "formats/files/words.h"
#include "formats/layers/hqq.h"
#include "formats/layers/mlx.h"
#include "formats/layers/source_problem.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

using Json = nlohmann::json;

constexpr std::string_view state_suffix = ".quant_state.bitsandbytes__";
constexpr u32 state_depth = 8;

std::string safetensors_dtype(const std::string &torch) {
    return torch == "float16"    ? "F16"
           : torch == "bfloat16" ? "BF16"
           : torch == "float32"  ? "F32"
                                 : "";
}

class BitsandbytesReader {
public:
    BitsandbytesReader(const Checkpoint &checkpoint, const Tensor &state)
        : checkpoint_(checkpoint), state_(state) {
        const size_t at = state.name.find(state_suffix);
        out_.name = state.name.substr(0, at);
        out_.format = state.name.substr(at + state_suffix.size());
        if (out_.format != "nf4" && out_.format != "fp4")
            refuse_tensor(state, fmt::format("is of the type {}: must be nf4 or fp4",
                                             in_quotes(out_.format)));
        out_.used.push_back(&state);
        const auto text = reinterpret_cast<const char *>(state.bytes.data());
        json_ = parse_json({text, state.bytes.size()}, in_quotes(state.name), state_depth);
        if (!json_.is_object())
            refuse_tensor(state, "is not a JSON object");
    }

    CodedLayer read() {
        read_shape();
        const u64 block = number("blocksize", 1 << 20);
        const u64 weights = u64{out_.n} * out_.k;
        out_.codes = &need("", "U8", ceil_div<u64>(weights, 2));
        const Tensor &map = need(".quant_map", "F32", 16);
        const auto scale = checkpoint_.find(out_.name + ".nested_absmax")
                               ? nested(ceil_div(weights, block))
                               : plain(ceil_div(weights, block));
        out_.row = [k = out_.k, block, codes = out_.codes->bytes, values = floats(map),
                    scale](u64 n, std::span<f32> w) {
            f32 s = 0;
            for (u64 j = 0, i = n * k; j < k; ++j, ++i) {
                if (j == 0 || i % block == 0)
                    s = scale(i / block);
                const u32 byte = load<u8>(codes, i / 2);
                w[j] = values[i % 2 ? byte & 15 : byte >> 4] * s;
            }
        };
        return std::move(out_);
    }

private:
    void read_shape() {
        const auto shape = json_.find("shape");
        if (shape == json_.end() || !shape->is_array() || shape->size() != 2)
            refuse_tensor(state_, "has no \"shape\" of two numbers");
        const auto size = [&](const Json &x) {
            constexpr u64 most = u64{1} << 31;
            if (!x.is_number_unsigned() || x.get<u64>() < 1 || x.get<u64>() >= most)
                refuse_tensor(state_, "has a \"shape\" whose numbers are not 1 to 2^31 - 1");
            return static_cast<u32>(x.get<u64>());
        };
        out_.n = size((*shape)[0]);
        out_.k = size((*shape)[1]);
        const auto dtype = json_.find("dtype");
        if (dtype != json_.end() && dtype->is_string())
            out_.dtype = safetensors_dtype(dtype->get<std::string>());
        if (out_.dtype.empty())
            refuse_tensor(state_, "has no \"dtype\" that is float16, bfloat16 or float32");
    }

    u64 number(const char *key, u64 most) const {
        const auto found = json_.find(key);
        if (found == json_.end() || !found->is_number_unsigned() || found->get<u64>() < 1 ||
            found->get<u64>() > most)
            refuse_tensor(state_, fmt::format("has no \"{}\" from 1 to {}", key, most));
        return found->get<u64>();
    }

    const Tensor &need(const std::string &suffix, std::string_view dtype, u64 count) {
        const Tensor *t = checkpoint_.find(out_.name + suffix);
        if (!t)
            refuse_tensor(state_, fmt::format("{} is missing from the checkpoint",
                                              in_quotes(out_.name + suffix)));
        if (t->dtype != dtype || t->bytes.size() * 8 / *dtype_bits(dtype) != count)
            refuse_tensor(*t, fmt::format("must have {} elements of {}, as {} says N = {}, K = {}",
                                          count, dtype, in_quotes(state_.name), out_.n, out_.k));
        out_.used.push_back(t);
        return *t;
    }

    static std::vector<f32> floats(const Tensor &t) {
        std::vector<f32> out(t.bytes.size() / sizeof(f32));
        for (size_t i = 0; i < out.size(); ++i)
            out[i] = load<f32>(t.bytes, i);
        return out;
    }

    // absmax of a block.
    using Scale = std::function<f32(u64 block)>;

    Scale plain(u64 blocks) {
        return
            [bytes = need(".absmax", "F32", blocks).bytes](u64 b) { return load<f32>(bytes, b); };
    }

    Scale nested(u64 blocks) {
        const u64 block = number("nested_blocksize", 1 << 20);
        const auto offset = json_.find("nested_offset");
        if (offset == json_.end() || !offset->is_number())
            refuse_tensor(state_, "has no number \"nested_offset\"");
        return [codes = need(".absmax", "U8", blocks).bytes,
                map = floats(need(".nested_quant_map", "F32", 256)),
                scale = need(".nested_absmax", "F32", ceil_div(blocks, block)).bytes, block,
                offset = offset->get<f32>()](u64 b) {
            return map[load<u8>(codes, b)] * load<f32>(scale, b / block) + offset;
        };
    }

    const Checkpoint &checkpoint_;
    const Tensor &state_;
    Json json_;
    CodedLayer out_;
};

CodedLayer hqq_layer(const Checkpoint &checkpoint, const Tensor &codes) {
    CodedLayer out;
    const HqqLayer h = read_hqq(checkpoint, codes, out.used);
    std::erase(out.used, h.bias);
    out.name = h.name + ".weight";
    out.format = "hqq";
    out.dtype = h.scales->dtype;
    out.n = h.n;
    out.k = h.k;
    out.codes = h.codes;
    out.row = [h](u64 n, std::span<f32> w) {
        const u64 half = u64{h.n} * h.k / 2;
        for (u64 j = 0, i = n * h.k; j < h.k; ++j, ++i) {
            const u32 byte = load<u8>(h.codes->bytes, i % half),
                      code = i < half ? byte >> 4 : byte & 15;
            const u64 g = i / h.group;
            w[j] = (static_cast<f32>(code) - load_real(h.zeros->dtype, h.zeros->bytes, g)) *
                   load_real(h.scales->dtype, h.scales->bytes, g);
        }
    };
    return out;
}

CodedLayer mlx_layer(const Checkpoint &checkpoint, const ModelClaims &claims, const Tensor &codes) {
    CodedLayer out;
    const std::string layer = codes.name.substr(0, codes.name.rfind('.'));
    const MlxLayer m = read_mlx(checkpoint, claims.of(layer), codes, out.used);
    out.name = codes.name;
    out.format = "mlx";
    out.dtype = m.scales->dtype;
    out.experts = m.experts;
    out.n = m.n;
    out.k = m.k;
    out.codes = m.codes;
    out.row = [m](u64 n, std::span<f32> w) {
        for (u32 j = 0; j < m.k; ++j) {
            const u64 g = n * (m.k / m.group) + j / m.group;
            w[j] = load_real(m.scales->dtype, m.scales->bytes, g) * static_cast<f32>(m.code(n, j)) +
                   load_real(m.biases->dtype, m.biases->bytes, g);
        }
    };
    return out;
}

} // namespace

std::vector<CodedLayer> find_coded_layers(const Checkpoint &checkpoint, const ModelClaims &claims) {
    std::vector<CodedLayer> out;
    for (const Tensor *t : checkpoint.tensors()) {
        if (t->name.find(state_suffix) != std::string::npos)
            out.push_back(BitsandbytesReader(checkpoint, *t).read());
        else if (is_hqq(checkpoint, *t))
            out.push_back(hqq_layer(checkpoint, *t));
        else if (is_mlx(checkpoint, *t))
            out.push_back(mlx_layer(checkpoint, claims, *t));
    }
    return out;
}

} // namespace nw
