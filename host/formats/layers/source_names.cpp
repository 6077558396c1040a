// SPDX-License-Identifier: MIT
#include "formats/layers/source_names.h"

#include <algorithm>
#include <fmt/format.h>

#include "formats/layers/mlx.h"

namespace nw {

bool spread_over_groups(SourceLinear &l) {
    for (u32 group : {128, 64, 32})
        if (l.k % group == 0) {
            l.group = group;
            return l.spread = true;
        }
    return false;
}

void name_linear(SourceLinear &l, std::string layer, bool stacked) {
    while (layer.ends_with('.') || layer.ends_with('_'))
        layer.pop_back();
    l.name = std::move(layer);
    // a.experts.17.b is expert 17 of a.experts.b
    constexpr std::string_view folder = ".experts.";
    const size_t at = l.name.find(folder);
    if (stacked || at == std::string::npos)
        return;
    const size_t begin = at + folder.size(), end = l.name.find('.', begin);
    const std::string number = l.name.substr(begin, end - begin);
    const bool digits = !number.empty() && number.size() < 7 &&
                        std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
    if (end == std::string::npos || !digits)
        return;
    l.expert = static_cast<u32>(std::stoul(number));
    l.name.erase(begin, end + 1 - begin);
}

std::string other_format(const Checkpoint &checkpoint, const Tensor &t) {
    if (is_mlx(checkpoint, t))
        return "is of MLX, scale * code + bias: with rounded scales the bias is no whole number of "
               "them, so no zero point gives it; `nw quantize` dequantizes the layer, quantizes it "
               "to w4a16 and prints the error";
    constexpr std::string_view state = ".quant_state.bitsandbytes__";
    const size_t at = t.name.find(state);
    if (at == std::string::npos)
        return {};
    return fmt::format("is of bitsandbytes, as {}: its 16 values are not equally spaced, so no "
                       "scale and zero point give them; `nw quantize` dequantizes the layer, "
                       "quantizes it to w4a16 and prints the error",
                       t.name.substr(at + state.size()));
}

} // namespace nw
