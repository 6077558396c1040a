// SPDX-License-Identifier: MIT
#include "sim/isa/fidelity.h"

#include <string>
#include <unordered_map>

namespace nw::sim {

namespace {

using Notes = std::unordered_map<std::string_view, FidelityNote>;

FidelityNote find(const Notes &notes, std::string_view mnemonic) {
    auto it = notes.find(mnemonic);
    return it == notes.end() ? FidelityNote{} : it->second;
}

} // namespace

FidelityNote fidelity_of(std::string_view mnemonic, bool fast_math) {
#define APPROXIMATE(mn, note, bound) {#mn, {Fidelity::approximate, note, bound}},
#define OPEN(mn, note) {#mn, {Fidelity::open, note, ""}},
#define FAST(mn, note)
    static const Notes always{
#include "sim/isa/fidelity.inc"
    };
#undef APPROXIMATE
#undef OPEN
#undef FAST
#define APPROXIMATE(mn, note, bound)
#define OPEN(mn, note)
#define FAST(mn, note) {#mn, {Fidelity::approximate, note, "a rounding per f32 addition"}},
    static const Notes fast{
#include "sim/isa/fidelity.inc"
    };
#undef APPROXIMATE
#undef OPEN
#undef FAST
    FidelityNote note = find(always, mnemonic);
    return note.fidelity == Fidelity::exact && fast_math ? find(fast, mnemonic) : note;
}

FidelityNote fidelity_of(const Instruction &inst, bool fast_math) {
    if (!inst.y)
        return fidelity_of(inst.x.mnemonic, fast_math);
    auto half = [&](std::string_view mnemonic) {
        std::string name(mnemonic); // v_dual_fmac_f32 is v_fmac_f32 twice as fast
        return fidelity_of(name.starts_with("v_dual_") ? name.erase(2, 5) : name, fast_math);
    };
    const FidelityNote x = half(inst.x.mnemonic), y = half(inst.y->mnemonic);
    return y.fidelity > x.fidelity ? y : x;
}

} // namespace nw::sim
