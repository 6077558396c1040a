// SPDX-License-Identifier: MIT
// A GGUF file's metadata of each layer: heads, window, whether it is a draft layer.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf_model.h"
#include "measure/shapes.h"

namespace nw::cli {

// Layers with attention alike.
struct ModelAttention {
    AttentionLayer of;
    u32 window = 0; // keys that a query sees at most; 0: all
};

class ModelLayers {
public:
    explicit ModelLayers(const GgufModel &);

    // The architecture's own number of a key, or of an array the layer's; nothing where there is
    // none.
    std::optional<u64> number(std::string_view key, std::optional<u64> layer = {}) const;

    // "blk.12.attn_q.weight" is of layer 12; nothing for other tensors.
    static std::optional<u64> layer_of(std::string_view tensor);
    // The last nextn_predict_layers of the layers draft tokens: a pass runs none of them.
    bool is_draft(std::string_view tensor) const;

    // Attention of the layers that have it and aren't draft layers, alike ones together. `why` gets
    // a line for what isn't counted or isn't known.
    std::vector<ModelAttention> attention(std::vector<std::string> &why) const;

private:
    bool has_attention(u64 layer) const;
    const GgufValue *window_pattern() const; // of the file; null: none
    u64 window(u64 layer) const;
    std::optional<ModelAttention> attention_of(u64 layer, std::string &why) const;

    const GgufModel &model_;
    u64 count_ = 0; // of layers, draft layers included
    u64 draft_ = 0;
    std::vector<bool> config_windows_; // by layer; empty: config.json has nothing to say
    std::string config_note_;          // what was read from it, or why nothing was
};

} // namespace nw::cli
