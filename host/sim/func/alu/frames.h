// SPDX-License-Identifier: MIT
// Interface between one host vector level (x86-64 baseline, v3, v4) and the rest of sim/func.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "sim/func/wave.h"
#include "sim/isa/tables/ops.h"

namespace nw::sim {

inline constexpr size_t op_count = static_cast<size_t>(Op::count);

struct Places; // sim/func/memory/access.h

struct Frames {
    std::array<LaneKernel, op_count> lane;  // null where a row has none
    std::array<LaneKernel, op_count> clamp; // integer rows that saturate
    std::array<MaskKernel, op_count> mask;
    std::array<Handler, op_count> special;
    // Runs instructions until the wave waits, ends, or uses up `budget`; returns the rest of it.
    u64 (*run)(Wave &, u64 budget);
    // Around lane kernels: wave32 with VGPRs and constants only, without modifiers or with DPP
    // alone; without modifiers; general.
    // `scoped` ones change the host's rounding and subnormal modes for one instruction.
    Handler rows, permuted_rows, plain, full;
    Handler rows_scoped, permuted_rows_scoped, plain_scoped, full_scoped;
    Handler mask_plain, mask_full, mask_plain_scoped, mask_full_scoped;     // v_cmp
    Handler maskx_plain, maskx_full, maskx_plain_scoped, maskx_full_scoped; // v_cmpx
    // VOPD; `rows` when Y doesn't read what X writes and neither reads an SGPR.
    Handler dual, dual_rows, dual_scoped, dual_rows_scoped;
    // SDWA: runs *pair on a copy of the destination, and places the result in it.
    Handler placed;
    Handler modified; // runs *pair, then applies OMOD and CLAMP to its result
    Handler memory;   // loads, stores and atomics of vectors
    // For checks: the places that a vector memory instruction will access, or the Fault that it
    // will throw. `part`: of MemoryAccess::parts.
    void (*places)(Wave &, const Inst &, unsigned half, unsigned part, Places &);
    Handler matrix, matrix_fp8, matrix_sparse; // WMMA, of FP8 and BF8, SWMMAC
};

enum class HostLevel : u8 { base, v3, v4 };
std::string_view name_of(HostLevel);
const std::vector<HostLevel> &host_levels(); // built and supported by this host, the best one last

const Frames &frames(HostLevel);
HostLevel host_level(); // the one named by HIPSIM_LEVEL, or the best one; throws nw::Error
const Frames &frames(); // of host_level()

// Overrides the level for its lifetime. For tests: no wave may be running.
class HostLevelScope {
public:
    explicit HostLevelScope(HostLevel);
    ~HostLevelScope();
    HostLevelScope(const HostLevelScope &) = delete;
    HostLevelScope &operator=(const HostLevelScope &) = delete;

private:
    HostLevel saved_;
};

namespace base {
const Frames &level();
}
namespace v3 {
const Frames &level();
}
namespace v4 {
const Frames &level();
}

} // namespace nw::sim
