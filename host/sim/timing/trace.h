// SPDX-License-Identifier: MIT
// A wave's execution without timing: its instructions, and the footprints of memory accesses.
// Recorded by functional execution, read by the timing model.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "sim/func/launch/launch.h"
#include "sim/isa/uses.h"
#include "sim/timing/core/lds_banks.h"
#include "sim/timing/memory/memory_system.h"

namespace nw::sim::timing {

// Entries of WaveTrace::payload, in order, one per memory instruction.
enum class Payload : u8 {
    none,
    vector, // a VectorHeader, then as many SectorRuns
    lds,    // phases: accesses of all banks that it takes, one after another; above
            // lds_conflicts_at, how many of them are bank conflicts
    scalar, // a ScalarPayload
    end     // nothing: the wave ends
};

constexpr u32 lds_conflicts_at = 32;

struct VectorHeader {
    u64 runs : 16;
    u64 lanes : 8;
    u64 lane_bytes : 16;
    u64 lds_phases : 16; // of flat instructions: for the lanes whose address is in LDS
};
struct ScalarPayload {
    u64 address : 48;
    u64 bytes : 16;
};

struct WaveTrace {
    struct Run {
        u32 first, count; // instruction indices, one after another
    };
    std::vector<Run> runs;
    std::vector<u64> payload;

    void add(u32 index) {
        if (!runs.empty() && runs.back().first + runs.back().count == index)
            ++runs.back().count;
        else
            runs.push_back({index, 1});
    }
    u64 bytes() const { return runs.size() * sizeof(Run) + payload.size() * sizeof(u64); }
    void clear() {
        runs.clear();
        payload.clear();
    }
};

// Reads a trace from the start.
class TraceReader {
public:
    TraceReader() = default;
    explicit TraceReader(const WaveTrace &trace) : trace_(&trace) {}
    bool more() const { return run_ < trace_->runs.size(); }
    u32 index() const { return trace_->runs[run_].first + at_; }
    void next() {
        if (++at_ == trace_->runs[run_].count)
            ++run_, at_ = 0;
    }
    bool starts_run() const { return at_ == 0; }
    size_t run() const { return run_; }
    const WaveTrace::Run &run_at(size_t n) const { return trace_->runs[n]; }
    WaveTrace::Run rest_of_run() const { return {index(), trace_->runs[run_].count - at_}; }
    void next_run() { ++run_, at_ = 0; }
    // Runs that start with this instruction.
    u32 count(u32 first) const {
        return static_cast<u32>(std::count_if(trace_->runs.begin(), trace_->runs.end(),
                                              [&](const auto &r) { return r.first == first; }));
    }
    const u64 *payload() const { return &trace_->payload[word_]; }
    void skip_payload(size_t words) { word_ += words; }

private:
    const WaveTrace *trace_ = nullptr;
    size_t run_ = 0, word_ = 0;
    u32 at_ = 0;
};

// Half of the machine's memory.
u64 default_record_limit();

// Workgroups [begin, end).
struct GroupRange {
    u64 begin = 0, end = 0;
    u64 size() const { return end - begin; }
    bool holds(u64 group) const { return group - begin < end - begin; }
};

// Records the waves of workgroups [0, groups()), without those that are left out. A wave that would
// exceed `limit` bytes in total faults with out of memory: an endless kernel must not exhaust the
// host.
class Recorder : public Observer {
public:
    Recorder(const std::vector<Payload> &payloads, bool gfx12, u64 groups, u32 waves_per_group,
             u64 limit = default_record_limit());
    void *start(u64 group, u32 wave) override;
    void before(Wave &, const Inst &) override;
    static WaveTrace &trace_of(const Wave &); // of a wave that is observed
    WaveTrace &trace(u64 group, u32 wave) { return of_group_[group][wave].trace; }
    u64 groups() const { return groups_; }
    u32 waves() const { return waves_; } // of a workgroup
    bool has(u64 group) const { return of_group_[group] != nullptr; }

    // For a reader on another thread, which takes workgroups about in order. It is waited for if it
    // falls behind by `ahead` bytes.
    void read_beside(u64 ahead);
    struct Ended {};            // thrown if recording ends before
    void await(u64 group);      // until it is recorded
    void forget(u64 group);     // it is not read again
    void leave_out(GroupRange); // these are not read; at most most_ranges times
    bool needs(u64 group) const;
    void finish();       // nothing more is recorded
    void stop_reading(); // nothing more is read
    u64 instructions(u64 group) const;
    static constexpr u32 most_ranges = 64;

private:
    void wait_for_reader(u64 group);
    void ended(u64 group);
    void drop(u64 group);

    // State per wave: the trace, and the allocations accessed last.
    struct Recording {
        WaveTrace trace;
        u64 number = 0;
        u64 claimed = 0; // bytes
        Allocation known[4];
        u32 oldest = 0;
    };
    void claim(Recording &, Wave &, const Inst &);
    void vector(Recording &, Wave &, const Inst &);
    void scalar(Recording &, Wave &, const Inst &);
    u64 device_address(Recording &, const Wave &, u64 address);

    const std::vector<Payload> &payloads_; // by instruction index
    bool gfx12_;
    u64 groups_;
    u32 waves_;
    u64 limit_;
    std::atomic<u64> claimed_{0};
    std::vector<std::unique_ptr<Recording[]>> of_group_; // from its start until it is forgotten
    LdsMemo memo_;

    // State of a concurrent reader.
    u64 ahead_ = ~u64{0};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<u64> recorded_; // and not awaited yet
    u64 wanted_ = 0;         // the last one awaited
    std::vector<u32> live_;  // waves, by workgroup
    bool finished_ = false, reads_ = true;
    GroupRange left_out_[most_ranges];
    std::atomic<u32> ranges_{0}; // of left_out_
};

} // namespace nw::sim::timing
