// SPDX-License-Identifier: MIT
#include "sim/hip/device/device.h"

#include <algorithm>
#include <utility>

#include "sim/hip/runtime.h"
#include "sim/hip/services/device_services.h"

namespace nw::hipsim {

static std::unique_ptr<sim::timing::Timing> timing_of(const DeviceConfig &config) {
    if (!config.timed)
        return nullptr;
    return std::make_unique<sim::timing::Timing>(*config.facts, config.timed->part,
                                                 config.timed->costs, config.timed_options);
}

static std::shared_ptr<sim::timing::Timeline> timeline_of(const DeviceConfig &config) {
    return config.timed ? std::make_shared<sim::timing::Timeline>(config.timed->part) : nullptr;
}

static std::shared_ptr<EstimatedClock> clock_of(const DeviceConfig &config) {
    if (config.timed || !config.estimates)
        return nullptr;
    return std::make_shared<EstimatedClock>(*sim::timing::default_part(config.facts->gfx));
}

Device::Device(int ordinal, DeviceConfig settings, bool own)
    : config(std::move(settings)), own(own), ordinal(ordinal), facts(*config.facts),
      timing(timing_of(config)), timeline(timeline_of(config)), clock(clock_of(config)),
      default_pool(std::make_shared<Pool>(ordinal, 0, hipMemHandleTypeNone)), pool_(default_pool),
      null_stream_(std::make_shared<Stream>(ordinal, 0, 0)),
      services(std::make_shared<DeviceServices>(memory)) {}

std::shared_ptr<Pool> Device::pool() const {
    const std::lock_guard lock(pool_mutex_);
    return pool_;
}

void Device::set_pool(std::shared_ptr<Pool> pool) {
    const std::lock_guard lock(pool_mutex_);
    pool_ = std::move(pool);
}

std::shared_ptr<Stream> Device::create_stream(unsigned flags, int priority) {
    auto stream = std::make_shared<Stream>(ordinal, flags, priority);
    const std::lock_guard lock(order_);
    streams_.push_back(stream);
    return stream;
}

void Device::retire(const std::shared_ptr<Stream> &stream) {
    stream->stop(true);
    const std::lock_guard lock(order_);
    null_stream_->report(stream->take_error());
    std::erase(streams_, stream);
}

static void add_tail(Tickets &tails, const std::shared_ptr<Ticket> &tail) {
    if (tail)
        tails.push_back(tail);
}

// HIP's legacy rule: the null stream waits for every blocking stream, and they wait for it.
Tickets Device::tails(Stream &stream) const {
    Tickets tails;
    add_tail(tails, stream.tail_);
    if (&stream == null_stream_.get())
        for (const auto &other : streams_)
            if (other->blocking())
                add_tail(tails, other->tail_);
    return tails;
}

Tickets Device::tails_before(Stream &stream) const {
    Tickets tails = this->tails(stream);
    if (&stream != null_stream_.get() && stream.blocking())
        add_tail(tails, null_stream_->tail_);
    return tails;
}

// The commands' place among those of the device's other streams.
void Device::model(Ticket &ticket, Stream &stream, const Tickets &after,
                   sim::timing::Commands &commands) const {
    using sim::timing::Command;
    if (commands.empty())
        commands.push_back(std::make_shared<Command>());
    for (const auto &command : commands) {
        command->stream = stream.id;
        ticket.behind_host |= command->waits_for_host;
    }
    Command &first = *commands.front();
    for (const auto &earlier : after)
        if (earlier->timeline != timeline) // two devices' clocks aren't comparable
            first.waits_for_host |= earlier->behind_host;
        else if (first.any_order && earlier == stream.tail_ &&
                 earlier->command->kind == Command::Kind::kernel)
            first.overtakes = earlier->command;
        else
            first.after.push_back(earlier->command);
    ticket.timeline = timeline;
    ticket.command = commands.back();
    timeline->submit(commands);
}

// The stream's next ticket. Leaves those in `after` that its thread must wait for.
std::shared_ptr<Ticket> Device::issue(Stream &stream, Tickets &after,
                                      sim::timing::Commands &commands) {
    auto ticket = std::make_shared<Ticket>();
    for (const auto &earlier : after)
        ticket->behind_host |= earlier->behind_host && !earlier->done();
    if (timeline) {
        model(*ticket, stream, after, commands);
        const auto executes = [](const auto &command) { return !command->known; };
        if (std::ranges::any_of(commands, executes)) {
            add_tail(after, last_kernels_);
            if (!ticket->behind_host) // else the host may wait for later kernels first
                last_kernels_ = ticket;
        }
    }
    if (clock) {
        ticket->clock = clock;
        ticket->start_ns = clock->host_ns;
        for (const auto &earlier : after)
            if (earlier->clock == clock && earlier->done())
                ticket->start_ns = std::max(ticket->start_ns, earlier->end_ns);
    }
    std::erase_if(after, [](const auto &earlier) { return earlier->done(); });
    stream.tail_ = ticket;
    return ticket;
}

std::shared_ptr<Ticket> Device::submit(Stream &stream, Work work, sim::timing::Commands commands,
                                       const std::shared_ptr<Ticket> &extra, By by) {
    const std::lock_guard lock(order_);
    Tickets after = tails_before(stream);
    add_tail(after, extra);
    const auto ticket = issue(stream, after, commands);
    stream.push({std::move(after), std::move(work), ticket, by});
    return ticket;
}

hipError_t Device::run_now(Stream &stream, const Work &work, sim::timing::Commands commands) {
    InCallback::forbid();
    std::shared_ptr<Ticket> ticket;
    Tickets after;
    {
        const std::lock_guard lock(order_);
        after = tails_before(stream);
        ticket = issue(stream, after, commands);
    }
    for (const auto &earlier : after) {
        stream.help(*earlier);
        earlier->wait();
    }
    const hipError_t error = take_error(stream);
    const hipError_t result = error != hipSuccess ? error : ticket->run(after, work);
    ticket->finish();
    ticket->observe();
    return result;
}

bool Device::idle(Stream &stream) {
    Tickets all;
    {
        const std::lock_guard lock(order_);
        all = tails(stream);
    }
    if (!std::ranges::all_of(all, &Ticket::done))
        return false;
    for (const auto &tail : all)
        tail->observe();
    return true;
}

hipError_t Device::take_error(Stream &stream) {
    hipError_t first = stream.take_error();
    if (&stream != null_stream_.get())
        return first;
    const std::lock_guard lock(order_);
    for (const auto &other : streams_)
        if (other->blocking())
            if (const hipError_t error = other->take_error(); first == hipSuccess)
                first = error;
    return first;
}

hipError_t Device::synchronize(Stream &stream) {
    InCallback::forbid();
    Tickets all;
    {
        const std::lock_guard lock(order_);
        all = tails(stream);
    }
    for (const auto &tail : all) {
        stream.help(*tail);
        tail->wait();
    }
    for (const auto &tail : all)
        tail->observe();
    release_spares();
    faults.synchronized();
    return take_error(stream);
}

void Device::release_spares() {
    runtime().pools.for_each([&](Pool &pool) {
        if (pool.device == ordinal)
            pool.release_spares();
    });
}

void Device::wait() {
    InCallback::forbid();
    std::vector<std::pair<std::shared_ptr<Stream>, std::shared_ptr<Ticket>>> busy;
    const auto add = [&](const std::shared_ptr<Stream> &stream) {
        if (stream->tail_ && !stream->tail_->done())
            busy.emplace_back(stream, stream->tail_);
    };
    {
        const std::lock_guard lock(order_);
        add(null_stream_);
        std::ranges::for_each(streams_, add);
    }
    for (const auto &[stream, tail] : busy) {
        if (busy.size() == 1) // several run beside each other
            stream->help(*tail);
        tail->wait();
    }
    if (timeline)
        timeline->settle();
}

std::unique_lock<std::mutex> Device::lock_if_idle() {
    const auto done = [](const std::shared_ptr<Stream> &stream) {
        return !stream->tail_ || stream->tail_->done();
    };
    std::unique_lock lock(order_);
    if (!done(null_stream_) || !std::ranges::all_of(streams_, done))
        lock.unlock();
    return lock;
}

hipError_t Device::synchronize() {
    wait();
    release_spares();
    faults.synchronized();
    hipError_t first = null_stream_->take_error();
    const std::lock_guard lock(order_);
    for (const auto &stream : streams_)
        if (const hipError_t error = stream->take_error(); first == hipSuccess)
            first = error;
    return first;
}

void Device::keep_stats(std::string line) {
    const std::lock_guard lock(stats_mutex_);
    stats_.push_back(std::move(line));
}

std::vector<std::string> Device::take_stats() {
    const std::lock_guard lock(stats_mutex_);
    return std::exchange(stats_, {});
}

void Device::stop() {
    std::vector<std::shared_ptr<Stream>> streams;
    {
        const std::lock_guard lock(order_);
        streams = streams_;
    }
    streams.push_back(null_stream_);
    for (const auto &stream : streams)
        stream->stop(false);
    if (timeline)
        timeline->settle(); // statistics of what nobody waited for
}

} // namespace nw::hipsim
