// SPDX-License-Identifier: MIT
// HIPSIM_TRACE: timed launches as a Chrome trace in JSON, for ui.perfetto.dev.
//
// A SIMD is a process, its wave slots are threads. A slice of a slot is a wave; nested slices are
// its instructions, from ready to issue, and their stalls. An arrow leads from a memory instruction
// to the wave's activity when the answer arrived; its name is the level that answered. One more
// process per device has its launches and counters, one its streams: when their commands ran,
// beside each other, while launches are drawn one after the other. DRAM bytes count when the
// instruction's last byte arrives, so short steps may exceed the peak. 1 ns of the trace is 1 cycle
// of the shader clock: Perfetto keeps whole nanoseconds.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "sim/func/machine.h"
#include "sim/timing/constants/part.h"
#include "sim/timing/files/out_file.h"
#include "sim/timing/files/trace_events.h"
#include "sim/timing/result.h"

namespace nw::sim::timing {

struct Command;

// Sizes that ui.perfetto.dev opens easily. Instructions beyond are dropped, with a message.
struct TraceLimits {
    u64 of_launch = 200'000, of_file = 1'000'000; // events
};

class TraceFile {
public:
    // Throws nw::Error. The file is a complete JSON document at any time.
    TraceFile(const std::string &path, Complain complain, TraceLimits limits = {});
    // For one launch on the device of this number; it must not outlive the trace.
    std::unique_ptr<Watcher> watch(const Dispatch &, const Part &, u32 device = 0);
    // Draws a command of a stream that has ended in modelled time.
    void ended(const Command &, std::string_view name, const Part &, u32 device = 0);

private:
    class Launch;
    struct Lane {
        TraceEvents::Track track;
        u64 until = 0;
    };
    struct DeviceTracks {
        u64 free = 0;                             // start of the next launch, in cycles
        std::map<u64, std::vector<Lane>> lanes{}; // of each stream
        u64 lanes_drawn = 0;
        std::set<u64> named{}; // processes and threads
    };

    void add(const TraceEvents &);
    void left_out(u64 instructions, u64 launch, std::string_view kernel);

    std::mutex mutex_; // devices run concurrently
    OutFile file_;
    Complain complain_;
    const TraceLimits limits_;
    u64 launches_ = 0, events_ = 0, left_out_ = 0;
    std::map<u32, DeviceTracks> devices_;
};

} // namespace nw::sim::timing
