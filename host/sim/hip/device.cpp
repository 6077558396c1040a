// SPDX-License-Identifier: MIT
#include "sim/hip/device.h"

#include <algorithm>
#include <utility>

namespace nw::hipsim {

static std::unique_ptr<sim::timing::Timing> timing_of(const DeviceConfig &config) {
    if (!config.timed)
        return nullptr;
    return std::make_unique<sim::timing::Timing>(*config.facts, config.timed->part,
                                                 config.timed->costs, config.timed_options);
}

Device::Device(int ordinal, DeviceConfig settings, bool own)
    : config(std::move(settings)), own(own), ordinal(ordinal), facts(*config.facts),
      timing(timing_of(config)),
      default_pool(std::make_shared<Pool>(ordinal, 0, hipMemHandleTypeNone)), pool_(default_pool),
      null_stream_(std::make_shared<Stream>(ordinal, 0, 0)) {}

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
    if (tail && !tail->done())
        tails.push_back(tail);
}

// HIP's legacy rule: the null stream waits for every blocking stream, and they wait for it.
Tickets Device::unfinished(Stream &stream) const {
    Tickets tails;
    add_tail(tails, stream.tail_);
    if (&stream == null_stream_.get())
        for (const auto &other : streams_)
            if (other->blocking())
                add_tail(tails, other->tail_);
    return tails;
}

Tickets Device::tails_before(Stream &stream) const {
    Tickets tails = unfinished(stream);
    if (&stream != null_stream_.get() && stream.blocking())
        add_tail(tails, null_stream_->tail_);
    return tails;
}

std::shared_ptr<Ticket> Device::submit(Stream &stream, Work work, std::shared_ptr<Ticket> extra) {
    const std::lock_guard lock(order_);
    Tickets after = tails_before(stream);
    if (extra && !extra->done())
        after.push_back(std::move(extra));
    auto ticket = std::make_shared<Ticket>();
    auto timed = [this, work = std::move(work), ticket] {
        const hipError_t result = work();
        ticket->modelled_us = modelled_us.load();
        return result;
    };
    stream.push({std::move(after), std::move(timed), ticket});
    stream.tail_ = ticket;
    return ticket;
}

hipError_t Device::run_now(Stream &stream, const Work &work) {
    InCallback::forbid();
    const auto ticket = std::make_shared<Ticket>();
    Tickets after;
    {
        const std::lock_guard lock(order_);
        after = tails_before(stream);
        stream.tail_ = ticket;
    }
    for (const auto &earlier : after)
        earlier->wait();
    const hipError_t error = take_error(stream);
    const hipError_t result = error != hipSuccess ? error : work();
    ticket->modelled_us = modelled_us.load();
    ticket->finish();
    return result;
}

bool Device::idle(Stream &stream) {
    const std::lock_guard lock(order_);
    return unfinished(stream).empty();
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
    Tickets tails;
    {
        const std::lock_guard lock(order_);
        tails = unfinished(stream);
    }
    for (const auto &tail : tails)
        tail->wait();
    return take_error(stream);
}

void Device::wait() {
    InCallback::forbid();
    Tickets tails;
    {
        const std::lock_guard lock(order_);
        add_tail(tails, null_stream_->tail_);
        for (const auto &stream : streams_)
            add_tail(tails, stream->tail_);
    }
    for (const auto &tail : tails)
        tail->wait();
}

hipError_t Device::synchronize() {
    wait();
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
}

} // namespace nw::hipsim
