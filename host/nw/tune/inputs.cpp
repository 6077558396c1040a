// SPDX-License-Identifier: MIT
#include "nw/tune/inputs.h"

#include <fmt/format.h>

#include "base/error.h"
#include "formats/linear_shapes.h"

namespace nw::cli {

std::set<std::pair<u32, u32>> dense_shapes(const std::string &file) {
    std::set<std::pair<u32, u32>> out;
    for (const LinearShape &shape : read_shapes(file))
        if (!shape.moe)
            out.insert({shape.n, shape.k});
    if (out.empty())
        throw Error(fmt::format("--shapes {}: it has no dense layer", file));
    return out;
}

std::string model_name(const std::string &gfx) { return hip::Device("sim:" + gfx).info().name; }

void need_gfx(const hip::Device &device, const std::string &gfx) {
    const hip::DeviceInfo &info = device.info();
    if (info.gfx != gfx)
        throw Error(fmt::format("--gfx {}: the device {} is a {}", gfx, info.spec, info.gfx));
}

} // namespace nw::cli
