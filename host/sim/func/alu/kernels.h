// SPDX-License-Identifier: MIT
#pragma once
#include "sim/func/alu/frames.h"

#ifndef NW_LEVEL
#define NW_LEVEL base
#endif

namespace nw::sim::NW_LEVEL {

void fill_kernels(Frames &); // lane, clamp, mask
void fill_special(Frames &); // special: those that loop over lanes
void fill_memory(Frames &);  // memory
void fill_matrix(Frames &);  // matrix
void fill_matrix_fp8(Frames &);
void fill_matrix_sparse(Frames &);

} // namespace nw::sim::NW_LEVEL
