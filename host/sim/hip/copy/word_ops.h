// SPDX-License-Identifier: MIT
// Waits for a word in memory, and writes of one.
#pragma once
#include <vector>

#include "base/types.h"
#include "sim/hip/headers.h"

namespace nw::hipsim {

// hipStreamBatchMemOpParams, since HIP 6.4.
struct MemoryOp {
    enum Type : u32 { wait32 = 1, write32 = 2, wait64 = 4, write64 = 5 };

    u32 type;
    void *address;
    u64 value; // its low half, of a 32-bit type
    u32 flags; // of a wait: the condition
    u64 unused[2];

    bool waits() const { return type == wait32 || type == wait64; }
};
static_assert(sizeof(MemoryOp) == 48);

struct MemoryOps {
    std::vector<MemoryOp> all;
    hipCtx_t context = nullptr; // for hipGraphBatchMemOpNodeGetParams
    hipError_t run() const noexcept;
};

// hipBatchMemOpNodeParams
struct MemoryOpsParams {
    hipCtx_t context;
    u32 count;
    MemoryOp *ops;
    u32 flags;
};

// Checked; hipErrorInvalidValue for what isn't supported, as on real HIP.
MemoryOps memory_ops(const MemoryOpsParams *params);

} // namespace nw::hipsim
