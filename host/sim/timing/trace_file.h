// SPDX-License-Identifier: MIT
// HIPSIM_TRACE: timed launches as a Chrome trace in JSON, for ui.perfetto.dev.
//
// A SIMD is a process, its wave slots are threads. A slice of a slot is a wave; in it are its
// instructions, each from when the wave could have issued it to when it did; in these, what it
// waited for. An arrow goes from an instruction that went to memory to what the wave did when the
// answer came; its name says who answered. One more process per device has its launches, one after
// another, and counters. What DRAM moved counts when the last byte of the instruction arrives, so
// that short steps may show more than the part has. 1 ns of the trace is 1 cycle of the shader
// clock: Perfetto keeps whole nanoseconds.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "sim/func/machine.h"
#include "sim/timing/out_file.h"
#include "sim/timing/part.h"
#include "sim/timing/result.h"
#include "sim/timing/trace_events.h"

namespace nw::sim::timing {

// What ui.perfetto.dev opens without effort. Instructions beyond are left out, and this is said.
struct TraceLimits {
    u64 of_launch = 200'000, of_file = 1'000'000; // events
};

class TraceFile {
public:
    // Throws nw::Error. The file is a whole JSON document from now on.
    TraceFile(const std::string &path, Complain complain, TraceLimits limits = {});
    // For one launch on the device of this number; it must not outlive the trace.
    std::unique_ptr<Watcher> watch(const Dispatch &, const Part &, u32 device = 0);

private:
    class Launch;
    struct DeviceTracks {
        u64 free = 0;          // cycles: where the next launch begins
        std::set<u64> named{}; // processes and threads
    };

    void add(const TraceEvents &);
    void left_out(u64 instructions, u64 launch, std::string_view kernel);

    std::mutex mutex_; // devices run side by side
    OutFile file_;
    Complain complain_;
    const TraceLimits limits_;
    u64 launches_ = 0, events_ = 0, left_out_ = 0;
    std::map<u32, DeviceTracks> devices_;
};

} // namespace nw::sim::timing
