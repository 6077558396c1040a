// SPDX-License-Identifier: MIT
// HIPSIM_STATS: one JSON line per dispatch.
#pragma once
#include <mutex>
#include <string>

#include "sim/func/machine.h"

namespace nw::hipsim {

class StatsFile {
public:
    explicit StatsFile(const std::string &path); // appends; an empty path is no file
    ~StatsFile();
    StatsFile(const StatsFile &) = delete;
    bool wanted() const { return file_ >= 0; }
    void write(const sim::Dispatch &dispatch, const sim::Device &device,
               const sim::RunStats &stats);

private:
    int file_ = -1;
};

} // namespace nw::hipsim
