// SPDX-License-Identifier: MIT
#include "sim/isa/fidelity.h"

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

} // namespace nw::sim
