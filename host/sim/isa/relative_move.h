// SPDX-License-Identifier: MIT
// Moves between registers that M0 selects (3.23).
#pragma once
#include <string_view>
#include <utility>

#include "sim/isa/instruction.h"

namespace nw::sim {

// Offsets that are added to the registers of the encoding.
struct RelativeMove {
    struct Offset { // a field of M0; without bits: nothing
        u32 mask = 0;
        u8 shift = 0;
        constexpr u32 in(u32 m0) const { return m0 >> shift & mask; }
    };
    Offset source, destination;

    constexpr u32 bits() const {
        return source.mask << source.shift | destination.mask << destination.shift;
    }

    struct Registers {
        u32 source, destination;
        bool exist; // else nothing is moved
    };
    // Of `count` registers each, in a bank that ends at `range`. A selected source out of range is
    // register 0, and a destination isn't written (1.17).
    constexpr Registers registers(u32 m0, u32 from, u32 to, u32 count, u32 range) const {
        from += source.in(m0), to += destination.in(m0);
        const bool outside = source.mask != 0 && from + count > range;
        return {outside ? 0 : from, to, to + count <= range};
    }
};

namespace relative {
inline constexpr RelativeMove to{{}, {0xffff}}, from{{0xffff}, {}}, both{{0xffff}, {0xffff}},
    apart{{0x3ff}, {0x3ff, 16}}, scalar_to{{}, {~0u}}, scalar_from{{~0u}, {}};
}

inline constexpr u32 selected_sgprs = sreg::ttmp0; // M0 selects SGPRs and VCC

// Null for other instructions.
constexpr const RelativeMove *relative_move(std::string_view mnemonic) {
    constexpr std::pair<std::string_view, const RelativeMove *> rows[] = {
        {"v_movreld_b32", &relative::to},          {"v_movrels_b32", &relative::from},
        {"v_movrelsd_b32", &relative::both},       {"v_movrelsd_2_b32", &relative::apart},
        {"v_swaprel_b32", &relative::apart},       {"s_movreld_b32", &relative::scalar_to},
        {"s_movreld_b64", &relative::scalar_to},   {"s_movrels_b32", &relative::scalar_from},
        {"s_movrels_b64", &relative::scalar_from}, {"s_movrelsd_2_b32", &relative::apart}};
    for (const auto &[name, move] : rows)
        if (name == mnemonic)
            return move;
    return nullptr;
}

} // namespace nw::sim
