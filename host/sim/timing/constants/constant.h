// SPDX-License-Identifier: MIT
// Common parts of the rows of costs.inc and parts.inc: name, unit, legal range, and origin of the
// value.
#pragma once
#include <string_view>
#include <type_traits>

#include "base/estimate.h"

namespace nw::sim::timing {

using nw::Origin;

std::string_view name(Origin origin);

// Units by name. Counts are integers.
namespace unit {
using cycles = u32; // of the shader clock
using bytes = u32;
using line = u32; // bytes, a power of two
using count = u32;
using kind = u32;
using mhz = u32;
using watts = f64;
using ratio = f64;
using ns = f64;
using us = f64;
using gb_per_s = f64;
} // namespace unit

// One constant and its value, for printing and for tests.
struct Constant {
    std::string_view name, unit;
    f64 value;
    Origin origin;
    Range likely;                // {value, value} for a fact, and for what a profile has set
    std::string_view note, what; // id of the note in isa_notes; a sentence
    bool whole;                  // an integer
};

// The field of Owner (Costs or Part) that a row stands for.
template <class Owner> struct Field {
    std::string_view name, unit, note, what;
    f64 low, high; // both legal
    bool whole;
    f64 (*get)(const Owner &);
    void (*set)(Owner &, f64);
};

// Such a Field, from the columns of a row.
#define NW_TIMING_FIELD(Owner, name, unit_, note, what, low, high)                                 \
    Field<Owner> {                                                                                 \
#name, #unit_, note, what, low, high, std::is_integral_v<unit::unit_>,                     \
            [](const Owner &o) { return static_cast<f64>(o.name); },                               \
            [](Owner &o, f64 value) { o.name = static_cast<unit::unit_>(value); }       \
    }

} // namespace nw::sim::timing
