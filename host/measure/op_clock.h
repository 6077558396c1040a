// SPDX-License-Identifier: MIT
// Times any op: all its launches, with operands that its contract says. A buffer for each, zeros in
// it, at addresses that depend only on the op: a figure does not depend on earlier timings.
#pragma once
#include <vector>

#include "hip/hip.h"
#include "runtime/launch.h"
#include "runtime/plan.h"

namespace nw {

struct OpTime {
    f64 us = 0;    // between two events around all launches
    u64 bytes = 0; // that all operands have, without the workspace
    Plan plan;
};

// `sizes`: of the op; strides that are 0 are as small as they may be. It runs twice, and the second
// is timed: operands are where the first left them. Throws Error where there is no kernel, Refusal
// where a size breaks a rule.
OpTime time_op(const hip::Device &, Op sizes);

} // namespace nw
