// SPDX-License-Identifier: MIT
#include "formats/claims/foreign_layouts.h"

#include <algorithm>

namespace nw {

namespace {

struct ByValue {
    std::string_view value, layout;
};
constexpr ByValue by_value[] = {
    {"exl2", "EXL2"},
    {"exl3", "EXL3"},
    {"aqlm", "AQLM"},
    {"quip", "QuIP#"},
    {"quip#", "QuIP#"},
    {"quip_sharp", "QuIP#"},
    {"quipsharp", "QuIP#"},
    {"qtip", "QTIP"},
    {"spqr", "SpQR"},
    {"vptq", "VPTQ"},
    {"higgs", "HIGGS"},
    {"eetq", "EETQ"},
    {"bitnet", "BitNet"},
    {"bitblas", "BitBLAS"},
    {"gptq_bitblas", "BitBLAS"},
    {"qqq", "QQQ"},
    {"squeezellm", "SqueezeLLM"},
    {"marlin", "Marlin"},
    {"gptq_marlin", "Marlin"},
    {"awq_marlin", "Marlin"},
    {"gptq_marlin_24", "Marlin 2:4"},
    {"marlin_24", "Marlin 2:4"},
    {"marlin-24", "Marlin 2:4"},
    {"paroquant", "ParoQuant"},
    {"quanto", "Quanto"},
    {"torchao", "torchao"},
    {"omniquant", "OmniQuant"},
    {"svdquant", "SVDQuant"},
    {"nunchaku", "SVDQuant"},
    {"fp_quant", "FP-Quant"},
    {"sinq", "SINQ"},
    {"gguf", "GGUF in safetensors"},
    {"gemv", "AWQ's GEMV"},
    {"gemv_fast", "AWQ's GEMV fast"},
    {"gemvfast", "AWQ's GEMV fast"},
    {"llm-awq", "llm-awq's GEMV fast"},
};

struct ByTensors {
    std::string_view suffix, beside, layout; // both in one module
};
constexpr ByTensors by_tensors[] = {
    {"q_weight", "q_groups", "EXL2"},
    {"q_weight", "q_scale", "EXL2"},
    {"trellis", "svh", "EXL3"},
    {"trellis", "suh", "EXL3"},
    {"trellis", "SU", "QTIP"},
    {"codes", "codebooks", "AQLM"},
    {"Qidxs", "SU", "QuIP#"},
    {"Qidxs", "SV", "QuIP#"},
    {"dense_weights", "row_offsets", "SpQR"},
    {"in_perm", "row_offsets", "SpQR"},
    {"indices", "centroids", "VPTQ"},
    {"indices.weight", "centroids.weight", "VPTQ"},
    {"B_24", "s", "Marlin 2:4"},
    {"B", "s_channel", "QQQ"},
    {"B", "s", "Marlin"},
    {"weight", "tables2", "HIGGS"},
    {"weight", "weight_scales", "EETQ"},
    {"qweight", "weight_scales", "EETQ"},
    {"weight", "SCB", "bitsandbytes' int8"},
    {"qweight", "lookup_table", "SqueezeLLM"},
    {"qweight", "wscales", "SVDQuant"},
    {"qweight", "wcscales", "SVDQuant"},
    {"qweight", "theta", "ParoQuant"},
    {"qweight", "pairs", "ParoQuant"},
    {"weight._data", "weight._scale", "Quanto"},
    {"weight_packed", "meta", "Marlin 2:4"},
    {"weight_packed", "scale_packed", "Marlin 2:4"},
};

} // namespace

std::string_view foreign_layout(std::string_view value) {
    const auto found = std::ranges::find(by_value, value, &ByValue::value);
    return found == std::end(by_value) ? std::string_view() : found->layout;
}

std::string_view foreign_layout(const Checkpoint &checkpoint, const Tensor &t) {
    for (const ByTensors &row : by_tensors) {
        if (!t.name.ends_with(row.suffix))
            continue;
        const std::string module = t.name.substr(0, t.name.size() - row.suffix.size());
        if (module.ends_with('.') && checkpoint.find(module + std::string(row.beside)))
            return row.layout;
    }
    return {};
}

} // namespace nw
