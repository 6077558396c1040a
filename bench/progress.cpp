// SPDX-License-Identifier: MIT
#include "progress.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace nw::bench {

Progress::Progress(u64 total) : total_(std::max<u64>(total, 1)), terminal_(isatty(STDERR_FILENO)) {}

void Progress::show(const std::string &what) {
    if (!terminal_)
        return;
    constexpr u64 width = 24;
    const u64 full = std::min(width, done_ * width / total_);
    fmt::print(stderr, "\r\033[K[{:=<{}}{:{}}] {:3}% {:.50}", "", full, "", width - full,
               std::min<u64>(100, done_ * 100 / total_), what);
    std::fflush(stderr);
}

void Progress::clear() const {
    if (terminal_) {
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
    }
}

} // namespace nw::bench
