// SPDX-License-Identifier: MIT
// The rows of vmem.inc and ds.inc as data.
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw::sim {

enum class Access : u8 {
    none,
    load,
    store,
    atomic,
    // of two addresses
    load2,
    load2_stride64,
    store2,
    store2_stride64,
    exchange2,
    exchange2_stride64
};

// How an element smaller than a register is extended, and which half of the register it uses.
enum class Extend : u8 { whole, zero, sign, low_zero, low_sign, high_zero, high_sign };

enum class Atomic : u8 {
    none,
    exchange,
    compare_exchange,
    compare_exchange_f32,
    compare_exchange_f64,
    exchange_marked, // each dword whose new value has bit 31, which is cleared
    wrap,
    ordered_add,
    add,
    sub,
    subtract_from,
    subtract_clamp,
    subtract_if,
    min_signed,
    min_unsigned,
    max_signed,
    max_unsigned,
    and_,
    or_,
    xor_,
    mask_or,
    increment,
    decrement,
    add_f32,
    min_f32,
    max_f32,
    min_f64,
    max_f64,
    add_packed_f16,
    add_packed_bf16
};

// Addresses and texels of an image instruction. A level comes after the coordinates; a bias and
// gradients come before them.
enum class ImageForm : u8 {
    none,
    texel, // integer coordinates
    texel_of_level,
    sample,
    sample_level,
    sample_bias,
    sample_gradients,
    gather, // one component of the four texels that a linear filter would mix
    gather_level,
    size // no texel: the image's own size
};

struct MemoryOp {
    std::string_view name;
    Access access = Access::none;
    Atomic atomic = Atomic::none;
    u8 bytes = 4;    // of one element
    u8 elements = 1; // consecutive, one register each (two for 8-byte atomics)
    Extend extend = Extend::whole;
    bool returns = false;              // `_rtn` forms, and atomics that always return
    u8 components = 0;                 // of a formatted element; 0: it has none
    bool d16 = false;                  // components are 16-bit in registers
    ImageForm image = ImageForm::none; // then dmask and d16 decide about components and registers

    bool loads() const {
        return access == Access::load || access == Access::load2 ||
               access == Access::load2_stride64;
    }
    bool updates() const {
        return access == Access::atomic || access == Access::exchange2 ||
               access == Access::exchange2_stride64;
    }
    bool stores() const { return !loads() && !updates(); }
    bool two_addresses() const { return access >= Access::load2; }
    bool stride64() const {
        return access == Access::load2_stride64 || access == Access::store2_stride64 ||
               access == Access::exchange2_stride64;
    }
    // True if the data has two values: the new one, then the other.
    bool two_values() const {
        return atomic == Atomic::compare_exchange || atomic == Atomic::compare_exchange_f32 ||
               atomic == Atomic::compare_exchange_f64 || atomic == Atomic::mask_or ||
               atomic == Atomic::wrap;
    }
    // True if the result depends on the order of updates.
    bool order_matters() const {
        switch (atomic) {
        case Atomic::add:
        case Atomic::sub:
        case Atomic::min_signed:
        case Atomic::min_unsigned:
        case Atomic::max_signed:
        case Atomic::max_unsigned:
        case Atomic::and_:
        case Atomic::or_:
        case Atomic::xor_:
            return false;
        default:
            return updates();
        }
    }
    unsigned registers() const { return bytes == 8 ? 2 : elements; } // of one value
};

// By mnemonic: "global_load_b32", "ds_add_rtn_u32". `access` is none when there is no row.
MemoryOp find_memory_op(std::string_view mnemonic);

// Scalar memory. gfx10.1 also has stores and atomics of SGPRs: "s_store_b32",
// "s_buffer_atomic_add_u64". `access` is none for all others.
bool loads_scalars(std::string_view mnemonic);
MemoryOp find_scalar_write(std::string_view mnemonic);

} // namespace nw::sim
