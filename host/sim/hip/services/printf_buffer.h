// SPDX-License-Identifier: MIT
// hidden_printf_buffer: kernels append records, the host prints them after the launch. OpenCL's
// printf, and HIP's with -mprintf-kind=buffered.
#pragma once
#include <string>
#include <vector>

#include "base/types.h"
#include "sim/func/memory/memory.h"

namespace nw::hipsim {

class PrintfBuffer {
public:
    explicit PrintfBuffer(sim::Memory &memory); // std::bad_alloc
    ~PrintfBuffer();
    PrintfBuffer(const PrintfBuffer &) = delete;
    PrintfBuffer &operator=(const PrintfBuffer &) = delete;

    u64 address() const { return reinterpret_cast<u64>(head_); }
    // Prints the records. `formats`: amdhsa.printf of the code object's metadata. A sentence on
    // what is lost; "" if nothing is.
    std::string print(const std::vector<std::string> &formats) const;

private:
    struct Head {
        u32 used;
        u32 size; // of the whole buffer, this head included
    };
    sim::Memory &memory_;
    Head *head_ = nullptr;
};

} // namespace nw::hipsim
