// SPDX-License-Identifier: MIT
// HIPSIM_REPORT: one JSON line per fault or finding of a checker.
#pragma once
#include <string>

#include "sim/func/machine.h"

namespace nw::hipsim {

class ReportFile {
public:
    explicit ReportFile(const std::string &path); // appends; an empty path is no file
    ~ReportFile();
    ReportFile(const ReportFile &) = delete;
    bool wanted() const { return file_ >= 0; }
    void write(const sim::Fault &fault, const std::string &kernel);

private:
    int file_ = -1;
};

} // namespace nw::hipsim
