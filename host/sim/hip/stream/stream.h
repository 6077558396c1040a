// SPDX-License-Identifier: MIT
// Streams: in-order queues, each with its own thread.
//
// HIP's ordering rules become a list of tickets per command: its predecessor in the stream, and
// those added by the null stream and hipStreamWaitEvent. Tickets are issued under one lock per
// device and a command only waits for older ones, so there is no cycle and no deadlock.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/types.h"
#include "sim/hip/headers.h"
#include "sim/hip/launch/estimate.h"
#include "sim/timing/timeline.h"

namespace nw::hipsim {

// Whether it becomes true within a few microseconds: sleeping and being woken takes longer than a
// short kernel.
template <class Condition> bool soon(Condition &&condition) {
    constexpr std::chrono::microseconds patience(5);
    if (condition())
        return true;
    const auto end = std::chrono::steady_clock::now() + patience;
    do {
        for (int n = 0; n < 16; ++n) {
            if (condition())
                return true;
            __builtin_ia32_pause();
        }
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

// Completed once its command has run.
class Ticket {
public:
    // Its place in the modelled time of its device; null where launches aren't timed. Set before
    // another thread sees the ticket.
    std::shared_ptr<sim::timing::Timeline> timeline;
    std::shared_ptr<sim::timing::Command> command;
    bool behind_host = false;              // runs after something that the host may hold up
    std::shared_ptr<EstimatedClock> clock; // null where time isn't estimated
    u64 start_ns = 0, end_ns = 0;          // estimated; the end once it is done
    // The host knows that it is done: modelled time moves on to its end.
    void observe() const {
        if (timeline)
            timeline->wait({&command, 1});
        else if (clock)
            clock->wait_for(end_ns);
    }
    // Once observed; 0 where no time is kept.
    f64 end_us() const { return command ? command->end : static_cast<f64>(end_ns) / 1000; }
    // Runs `work` in estimated time: after `earlier`, which are done.
    template <class Work>
    auto run(const std::vector<std::shared_ptr<Ticket>> &earlier, Work &&work) {
        for (const auto &ticket : earlier)
            start_ns = std::max(start_ns, ticket->end_ns);
        estimate::begin(clock.get(), start_ns);
        auto result = work();
        end_ns = clock ? estimate::now_ns() : 0;
        estimate::begin(nullptr, 0);
        return result;
    }
    bool done() const { return done_.load(std::memory_order_acquire); }
    void wait() const {
        if (!soon([this] { return done(); }))
            done_.wait(false, std::memory_order_acquire);
    }
    void finish() {
        if (command)
            command->executed();
        done_.store(true, std::memory_order_release);
        done_.notify_all();
    }

private:
    std::atomic<bool> done_{false};
};

using Tickets = std::vector<std::shared_ptr<Ticket>>;

// Who may run a command: the stream's thread alone, or also a thread of the host that waits for it.
enum class By { thread, anyone };
using Work = std::function<hipError_t()>; // must not throw

// Exists while a stream's thread runs a host function. Calls that would wait for the same stream
// fail with hipErrorIllegalState instead of deadlocking.
struct InCallback {
    InCallback();
    ~InCallback();
    static void forbid();
};

struct Capture;
struct Node;
class SharedEvent; // sim/hip/ipc

// As hipDeviceGetStreamPriorityRange has them.
inline constexpr int least_priority = 1, greatest_priority = -1;

using StreamAttribute = std::array<std::byte, 64>; // hipLaunchAttributeValue

class Stream {
public:
    Stream(int device, unsigned flags, int priority)
        : device(device), flags(flags), priority(priority) {}
    ~Stream() { stop(true); }
    Stream(const Stream &) = delete;

    const int device;
    const unsigned flags;
    const int priority;
    const unsigned long long id = next_id(); // of all streams that ever were
    std::vector<unsigned> mask;              // of compute units, see hipExtStreamGetCUMask
    bool blocking() const { return !(flags & hipStreamNonBlocking); }

    // The first error of a command since the last call.
    hipError_t take_error() { return error_.exchange(hipSuccess); }
    hipError_t peek_error() const { return error_; }
    void report(hipError_t code);
    // Runs queued commands in this thread, until `ticket` is done or the stream's thread must go
    // on: waking that takes longer than a short kernel.
    void help(const Ticket &ticket);

    std::mutex attributes_mutex; // guards those that were set, by hipStreamSetAttribute
    std::map<int, StreamAttribute> attributes;

    // While capturing: the capture, and the dependencies of its next node. Guarded by
    // graph_mutex(), see capture.h.
    std::shared_ptr<Capture> capture;
    std::vector<std::weak_ptr<Node>> frontier;
    std::vector<hipGraphNode_t> frontier_handles; // returned by hipStreamGetCaptureInfo_v2

    // Ends the thread: after the queue is drained (`finish`), else after the running command.
    void stop(bool finish);

private:
    friend class Device; // issues tickets
    static unsigned long long next_id();
    struct Command {
        Tickets after;
        Work work;
        std::shared_ptr<Ticket> done;
        By by = By::thread;
    };
    void push(Command command);
    void run();
    void execute(Command &command);
    bool next(Command &command);
    bool take_if_ready(Command &command);
    void release();
    void take(Command &command);
    bool dropping();

    std::shared_ptr<Ticket> tail_; // the youngest command's; guarded by the device's lock

    std::mutex mutex_; // guards what follows
    std::condition_variable wake_;
    std::deque<Command> queue_;
    std::atomic<bool> has_some_{false}; // in the queue while none runs, or it is stopping
    bool running_ = false;              // a command, in whatever thread
    bool stopping_ = false;
    bool dropping_ = false;
    std::thread thread_;

    std::atomic<hipError_t> error_{hipSuccess};
};

// hipEventRecord keeps the ticket of an empty command.
struct Event {
    unsigned flags = 0;
    int device = 0;                      // the one whose streams may record it
    std::shared_ptr<SharedEvent> shared; // with hipEventInterprocess
    std::mutex mutex;                    // guards what follows
    std::shared_ptr<Ticket> recorded;
    std::weak_ptr<Stream> stream;
    // Recorded during capture: the nodes that it represents. Guarded by graph_mutex().
    std::weak_ptr<Capture> capture;
    std::vector<std::weak_ptr<Node>> frontier;
};

} // namespace nw::hipsim
