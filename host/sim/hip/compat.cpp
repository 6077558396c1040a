// SPDX-License-Identifier: MIT
// Small helpers that AMD's library exports beside the runtime.
#include <bit>
#include <cstdint>

#include "sim/hip/error.h"

extern "C" {

// x, y, z, w: bits per component; the kind is hipChannelFormatKind.
hipChannelFormatDesc channel_format(int x, int y, int z, int w,
                                    hipChannelFormatKind kind) asm("hipCreateChannelDesc");
hipChannelFormatDesc channel_format(int x, int y, int z, int w, hipChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

// Numbers of calls belong to AMD's tracer, which has nothing to trace here.
const char *call_name(uint32_t) asm("hipApiName");
const char *call_name(uint32_t) { return "unknown"; }

const char *command_name(unsigned) asm("hipGetCmdName");
const char *command_name(unsigned) { return "unknown"; }

// Half precision, as compilers without it call for.
unsigned short float_to_half(float value) asm("__gnu_f2h_ieee");
unsigned short float_to_half(float value) {
    return std::bit_cast<unsigned short>(static_cast<_Float16>(value));
}

float half_to_float(unsigned short bits) asm("__gnu_h2f_ieee");
float half_to_float(unsigned short bits) {
    return static_cast<float>(std::bit_cast<_Float16>(bits));
}
}
