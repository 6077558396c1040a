// SPDX-License-Identifier: MIT
#include "runtime/modules.h"

#include <fmt/format.h>

#include "base/error.h"
#include "runtime/files.h"

namespace nw {

const hip::Function *Modules::loaded(const Kernel &kernel) const {
    const std::shared_lock lock(access_);
    const auto found = loaded_.find(kernel.symbol.data());
    return found == loaded_.end() ? nullptr : &found->second.function;
}

Modules::Loaded Modules::load(const Kernel &kernel) const {
    const std::filesystem::path file = find_code_object(kernel, directory_);
    check_code_object(file);
    hip::Module module = device_.load(file.string());
    hip::Function function = module.function(std::string(kernel.symbol));
    return {std::move(module), std::move(function)};
}

const hip::Function &Modules::function(const Kernel &kernel) {
    if (kernel.gfx != device_.info().gfx)
        throw Error(fmt::format("{} is built for {}, the device {} is a {}", kernel.symbol,
                                kernel.gfx, device_.info().spec, device_.info().gfx));
    if (const hip::Function *found = loaded(kernel))
        return *found;
    const std::lock_guard loading(loading_);
    if (const hip::Function *found = loaded(kernel)) // by another thread meanwhile
        return *found;
    Loaded entry = load(kernel);
    const std::unique_lock lock(access_);
    return loaded_.emplace(kernel.symbol.data(), std::move(entry)).first->second.function;
}

} // namespace nw
