// SPDX-License-Identifier: MIT
// hiprtcCompileProgram's options.
#pragma once
#include <string>
#include <vector>

namespace nw::hiprtc {

struct Options {
    std::string gfx;          // "gfx1151"
    bool relocatable = false; // -fgpu-rdc: bitcode for the linker API
    bool wave64 = false;
    std::string printf_kind;          // the whole option -mprintf-kind; "": the default, hostcall
    std::vector<std::string> include; // folders of -I
    std::vector<std::string> clang;   // passed on, -I included
    std::string refused;              // an option that hiprtc itself decides; "": none
};

// Without an architecture among them: the current device's.
Options read_options(const std::vector<std::string> &options);

// "gfx1151" of the process's current device, as its libamdhip64 says; else of HIPSIM_ARCH.
std::string device_gfx();

} // namespace nw::hiprtc
