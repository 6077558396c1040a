// SPDX-License-Identifier: MIT
// HIPSIM_STATS: one JSON line per dispatch.
#pragma once
#include <string>

#include "sim/func/machine.h"
#include "sim/hip/line_file.h"
#include "sim/timing/result.h"

namespace nw::hipsim {

class StatsFile {
public:
    explicit StatsFile(const std::string &path) : file_("HIPSIM_STATS", path, "statistics") {}
    bool wanted() const { return file_.wanted(); }
    void write(const sim::Dispatch &dispatch, const sim::Device &device, const sim::RunStats &stats,
               const sim::timing::Result *times); // null: not timed

private:
    LineFile file_;
};

} // namespace nw::hipsim
