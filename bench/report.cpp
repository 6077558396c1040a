// SPDX-License-Identifier: MIT
#include "bench/report.h"

#include <cstdlib>
#include <fmt/format.h>

#include "base/error.h"

namespace nw::bench {

namespace {

// For a shell.
std::string quoted(const std::string &text) {
    std::string out = "'";
    for (char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

} // namespace

void write_report(const std::string &json, const std::string &html) {
    for (const char *python : {"/usr/bin/python3", "python3"}) {
        if (std::system(fmt::format("{} -c 'import matplotlib' 2> /dev/null", python).c_str()) != 0)
            continue;
        if (std::system(fmt::format("{} {} {} {}", python, quoted(NW_SOURCE_DIR "/bench/report.py"),
                                    quoted(json), quoted(html))
                            .c_str()) != 0)
            throw Error(fmt::format("--html {}: bench/report.py failed", html));
        return;
    }
    throw Error(fmt::format("--html {}: no Python here has matplotlib: install python3-matplotlib; "
                            "--json needs nothing",
                            html));
}

} // namespace nw::bench
