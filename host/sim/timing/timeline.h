// SPDX-License-Identifier: MIT
// When the commands of a device's streams start and end, in modelled time (T-080 to T-083).
//
// An event simulation that runs when the host waits. What the host submits arrives at the time that
// its last wait has reached, so times follow from the order of submissions and waits alone, not
// from the host threads that execute the commands.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "sim/timing/memory/transfer.h"

namespace nw::sim::timing {

struct Command;
using Commands = std::vector<std::shared_ptr<Command>>;

// A kernel, copy, fill, event or node of a graph.
struct Command {
    enum class Kind : u8 {
        marker, // takes no time: events, callbacks, begin and end of a graph
        kernel, // also copies within the device, and fills: shaders do them
        copy,   // between host and device
    };

    // ---- set before it is submitted
    Kind kind = Kind::marker;
    bool known = true;           // false: `work` is known once the host has executed it
    bool waits_for_host = false; // ends at the time that the host reaches after executing it
    bool in_graph = false;
    bool any_order = false; // of its stream: see overtakes
    u64 stream = 0;
    Work work;
    Commands after;                     // must have ended
    std::shared_ptr<Command> overtakes; // must have begun, and ends first: hipExtAnyOrderLaunch
    std::function<void(const Command &)> on_end;

    // ---- modelled, once it has ended
    f64 begin = 0, end = 0; // us on the device's clock: of work, without the launch

    // The host has executed it, or never will.
    void executed();

private:
    friend class Timeline;
    enum class State : u8 { waiting, running, done, ended };
    State state = State::waiting;
    u64 number = 0;                    // in the order of submission
    u32 missing = 0;                   // commands that must end or begin first
    f64 since = 0, left = 0, rate = 0; // running: work left at a time, and its speed since then
    f64 finish() const { return since + left / rate; }
    Commands dependents, overtakers;
    std::atomic<bool> executed_{false};
};

class Timeline {
public:
    explicit Timeline(Part part) : part_(std::move(part)) {}

    void submit(std::span<const std::shared_ptr<Command>> commands);
    // The host waits for them, and time moves on to the end of the last one. They are executed.
    void wait(std::span<const std::shared_ptr<Command>> commands);
    // The same for all commands that are executed.
    void settle();

private:
    // Processes the next event. Returns the command that must execute first, if any. `idle` is set
    // when there is no event.
    std::shared_ptr<Command> step(bool &idle);
    void depend(const std::shared_ptr<Command> &command);
    void satisfy(const std::shared_ptr<Command> &command, f64 at);
    void start(const std::shared_ptr<Command> &command);
    void stop(const std::shared_ptr<Command> &command); // its own work has ended
    void end(const std::shared_ptr<Command> &command);
    bool delayed(const std::shared_ptr<Command> &next);
    void release_held();
    void set_rates();
    f64 lead(const Command &command, const Command *before) const;

    struct Later {
        bool operator()(const std::shared_ptr<Command> &a, const std::shared_ptr<Command> &b) const;
    };

    const Part part_;
    std::mutex mutex_;
    f64 now_ = 0, next_packet_ = 0; // us
    u64 submitted_ = 0;
    std::priority_queue<std::shared_ptr<Command>, Commands, Later> starting_; // by begin
    Commands running_, held_; // held: by waits_for_host
};

} // namespace nw::sim::timing
