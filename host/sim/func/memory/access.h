// SPDX-License-Identifier: MIT
// A decoded memory instruction, and the checks that every address passes.
#pragma once
#include "sim/func/wave.h"
#include "sim/isa/tables/memory_ops.h"

namespace nw::sim {

enum class Space : u8 { global, flat, scratch, lds, buffer, image };

// Apertures as the simulator places them (1.22): high dword of src_shared_base, src_private_base.
inline constexpr u32 shared_aperture = 1u << 16, private_aperture = 2u << 16;

struct Places;

// The part of a MemoryAccess that only images have; its `base` is the resource descriptor.
enum class ImageDim : u8 { d1, d2, d3, d1_array, d2_array };
struct ImageAccess {
    static constexpr unsigned most_addresses = 9; // gradients of 3D
    ImageDim dim = ImageDim::d2;
    u8 mask = 0;                 // components
    u8 first = 0, addresses = 0; // numbers of the first coordinate, and of all
    bool unnormalized = false;
    bool packed = false; // 16-bit addresses, two in a VGPR: f16 of samples, else unsigned integers
    u16 address[most_addresses] = {};
    Source sampler; // constant 0 when there is none

    bool is_array() const { return dim >= ImageDim::d1_array; }
    unsigned coordinates() const { // the layer included
        return dim == ImageDim::d1 ? 1 : dim == ImageDim::d2 || dim == ImageDim::d1_array ? 2 : 3;
    }
    unsigned registers() const { return packed ? (addresses + 1u) / 2 : addresses; }
    unsigned filtered() const { return coordinates() - is_array(); } // dimensions
};

struct MemoryAccess {
    Space space = Space::global;
    MemoryOp op;
    i64 offset = 0;    // of 2addr forms: the first, in bytes
    i64 offset2 = 0;   // of 2addr forms: the second
    Source address;    // VGPR or VGPR pair; constant 0 when off
    bool wide = false; // the VGPR address has 64 bits
    Source base;       // SGPR or SGPR pair; constant 0 when off
    u16 data = 0;      // first VGPR of the stored value
    u16 data2 = 0;     // of 2addr stores, compare values
    u16 result = 0;    // first VGPR of the loaded value
    bool returns = false;
    bool exchanges_lanes = false; // ds_bpermute and similar: LDS isn't accessed
    // Of buffers: `address` is index, offset or both (the index first), `base` the descriptor.
    Source soffset;
    bool idxen = false, offen = false;
    i16 format = -1;          // code in the instruction; -1: the descriptor's
    bool adds_lane = false;   // addtid: 4 bytes further in each lane
    bool adds_m0 = false;     // its low 16 bits
    bool between_lds = false; // the value is in LDS: the place of part 1
    const ImageAccess *image = nullptr;
    // Replaces Frames::places where the address isn't a base plus an offset; null otherwise.
    void (*find_places)(Wave &, const Inst &, unsigned half, unsigned part, Places &) = nullptr;
    u8 parts = 1; // with separate places: the two of 2addr forms, dwords of buffers, texels
    unsigned bytes() const { return unsigned{op.bytes} * op.elements; }
    // The VGPR that holds the first bytes of a stored part.
    unsigned part_data(unsigned part) const {
        return part == 0 ? data : op.two_addresses() ? data2 : data + part;
    }
};

// Host address of each active lane's bytes. Device addresses are host addresses.
struct Places {
    alignas(64) u64 at[row_lanes];
    u32 lds = 0;     // lanes that address LDS: flat accesses may mix
    u32 active = 0;  // lanes that access anything; set by Frames::places
    u32 bytes = 0;   // accessed by each of them; set by Frames::places
    u32 outside = 0; // lanes of `active` with bytes beyond the end of LDS (S-051)
};

// True if the lanes are consecutive, `bytes` apart: the common case.
inline bool in_a_row(const u64 *at, u64 bytes) {
    u64 off = 0;
    for (unsigned l = 0; l < row_lanes; ++l)
        off |= at[l] - at[0] - bytes * l;
    return off == 0;
}

// True when [address, address + size) is inside a live allocation or the program's image.
bool reachable(const Wave &, const Inst &, u64 address, u64 size);

// Bytes of a scalar load that are not in a live allocation, a bit each. Memory is mapped in pages,
// so the load faults only if it has a page without a byte in bounds (S-060); with
// a checker's strict_scalar_loads(), if any byte is out of bounds. Throws that Fault.
u64 missing_bytes(const Wave &, const Inst &, u64 address, u64 size);
inline constexpr u64 page_bytes = 4096;

// Describes the live allocation nearest to `address` and their distance.
std::string describe_allocation(const Memory &, u64 address);

[[noreturn]] void illegal_address(const Wave &, const Inst &, u64 address, unsigned size, int lane);
[[noreturn]] void lds_out_of_range(Wave &, const Inst &, u64 address, unsigned size, unsigned lane);
[[noreturn]] void scratch_out_of_range(Wave &, const Inst &, i64 offset, unsigned size,
                                       unsigned lane);
[[noreturn]] void misaligned_atomic(Wave &, const Inst &, u64 address, unsigned lane);

// Handlers. Loads, stores and atomics of vectors are in Frames.
void run_scalar_load(Wave &, const Inst &); // Inst::flag: soffset counts 64 bytes
// gfx10.1's stores and atomics of SGPRs from Inst::dst on, which have an `access`; and of buffers.
Handler scalar_write(const MemoryOp &, bool buffer);
Handler small_scalar_load(std::string_view mnemonic);  // gfx12's s_load_u8 and the like, or null
Handler scalar_buffer_load(std::string_view mnemonic); // s_buffer_load_*, or null
// For checks: the place that any of these will read or write, or the Fault it will throw. No bytes
// if it is entirely out of a buffer's bounds, or can't be run.
struct ScalarPlace {
    u64 address = 0, bytes = 0;
    u64 missing = 0; // bytes that are not in an allocation, a bit each: they read as poison
};
void read_scalar(const ScalarPlace &, void *to);
ScalarPlace scalar_load_place(const Wave &, const Inst &);
ScalarPlace scalar_buffer_place(const Wave &, const Inst &);
// An atomic on it; a place without bytes is out of bounds.
void update_scalar(Wave &, const Inst &, const ScalarPlace &);
void run_ds_bpermute(Wave &, const Inst &);
void run_ds_permute(Wave &, const Inst &);
void run_ds_swizzle(Wave &, const Inst &);

// The new value of an atomic operation. `compare` is only read by compare_exchange and mask_or.
u64 atomic_result(Atomic op, unsigned bytes, u64 old, u64 data, u64 compare, const Mode &mode,
                  bool lds);

} // namespace nw::sim
