// SPDX-License-Identifier: MIT
// Messages that waves send in parts by hostcall: printf's, and those of assert.
#pragma once
#include <map>
#include <vector>

#include "base/types.h"

namespace nw::hipsim {

class Messages {
public:
    // One part: a descriptor and up to seven words. The answer is the descriptor of the next part
    // or, after the last one, printf's result. Prints complete messages.
    u64 part(const u64 (&slots)[8]);
    u64 unfinished() const { return open_.size(); }

private:
    std::map<u64, std::vector<u64>> open_; // by id
    u64 next_id_ = 1;
};

} // namespace nw::hipsim
