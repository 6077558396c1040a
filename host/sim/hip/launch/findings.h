// SPDX-License-Identifier: MIT
// HIPSIM_FINDINGS: a directory in which each process leaves what its launches did wrong, for `nw
// check`. Launches go on after a finding.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <regex>
#include <string>
#include <tuple>

#include "sim/func/launch/report.h"
#include "sim/func/machine.h"
#include "sim/hip/host_trace.h"

namespace nw::hipsim {

// The findings of one launch: each kind once, with the occurrence that comes first in the grid's
// order.
class LaunchFindings final : public sim::FindingSink {
public:
    LaunchFindings(u64 number, std::shared_ptr<const HostTrace> host)
        : number(number), host(std::move(host)) {}
    bool take(const sim::Fault &) override;
    void add(const sim::Fault &); // take() without the limit
    // How a launch with illegal accesses fails, though it went on: as on a card.
    std::optional<sim::Fault::Kind> failure() const { return failure_; }

    const u64 number;                            // of the process's launches, from 1
    const std::shared_ptr<const HostTrace> host; // that launched it

private:
    friend class Findings;
    // check, rule, instruction, the other access's pc
    using Key = std::tuple<std::string, std::string, u32, u64>;
    struct Kind {
        std::shared_ptr<const sim::Report> first;
        u64 count = 0;
        u64 sequence = 0; // of `first` in its workgroup
    };
    std::mutex mutex_;
    std::map<Key, Kind> kinds_;
    std::string plain_; // a fault that no wave committed
    u64 taken_ = 0;
    std::optional<sim::Fault::Kind> failure_;
};

class Findings {
public:
    // Empty: disabled. Throws nw::Error.
    void open(const std::string &folder);
    bool wanted() const { return lines_ >= 0; }

    // Numbers the launch; null if settings exclude it from the checks.
    std::unique_ptr<LaunchFindings> begin(const std::string &kernel,
                                          std::shared_ptr<const HostTrace> host);
    void end(LaunchFindings &, const sim::Dispatch &);
    void end(LaunchFindings &, const sim::Dispatch &, const sim::Fault &); // that ended it

    // Remembers who makes this memory ("hipMalloc #3"), and when.
    void made(const std::string &maker);
    bool wants_leaks() const { return leaks_; }
    void leaked(const std::string &what, u64 bytes, const std::string &maker);

private:
    struct Made {
        u64 launches; // before it
        HostTrace host;
    };
    nlohmann::ordered_json made_json(const std::string &maker) const;
    void read_settings();
    void write_launches();
    void write(const LaunchFindings &, const sim::Dispatch &, const LaunchFindings::Kind &);
    void write(const nlohmann::ordered_json &);
    std::string save_code(const sim::Program &);

    std::mutex mutex_;
    std::string folder_, stem_; // of this process's files
    int lines_ = -1, counts_ = -1;
    u64 launches_ = 0, checked_ = 0, leaked_ = 0;
    std::map<std::string, u64> known_;    // kinds that have a line, by text
    std::map<size_t, std::string> saved_; // code objects, by hash
    std::map<std::string, Made> made_;    // memory
    std::optional<std::regex> kernels_;
    u64 first_ = 1, last_ = ~u64{0};
    bool stop_at_first_ = false, leaks_ = false;
};

// Leaves a mark that this process has loaded the library, or was forked from one that had used it.
void mark_process(const char *what) noexcept;

} // namespace nw::hipsim
