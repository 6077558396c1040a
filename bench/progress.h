// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "base/types.h"

namespace nw::bench {

// A bar on stderr, where that is a terminal. `total` and `amount` are in any one unit of work.
class Progress {
public:
    explicit Progress(u64 total);
    ~Progress() { clear(); }
    void show(const std::string &what);
    void advance(u64 amount) { done_ += amount; }
    void clear() const; // before anything else is printed

private:
    u64 total_, done_ = 0;
    bool terminal_;
};

} // namespace nw::bench
