// SPDX-License-Identifier: MIT
#include "bench/shapes.h"

#include <fmt/format.h>

#include "bench/options.h"

namespace nw::bench {

std::vector<LinearShape> layers_of(const std::vector<LinearShape> &shapes,
                                   const std::string &model) {
    std::vector<LinearShape> out;
    std::vector<std::string> models;
    for (const LinearShape &shape : shapes) {
        if (models.empty() || models.back() != shape.model)
            models.push_back(shape.model);
        if (shape.model == model)
            out.push_back(shape);
    }
    if (out.empty())
        throw Usage(
            fmt::format("--model {}: unknown; there are {}", model, fmt::join(models, ", ")));
    return out;
}

} // namespace nw::bench
