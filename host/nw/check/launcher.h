// SPDX-License-Identifier: MIT
// Runs a program with the simulated libamdhip64.so in place of any other.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::cli {

// A private directory, removed by the destructor: links to the library, settings, findings.
class CheckFolder {
public:
    CheckFolder();
    ~CheckFolder();
    CheckFolder(const CheckFolder &) = delete;

    const std::string &path() const { return path_; }
    void write_settings(const nlohmann::ordered_json &) const;

private:
    void link_libraries() const;
    std::string path_;
};

struct Ended {
    int code = 0;   // of exit; unless:
    int signal = 0; // that ended it
    bool timed_out = false;
    u32 left = 0; // processes that it started and that still run
};

// Waits for the program and the processes that it started. `checkers`: of HIPSIM_CHECK; `pairs`:
// with those of H-026; `timeout`: seconds, 0 for none. Throws
// nw::Error if it can't be started.
Ended run_checked(const CheckFolder &, const std::vector<std::string> &program,
                  const std::string &gfx, const std::string &checkers, bool pairs, u32 timeout);

} // namespace nw::cli
