// SPDX-License-Identifier: MIT
// Products with weights of act-order in two launches: one brings the rows of activations into
// order, in a workspace of the caller's, the other multiplies them.
#pragma once
#include "capi/context.h"

namespace nw::api {

struct TwoLaunches {
    Op permute, product;
    u64 rows; // in the workspace, of product.k 16-bit activations
    const char *rows_name;

    u64 bytes() const { return rows * product.k * sizeof(u16); }
};

// Queues both. `prepare`: the function that loads their kernels before a capture.
void launch(nw_context &, TwoLaunches, void *workspace, u64 workspace_bytes, void *stream,
            const char *prepare);

// Loads the kernels of both.
void load(nw_context &, const TwoLaunches &);

} // namespace nw::api
