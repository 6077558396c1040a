// SPDX-License-Identifier: MIT
#include "kernels/modules.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/files.h"

namespace nw {

const hip::Function &Modules::function(const Kernel &kernel) {
    if (kernel.gfx != device_.info().gfx)
        throw Error(fmt::format("{} is built for {}, the device {} is a {}", kernel.symbol,
                                kernel.gfx, device_.info().spec, device_.info().gfx));
    if (const auto found = loaded_.find(kernel.symbol); found != loaded_.end())
        return found->second.function;
    const std::filesystem::path file = find_code_object(kernel);
    check_code_object(file);
    hip::Module module = device_.load(file.string());
    hip::Function function = module.function(std::string(kernel.symbol));
    Loaded entry{std::move(module), std::move(function)};
    return loaded_.emplace(kernel.symbol, std::move(entry)).first->second.function;
}

} // namespace nw
