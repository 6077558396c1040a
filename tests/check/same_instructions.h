// SPDX-License-Identifier: MIT
// Kernels of two series often are the same instructions but for waits, which a hazard of one needs.
// Then results on one are those on the other; what its checkers find is not.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/kernel.h"

namespace nw::check {

class Listings {
public:
    // True if both run the same instructions in the same order, waits left out, from descriptors
    // that are equal. False for code that can't be decoded, and for code that reads what differs
    // between targets: its own address, or hardware registers.
    bool same_but_for_waits(const Kernel &, const Kernel &);

private:
    using Listing = std::optional<std::vector<std::string>>;
    const Listing &of(const Kernel &); // read at first use
    std::map<const Kernel *, Listing> known_;
};

} // namespace nw::check
