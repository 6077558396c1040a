// SPDX-License-Identifier: MIT
#include "sim/hip/launch/launch_files.h"

#include <fmt/format.h>

#include "sim/hip/error.h"

namespace nw::hipsim {

template <class File>
static std::unique_ptr<File> open_file(const char *variable, const std::string &path,
                                       TimingMode timing) {
    if (path.empty())
        return nullptr;
    if (timing == TimingMode::off)
        throw Error(fmt::format("{}={}: launches aren't timed under HIPSIM_TIMING=off: unset one",
                                variable, path));
    const auto complain = [variable](const std::string &what) {
        say(fmt::format("{}={}", variable, what)); // it begins with the path
    };
    try {
        return std::make_unique<File>(path, complain);
    } catch (const Error &error) {
        throw Error(
            fmt::format("{}={}; name a file in a writable directory", variable, error.what()));
    }
}

void LaunchFiles::open(const Config &config) {
    trace_ = open_file<sim::timing::TraceFile>("HIPSIM_TRACE", config.trace_path, config.timing);
    issue_log_ =
        open_file<sim::timing::IssueLog>("HIPSIM_ISSUE_LOG", config.issue_log_path, config.timing);
}

sim::timing::Watchers LaunchFiles::watch(const sim::Dispatch &dispatch,
                                         const sim::timing::Part &part, int device) {
    sim::timing::Watchers watchers;
    if (trace_)
        watchers.add(trace_->watch(dispatch, part, static_cast<u32>(device)));
    if (issue_log_)
        watchers.add(issue_log_->watch(dispatch));
    return watchers;
}

void LaunchFiles::ended(const sim::timing::Command &command, std::string_view name,
                        const sim::timing::Part &part, int device) {
    if (trace_)
        trace_->ended(command, name, part, static_cast<u32>(device));
}

} // namespace nw::hipsim
