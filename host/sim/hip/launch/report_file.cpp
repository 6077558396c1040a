// SPDX-License-Identifier: MIT
#include "sim/hip/launch/report_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace nw::hipsim {

using Json = nlohmann::ordered_json;

static void add_site(Json &to, const sim::Site &site) {
    to["kernel"] = site.kernel;
    to["workgroup"] = {site.workgroup.x, site.workgroup.y, site.workgroup.z};
    to["wave"] = site.wave;
    to["pc"] = fmt::format("0x{:x}", site.pc);
    to["place"] = site.place;
    to["line"] = site.line;
    to["instruction"] = site.instruction;
}

Json json_of(const sim::Report &report) {
    Json line = {{"check", report.check}, {"rule", report.rule}};
    add_site(line, report.site);
    line["lane"] = report.lane < 0 ? Json() : Json(report.lane);
    line["thread"] = Json();
    if (report.thread)
        line["thread"] = {report.thread->x, report.thread->y, report.thread->z};
    line["access"] = report.access;
    line["bytes"] = report.bytes;
    line["space"] = report.space;
    line["address"] = report.address ? Json(fmt::format("0x{:x}", *report.address)) : Json();
    line["allocation"] = report.allocation;
    line["other"] = Json();
    if (report.other) {
        line["other"] = Json::object();
        add_site(line["other"], *report.other);
    }
    line["message"] = report.message;
    if (!report.listing.empty())
        line["listing"] = report.listing;
    if (!report.dump.empty())
        line["dump"] = report.dump;
    return line;
}

void ReportFile::write(const sim::Fault &fault, const std::string &kernel) {
    const Json line = fault.report ? json_of(*fault.report)
                                   : Json{{"check", "fault"},
                                          {"rule", sim::rule_of(fault.kind)},
                                          {"kernel", kernel},
                                          {"message", fault.what()}};
    file_.append(line);
}

} // namespace nw::hipsim
