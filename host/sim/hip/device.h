// SPDX-License-Identifier: MIT
// One simulated GPU: its memory, its streams, and the order in which their commands run.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/func/machine.h"
#include "sim/hip/config.h"
#include "sim/hip/pool.h"
#include "sim/hip/stream.h"
#include "sim/timing/timing.h"

namespace nw::hipsim {

class Device {
public:
    Device(int ordinal, DeviceConfig config, bool own);

    const DeviceConfig config;
    const bool own; // nobody else's memory waits for its commands

    const int ordinal;
    const sim::Device &facts;
    sim::Memory memory;
    const std::unique_ptr<sim::timing::Timing> timing; // null: launches aren't timed
    // Modelled time: of all kernels so far, one after another. Copies and fills take none.
    std::atomic<f64> modelled_us{0};

    // What hosts set and ask for; nothing here depends on it.
    std::atomic<unsigned> schedule_flags{0};
    std::atomic<hipFuncCache_t> cache_config{hipFuncCachePreferNone};
    std::atomic<u64> heap_bytes{8 << 20},
        stack_bytes{1024}; // hipLimitMallocHeapSize, hipLimitStackSize

    const std::shared_ptr<Pool> default_pool;
    std::shared_ptr<Pool> pool() const; // that hipMallocAsync takes from
    void set_pool(std::shared_ptr<Pool> pool);

    const std::shared_ptr<Stream> &null_stream() const { return null_stream_; }
    std::shared_ptr<Stream> create_stream(unsigned flags, int priority);
    // Waits for its commands. An error that nobody asked for goes to the null stream.
    void retire(const std::shared_ptr<Stream> &stream);

    // Queues `work` behind all that HIP orders it behind, and behind `extra`.
    std::shared_ptr<Ticket> submit(Stream &stream, Work work,
                                   std::shared_ptr<Ticket> extra = nullptr);
    // The same, but runs it in this thread, and not at all after an unreported error of the streams
    // that it had to wait for: that error is then the result.
    hipError_t run_now(Stream &stream, const Work &work);

    bool idle(Stream &stream);
    hipError_t synchronize(Stream &stream); // waits; the first unreported error
    hipError_t synchronize();               // all streams
    void wait();                            // all streams, leaving their errors to be asked for
    hipError_t take_error(Stream &stream);  // also of those that the null stream waits for

    void stop(); // the process ends: drops what is queued

    // Of launches, as lines of JSON, where its settings say so.
    void keep_stats(std::string line);
    std::vector<std::string> take_stats();

private:
    std::mutex stats_mutex_;
    std::vector<std::string> stats_;

    mutable std::mutex pool_mutex_;
    std::shared_ptr<Pool> pool_;

    // Guards the streams' tails, and makes "look at the tails, become one" a single step.
    std::mutex order_;
    std::shared_ptr<Stream> null_stream_;
    std::vector<std::shared_ptr<Stream>> streams_; // without the null stream

    Tickets unfinished(Stream &stream) const;   // what a caller who synchronizes waits for
    Tickets tails_before(Stream &stream) const; // what the stream's next command waits for
};

} // namespace nw::hipsim
