// SPDX-License-Identifier: MIT
// Which layers of a model have a sliding window, where its GGUF file does not say it layer by
// layer.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::cli {

// One layer of each period sees all keys: the last one, or the first. A period of 0: none does.
struct WindowPattern {
    u64 period = 0;
    bool full_first = false;

    bool has_window(u64 layer) const {
        return period == 0 || layer % period != (full_first ? 0 : period - 1);
    }
};

// llama.cpp's pattern for an architecture whose file has a window and no pattern. A pattern of the
// file replaces the period alone. `layers`: of the model.
std::optional<WindowPattern> known_pattern(std::string_view architecture, u64 layers);

// By layer, from config.json in the file's folder: layer_types or sliding_window_pattern. Empty
// without them, or if they are of another model: other layers, another window. `note` says what was
// read or why not.
std::vector<bool> windows_of_config(const std::filesystem::path &gguf, u64 layers, u64 window,
                                    std::string &note);

} // namespace nw::cli
