// SPDX-License-Identifier: MIT
// The MODE register, and its fields that lane kernels and the host's FPU use.
#pragma once
#include "base/types.h"

namespace nw::sim {

enum Round : u8 { round_nearest = 0, round_up_inf = 1, round_down_inf = 2, round_zero = 3 };

struct Mode {
    u32 bits = 0; // MODE as s_getreg reads it: round [3:0], denorm [7:4], 8 DX10_CLAMP, 9 IEEE,
                  // 23 FP16_OVFL
    bool gfx12 = false;
    // Derived from `bits` by update().
    u8 round32 = 0, round16_64 = 0;
    bool ieee = true, dx10_clamp = true, fp16_ovfl = false;
    // The bit that quiets a signalling NaN in arithmetic, or 0 (2.3, S-044).
    u32 quiet32 = 1u << 22;
    u64 quiet64 = u64{1} << 51;
    bool signalling_wins = true;  // in min and max
    bool zeros_equal = false;     // min and max treat -0 and +0 as equal (S-054)
    bool flush16_out = false;     // f16 results below the smallest normal become zero
    u32 keep32 = ~0u;             // mask of a subnormal f32 input: all bits, or its sign
    u32 keep16 = 0xffff;          // the same for f16
    bool fast = false;            // HIPSIM_MATH=fast: DOT2 and WMMA add in f32, as ordinary adds
    u32 mxcsr32 = 0, mxcsr64 = 0; // the host's control word for f32, and for f64 and f16

    void update();
    bool keeps32() const { return keep32 == ~0u; }
};

// Rounding to nearest, subnormals kept, all exceptions masked.
inline constexpr u32 mxcsr_default = 0x1f80;

inline void set_mxcsr(u32 value) { __builtin_ia32_ldmxcsr(value); }
inline u32 get_mxcsr() { return __builtin_ia32_stmxcsr(); }

// Sets the host's FPU to the simulated MODE for the lifetime of the object.
class MxcsrScope {
public:
    explicit MxcsrScope(u32 value) : saved_(get_mxcsr()) { set_mxcsr(value); }
    ~MxcsrScope() { set_mxcsr(saved_); }
    MxcsrScope(const MxcsrScope &) = delete;
    MxcsrScope &operator=(const MxcsrScope &) = delete;

private:
    u32 saved_;
};

} // namespace nw::sim
