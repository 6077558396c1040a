// SPDX-License-Identifier: MIT
// HIPSIM_REPORT: one JSON line per fault or finding of a checker.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/func/launch/report.h"
#include "sim/func/machine.h"
#include "sim/hip/launch/line_file.h"

namespace nw::hipsim {

nlohmann::ordered_json json_of(const sim::Report &);

class ReportFile {
public:
    void open(const std::string &path) { file_.open("HIPSIM_REPORT", path); }
    bool wanted() const { return file_.wanted(); }
    void write(const sim::Fault &fault, const std::string &kernel);

private:
    LineFile file_;
};

} // namespace nw::hipsim
