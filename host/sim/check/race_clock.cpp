// SPDX-License-Identifier: MIT
#include "sim/check/race_clock.h"

#include <algorithm>

namespace nw::sim {

void Progress::join(const Progress &other) {
    clock = std::max(clock, other.clock);
    lds = std::max(lds, other.lds);
    global = std::max(global, other.global);
    scalar = std::max(scalar, other.scalar);
    loads = std::max(loads, other.loads);
}

void Knowledge::merge(Shared &into, const Shared &from) {
    if (!from || into == from)
        return;
    if (into)
        return merge(into, 0, *from);
    into = from;
}

void Knowledge::merge(Shared &into, u32 first, const std::vector<Progress> &from) {
    auto sum = into ? std::make_shared<Others>(*into) : std::make_shared<Others>();
    sum->resize(std::max<size_t>(sum->size(), first + from.size()));
    for (size_t n = 0; n < from.size(); ++n)
        (*sum)[first + n].join(from[n]);
    into = std::move(sum);
}

void Knowledge::join(const Knowledge &other) {
    const bool same_group = other.first_ == first_;
    if (same_group)
        for (size_t n = 0; n < mates_.size(); ++n)
            mates_[n].join(other.mates_[n]);
    else
        merge(ordered_, other.first_, other.mates_);
    if (other.ordered_ && other.ordered_ != ordered_) {
        merge(ordered_, other.ordered_);
        for (size_t n = 0; n < mates_.size() && first_ + n < ordered_->size(); ++n)
            mates_[n].join((*ordered_)[first_ + n]); // own group, through another one
    }
    if (same_group)
        merge(cached_, other.cached_);
}

Progress Knowledge::of(u32 wave, bool cached) const {
    if (wave - first_ < mates_.size())
        return mates_[wave - first_];
    const Shared &others = cached ? cached_ : ordered_;
    return others && wave < others->size() ? (*others)[wave] : Progress{};
}

} // namespace nw::sim
