// SPDX-License-Identifier: MIT
// The linker API: bitcode of several programs to one code object.
#pragma once
#include <string>
#include <vector>

#include "sim/hiprtc/program.h"

namespace nw::hiprtc {

// hiprtcJITInputType's values of what may be linked.
enum class Input { bitcode = 100, bundled_bitcode = 101, archive_of_bundled_bitcode = 102 };

class Link {
public:
    Result add(Input type, std::string bytes);
    Result add_file(Input type, const std::string &path);
    Result complete();
    const std::string &code() const { return code_; }
    const std::string &log() const { return log_; }

private:
    std::vector<std::string> inputs_; // bitcode
    const std::string gfx_ = device_gfx();
    std::string code_, log_;
};

} // namespace nw::hiprtc
