// SPDX-License-Identifier: MIT
// DPP: from which lane a source comes, and which lanes are written (3.12 to 3.18).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::oracle {

inline constexpr int outside = -1;

struct Dpp {
    std::string control;
    std::function<int(int)> from; // the lane that lane l reads
    bool bound_ctrl = false, fi = false;
    unsigned row_mask = 15, bank_mask = 15;
    bool eight = false; // DPP8 has no masks

    std::string text() const;
    // Value that lane l reads with mask `exec`; empty: it isn't written.
    enum class Fetch : u8 { lane, zero, nothing };
    Fetch fetch(int l, u64 exec) const;
};

std::vector<Dpp> dpp_controls(); // each of DPP16's, with all masks set
Dpp dpp8();

} // namespace nw::oracle
