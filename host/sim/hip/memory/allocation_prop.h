// SPDX-License-Identifier: MIT
// hipMemAllocationProp in hosts' layouts: HIP 5.3 put its members in another order, and neither a
// symbol version nor the name of the library tells the two apart.
#pragma once
#include "sim/hip/headers.h"

namespace nw::hipsim {

struct AllocationProp {
    int type = 0, handle_type = 0;
    int location_type = 0, device = 0;
    bool before_5_3 = false; // the layout that it came in
};

// By what is in it: the new layout begins with the type, the old one with a byte that must be 0,
// and has the location before the type. Fails with hipErrorInvalidValue where it is neither.
AllocationProp read_prop(const hipMemAllocationProp *prop);
void write_prop(hipMemAllocationProp *to, const AllocationProp &prop);

} // namespace nw::hipsim
