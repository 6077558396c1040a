// SPDX-License-Identifier: MIT
#include "sim/timing/memory/transfer.h"

#include <algorithm>

namespace nw::sim::timing {

namespace {

f64 &share(Work &work, Shared unit) { return work.shares[static_cast<size_t>(unit)]; }

// Share of DRAM's sustained bandwidth that `gb_per_s` of traffic takes.
f64 dram_share(const Part &part, f64 gb_per_s) {
    return std::min(1.0, gb_per_s / (part.dram_gb_per_s * part.dram_efficiency));
}

Work over_link(const Part &part, Shared direction, u64 bytes) {
    Work work{static_cast<f64>(bytes) / part.link_gb_per_s / 1000, {}};
    share(work, direction) = 1;
    share(work, Shared::link) = std::min(1.0, part.link_gb_per_s / part.link_both_gb_per_s);
    share(work, Shared::dram) = dram_share(part, part.link_gb_per_s);
    return work;
}

Work within(const Part &part, u64 traffic) {
    Work work{static_cast<f64>(traffic) / part.copy_gb_per_s / 1000, {}};
    share(work, Shared::dram) = dram_share(part, part.copy_gb_per_s);
    return work;
}

} // namespace

Work transfer_work(const Part &part, Transfer kind, u64 bytes) {
    switch (kind) {
    case Transfer::host:
        return {};
    case Transfer::to_device:
        return over_link(part, Shared::to_device, bytes);
    case Transfer::to_host:
        return over_link(part, Shared::to_host, bytes);
    case Transfer::within:
        return within(part, 2 * bytes);
    case Transfer::fill:
        return within(part, bytes);
    }
    return {};
}

Work kernel_work(const Part &part, const Result &result) {
    Work work{static_cast<f64>(result.cycles) / result.mhz, {}};
    const Utilization &use = result.use;
    share(work, Shared::slots) = result.slots;
    share(work, Shared::valu) = use.valu;
    share(work, Shared::trans) = use.trans;
    share(work, Shared::salu) = use.salu;
    share(work, Shared::lds) = use.lds;
    share(work, Shared::dram) = dram_share(part, use.dram * part.dram_gb_per_s);
    return work;
}

} // namespace nw::sim::timing
