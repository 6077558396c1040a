// SPDX-License-Identifier: MIT
#pragma once
#include "sim/func/wave.h"

namespace nw::sim {

Handler salu_handler(Op op); // rows of salu.inc; null for others
Handler salu_float_handler(Op op);
Handler control_handler(Op op); // rows of control.inc; null for others

} // namespace nw::sim
