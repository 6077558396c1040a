// SPDX-License-Identifier: MIT
#include "sim/func/frames.h"

namespace nw::sim {

const Frames &frames() {
    static const Frames &best = __builtin_cpu_supports("x86-64-v4")   ? v4::level()
                                : __builtin_cpu_supports("x86-64-v3") ? v3::level()
                                                                      : base::level();
    return best;
}

} // namespace nw::sim
