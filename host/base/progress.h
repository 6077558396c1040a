// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <string>

#include "base/terminal.h"
#include "base/types.h"

namespace nw {

// A progress bar on stderr, if that is a terminal. `total` and `amount` are in any common unit.
class Progress {
public:
    explicit Progress(u64 total)
        : total_(std::max<u64>(total, 1)), terminal_(is_terminal(STDERR_FILENO)) {}
    ~Progress() { clear(); }
    Progress(const Progress &) = delete;

    void show(const std::string &what) {
        if (!terminal_)
            return;
        constexpr u64 width = 24;
        const u64 done = std::min(done_, total_), full = done * width / total_;
        fmt::print(stderr, "\r\033[K[{:=<{}}{:{}}] {:3}% {:.50}", "", full, "", width - full,
                   done * 100 / total_, what);
        std::fflush(stderr);
    }
    void advance(u64 amount) { done_ += amount; }
    void clear() const { // before anything else is printed
        if (terminal_) {
            fmt::print(stderr, "\r\033[K");
            std::fflush(stderr);
        }
    }

private:
    u64 total_, done_ = 0;
    bool terminal_;
};

} // namespace nw
