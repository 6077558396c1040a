// SPDX-License-Identifier: MIT
#include "sim/isa/fidelity.h"

#include <string>
#include <unordered_map>

namespace nw::sim {

FidelityNote fidelity_of(std::string_view mnemonic) {
    static const std::unordered_map<std::string_view, FidelityNote> notes{
#define APPROXIMATE(mn, note, bound) {#mn, {Fidelity::approximate, note, bound}},
#define OPEN(mn, note) {#mn, {Fidelity::open, note, ""}},
#include "sim/isa/fidelity.inc"
#undef APPROXIMATE
#undef OPEN
    };
    auto it = notes.find(mnemonic);
    return it == notes.end() ? FidelityNote{} : it->second;
}

FidelityNote fidelity_of(const Instruction &inst) {
    if (!inst.y)
        return fidelity_of(inst.x.mnemonic);
    auto half = [](std::string_view mnemonic) {
        std::string name(mnemonic); // v_dual_fmac_f32 is v_fmac_f32 twice as fast
        return fidelity_of(name.starts_with("v_dual_") ? name.erase(2, 5) : name);
    };
    const FidelityNote x = half(inst.x.mnemonic), y = half(inst.y->mnemonic);
    return y.fidelity > x.fidelity ? y : x;
}

} // namespace nw::sim
