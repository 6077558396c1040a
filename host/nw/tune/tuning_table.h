// SPDX-License-Identifier: MIT
// gen/tuning/<gfx>.toml: the kernel of each tuned shape and its times (read by gen/tuning.py).
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/types.h"

namespace nw::cli {

// Families of tables.
inline constexpr std::string_view few_rows_table = "decode_w4a16",
                                  many_rows_table = "prefill_w4a16", gguf_table = "gguf";

struct TunedKind {
    std::string family, dtype, group, zeros; // as in the kernels' parameters; of family gguf the
    std::string type;                        // last three are empty, of others this one is
    u32 m = 0;
};

struct TunedShape {
    std::string kernel, next; // the one chosen, and the best of the others
    f64 us = 0, next_us = 0, default_us = 0;
    std::string by; // "AMD Radeon 8060S (sim)", or a card
};

using TunedShapes = std::map<std::pair<u32, u32>, TunedShape>; // by n and k

class TuningTable {
public:
    // Empty if there is no such file. Throws Error naming the file and the defect.
    static TuningTable read(const std::filesystem::path &);
    void put(const TunedKind &, u32 n, u32 k, TunedShape);
    const TunedShape *find(const TunedKind &, u32 n, u32 k) const; // null: there is none
    // Removes rows of a section without which each shape that had a row still gets a kernel that is
    // slower by less than `least_gain`: that of the nearest row, or the default. Rows whose kernel
    // gains as much over the default stay.
    void thin(const TunedKind &, f64 least_gain);
    // Values of m in all sections of a family, and (n, k) of its shapes.
    std::vector<u32> rows(std::string_view family) const;
    std::set<std::pair<u32, u32>> shapes(std::string_view family) const;
    // Sorted, one shape a line. Throws Error where it can't be written; the file is whole or as
    // before.
    void write(const std::filesystem::path &) const;

private:
    // family, dtype or type, group (per row: the last), zeros, m
    using Key = std::tuple<std::string, std::string, u32, std::string, u32>;
    static Key key_of(const TunedKind &);
    std::map<Key, TunedShapes> kinds_;
};

} // namespace nw::cli
