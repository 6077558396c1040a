// SPDX-License-Identifier: MIT
// Knowledge about values: whether they differ among a wave's lanes, and constants. It is followed
// through registers, lanes of VGPRs and slots of scratch memory, where unoptimized code keeps its
// variables and masks.
#pragma once
#include <map>
#include <optional>
#include <utility>

#include "lint/facts.h"
#include "sim/isa/spill.h"

namespace nw::lint {

// How a value varies among lanes. A uniform mask selects all active lanes or none.
enum class Spread : u8 { uniform, unknown, varying };

// A register (RegisterSet's place) or a slot (Spill's), and one of its lanes, or -1: all of it.
using Place = std::pair<u64, i32>;
inline Place place_of(const sim::Operand &o) {
    return {o.kind == sim::Operand::Kind::vgpr ? sim::RegisterSet::of_vgpr(o.reg)
                                               : sim::RegisterSet::of_sgpr(o.reg),
            -1};
}

struct Value {
    Spread spread = Spread::unknown; // of a VGPR or a slot; an SGPR is uniform
    Spread mask = Spread::unknown;   // of an SGPR: if it is used as a mask
    bool aperture = false;           // the upper half of addresses in scratch memory
    std::optional<u32> constant;
    u32 origin = 0; // equal ones are of copies: 1 + the instruction
    bool operator==(const Value &) const = default;
};

class Spreads {
public:
    Spreads() = default;
    explicit Spreads(u32 item_id_vgprs);

    bool join(const Spreads &);
    void forget() { *this = {}; }

    Spread mask(const sim::Operand &) const;
    // How the sources of a comparison differ among lanes.
    Spread sources(const Fact &) const;
    // Other places that hold a copy of it.
    std::vector<Place> copies_of(Place) const;
    // Where a memory instruction keeps or finds a register; empty if that isn't known.
    std::optional<sim::Spill> slot(const sim::Operation &, const Target &) const;

    // An instruction, whose lanes that are off are so by comparisons like `exec`.
    void step(const sim::Instruction &, u32 index, const Fact &, const Target &, Spread exec);

private:
    const Value *find(Place) const;
    Value get(Place) const;
    void set(Place, const Value &);
    void erase(u64 container);
    void move(u64 to, u64 from, Spread exec);
    void scalar(const sim::Operation &, u32 index, const Fact &, Spread exec);

    std::map<Place, Value> values_;
    std::optional<bool> scc_;
};

} // namespace nw::lint
