// SPDX-License-Identifier: MIT
#include "sim/isa/tables/memory_ops.h"

#include <array>
#include <string>
#include <unordered_map>

namespace nw::sim {

namespace {

using Map = std::unordered_map<std::string_view, MemoryOp>;

#define MEM(name, kind, bytes, elements, extend)                                                   \
    {#name, {#name, Access::kind, Atomic::none, bytes, elements, Extend::extend}},
// A component that fills a register has 4 bytes, a half 2.
#define TYPED(name, kind, components, registers, extend, d16)                                      \
    {#name,                                                                                        \
     {#name, Access::kind, Atomic::none, Extend::extend == Extend::whole ? 4 : 2, registers,       \
      Extend::extend, false, components, d16}},
#define ATOMIC(name, operation, bytes)                                                             \
    {#name, {#name, Access::atomic, Atomic::operation, bytes, 1, Extend::whole}},

#define EXCHANGE2(name, kind, bytes)                                                               \
    {#name, {#name, Access::kind, Atomic::exchange, bytes, 1, Extend::whole}},

const Map &vmem() {
    static const Map &map = *new Map{
#include "sim/isa/tables/vmem.inc"
    };
    return map;
}

const Map &images() {
    static const Map &map = *new Map{
#define IMAGE(name, kind, form)                                                                    \
    {#name,                                                                                        \
     {#name, Access::kind, Atomic::none, 4, 4, Extend::whole, false, 4, false, ImageForm::form}},
#include "sim/isa/tables/image.inc"
#undef IMAGE
    };
    return map;
}

const Map &ds() {
    static const Map &map = *new Map{
#include "sim/isa/tables/ds.inc"
    };
    return map;
}

MemoryOp look_up(const Map &map, std::string_view name) {
    auto it = map.find(name);
    return it == map.end() ? MemoryOp{} : it->second;
}

MemoryOp find_ds(std::string_view name) {
    constexpr std::string_view rtn = "_rtn";
    size_t at = name.find(rtn);
    if (at == name.npos) {
        MemoryOp op = look_up(ds(), name);
        op.returns = name == "append" || name == "consume";
        return op;
    }
    std::string plain(name);
    plain.erase(at, rtn.size());
    MemoryOp op = look_up(ds(), plain);
    op.returns = true;
    return op.updates() ? op : MemoryOp{};
}

} // namespace

MemoryOp find_memory_op(std::string_view mnemonic) {
    constexpr std::array<std::string_view, 5> prefixes{"global_", "flat_", "scratch_", "buffer_",
                                                       "tbuffer_"};
    for (std::string_view prefix : prefixes)
        if (mnemonic.starts_with(prefix))
            return look_up(vmem(), mnemonic.substr(prefix.size()));
    if (constexpr std::string_view image = "image_"; mnemonic.starts_with(image))
        return look_up(images(), mnemonic.substr(image.size()));
    return mnemonic.starts_with("ds_") ? find_ds(mnemonic.substr(3)) : MemoryOp{};
}

bool loads_scalars(std::string_view n) {
    return n.starts_with("s_load_") || n.starts_with("s_buffer_load_") ||
           n.starts_with("s_scratch_load_");
}

MemoryOp find_scalar_write(std::string_view mnemonic) {
    constexpr std::array<std::string_view, 3> prefixes{"s_buffer_", "s_scratch_", "s_"};
    for (std::string_view prefix : prefixes)
        if (mnemonic.starts_with(prefix)) {
            const MemoryOp op = look_up(vmem(), mnemonic.substr(prefix.size()));
            return op.loads() ? MemoryOp{} : op;
        }
    return {};
}

} // namespace nw::sim
