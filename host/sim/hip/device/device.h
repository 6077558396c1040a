// SPDX-License-Identifier: MIT
// One simulated GPU: its memory, its streams, and the order in which their commands run.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/func/machine.h"
#include "sim/hip/config.h"
#include "sim/hip/memory/pool.h"
#include "sim/hip/memory/reported_faults.h"
#include "sim/hip/stream/stream.h"
#include "sim/timing/timing.h"

namespace nw::hipsim {

class DeviceServices; // sim/hip/services

class Device {
public:
    Device(int ordinal, DeviceConfig config, bool own);

    const DeviceConfig config;
    const bool own; // its commands never use another device's memory

    const int ordinal;
    const sim::Device &facts;
    sim::Memory memory;
    const std::unique_ptr<sim::timing::Timing> timing;     // null: launches aren't timed
    const std::shared_ptr<sim::timing::Timeline> timeline; // null with `timing`
    const std::shared_ptr<EstimatedClock> clock;           // null if timed, or no time is kept
    ReportedFaults faults{*this};

    // Settings that hosts write and read back; they have no effect here.
    std::atomic<unsigned> flags{0};
    std::atomic<hipFuncCache_t> cache_config{hipFuncCachePreferNone};
    std::atomic<u64> heap_bytes{8 << 20},
        stack_bytes{1024}; // hipLimitMallocHeapSize, hipLimitStackSize

    const std::shared_ptr<Pool> default_pool;
    std::shared_ptr<Pool> pool() const; // the default of hipMallocAsync
    void set_pool(std::shared_ptr<Pool> pool);

    const std::shared_ptr<Stream> &null_stream() const { return null_stream_; }
    void release_spares(); // of its pools, up to their thresholds
    std::shared_ptr<Stream> create_stream(unsigned flags, int priority);
    // Waits for its commands. An unreported error moves to the null stream.
    void retire(const std::shared_ptr<Stream> &stream);

    // Queues `work` after all its HIP-ordered predecessors, and after `extra`. `commands` are its
    // modelled ones, the last of which ends it; none: it takes no time.
    std::shared_ptr<Ticket> submit(Stream &stream, Work work, sim::timing::Commands commands = {},
                                   const std::shared_ptr<Ticket> &extra = nullptr,
                                   By by = By::thread);
    // The same, run in this thread. After an unreported error of the streams it waited for, it
    // doesn't run and returns that error.
    hipError_t run_now(Stream &stream, const Work &work, sim::timing::Commands commands = {});

    bool idle(Stream &stream);
    hipError_t synchronize(Stream &stream); // waits; the first unreported error
    hipError_t synchronize();               // all streams
    void wait();                            // all streams, leaving their errors pending
    // Owned if no command is queued or runs; then none begins while it is held.
    std::unique_lock<std::mutex> lock_if_idle();
    hipError_t take_error(Stream &stream); // including the streams that the null stream waits for

    void stop(); // process exit: drops queued commands

    // Keeps a launch's statistics as a JSON line, if enabled.
    void keep_stats(std::string line);
    std::vector<std::string> take_stats();

private:
    std::mutex stats_mutex_;
    std::vector<std::string> stats_;

    mutable std::mutex pool_mutex_;
    std::shared_ptr<Pool> pool_;

    // Guards the streams' tails: reading the tails and replacing one is atomic.
    std::mutex order_;
    std::shared_ptr<Stream> null_stream_;
    std::vector<std::shared_ptr<Stream>> streams_; // without the null stream

    // The last commands with kernels: timed kernels run in the order of submission, so that what
    // one finds in the caches doesn't depend on host threads.
    std::shared_ptr<Ticket> last_kernels_;

public:
    const std::shared_ptr<DeviceServices> services; // uses `memory`

    Tickets tails(Stream &stream) const;        // what a synchronizing caller waits for
    Tickets tails_before(Stream &stream) const; // what the stream's next command waits for
    std::shared_ptr<Ticket> issue(Stream &stream, Tickets &after, sim::timing::Commands &commands);
    void model(Ticket &ticket, Stream &stream, const Tickets &after,
               sim::timing::Commands &commands) const;
};

} // namespace nw::hipsim
