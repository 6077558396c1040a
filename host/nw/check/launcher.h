// SPDX-License-Identifier: MIT
// Runs a program with the simulated libamdhip64.so in place of any other.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "base/types.h"

namespace nw::cli {

// A private directory with links to the library, settings and findings.
class CheckFolder {
public:
    CheckFolder();

    const std::string &path() const { return folder_.path(); }
    void write_settings(const nlohmann::ordered_json &) const;

private:
    void link_libraries() const;
    TemporaryFolder folder_;
};

struct Ended {
    int code = 0;   // of exit; unless:
    int signal = 0; // that ended it
    bool timed_out = false;
    u32 left = 0; // processes that it started and that still run
};

// Waits for the program and the processes that it started. `checkers`: of HIPSIM_CHECK; `pairs`:
// with those of H-026; `timeout`: seconds, 0 for none. Throws nw::Error if it can't be started.
Ended run_checked(const CheckFolder &, const std::vector<std::string> &program,
                  const std::string &gfx, const std::string &checkers, bool pairs, u32 timeout);

} // namespace nw::cli
