// SPDX-License-Identifier: MIT
#include "sim/timing/timeline.h"

#include <algorithm>
#include <tuple>

namespace nw::sim::timing {

void Command::executed() {
    executed_.store(true, std::memory_order_release);
    executed_.notify_all();
}

bool Timeline::Later::operator()(const std::shared_ptr<Command> &a,
                                 const std::shared_ptr<Command> &b) const {
    return std::tie(a->begin, a->number) > std::tie(b->begin, b->number);
}

// From the arrival (null), or the end of `before`, to the first work.
f64 Timeline::lead(const Command &c, const Command *before) const {
    if (c.kind == Command::Kind::marker)
        return 0;
    if (c.kind == Command::Kind::copy)
        return part_.copy_overhead;
    if (!before)
        return part_.launch_overhead + (c.in_graph ? part_.graph_launch : 0);
    if (c.in_graph && before->in_graph)
        return part_.graph_gap;
    const bool next = before->kind == Command::Kind::kernel && before->stream == c.stream;
    return next && !before->in_graph ? part_.launch_gap : part_.launch_overhead;
}

// ---- the host

void Timeline::submit(std::span<const std::shared_ptr<Command>> commands) {
    const std::lock_guard lock(mutex_);
    for (const auto &command : commands)
        depend(command);
}

void Timeline::depend(const std::shared_ptr<Command> &c) {
    c->number = ++submitted_;
    c->begin = now_ + lead(*c, nullptr);
    c->missing = 1; // until all are counted
    for (const auto &before : c->after)
        if (before->state == Command::State::ended)
            c->begin = std::max(c->begin, before->end + lead(*c, before.get()));
        else {
            before->dependents.push_back(c);
            ++c->missing;
        }
    c->after.clear();
    if (c->overtakes && c->overtakes->state == Command::State::ended)
        c->overtakes = nullptr;
    if (const auto &first = c->overtakes) {
        first->overtakers.push_back(c);
        if (first->state == Command::State::waiting)
            ++c->missing;
        else
            c->begin = std::max(c->begin, first->begin + part_.launch_gap);
    }
    satisfy(c, c->begin);
}

void Timeline::wait(std::span<const std::shared_ptr<Command>> commands) {
    std::unique_lock lock(mutex_);
    for (const auto &command : commands)
        for (bool idle = false; command->state != Command::State::ended && !idle;)
            if (const auto blocking = step(idle)) {
                lock.unlock();
                blocking->executed_.wait(false, std::memory_order_acquire);
                lock.lock();
            }
}

void Timeline::settle() {
    const std::lock_guard lock(mutex_);
    for (bool idle = false; !idle;)
        if (step(idle))
            return;
}

// ---- events

// One command that it waited for ended or began; its own work starts at `at` or later.
void Timeline::satisfy(const std::shared_ptr<Command> &c, f64 at) {
    c->begin = std::max(c->begin, at);
    if (--c->missing == 0)
        starting_.push(c);
}

std::shared_ptr<Command> Timeline::step(bool &idle) {
    release_held();
    const auto sooner = [](const auto &a, const auto &b) { return a->finish() < b->finish(); };
    const auto first = std::min_element(running_.begin(), running_.end(), sooner);
    const bool ends = first != running_.end();
    if (!starting_.empty() && (!ends || starting_.top()->begin < (*first)->finish())) {
        const std::shared_ptr<Command> next = starting_.top();
        if (delayed(next))
            return nullptr;
        if (!next->known && !next->executed_.load(std::memory_order_acquire))
            return next;
        starting_.pop();
        now_ = next->begin = std::max(now_, next->begin);
        start(next);
    } else if (ends) {
        const std::shared_ptr<Command> next = *first;
        now_ = std::max(now_, next->finish());
        running_.erase(first);
        stop(next);
    } else
        idle = true;
    return nullptr;
}

// The packet processor launches kernels of all queues, one after the other.
bool Timeline::delayed(const std::shared_ptr<Command> &next) {
    if (next->kind != Command::Kind::kernel || next->begin >= next_packet_)
        return false;
    starting_.pop();
    next->begin = next_packet_;
    starting_.push(next);
    return true;
}

void Timeline::release_held() {
    for (size_t n = 0; n < held_.size();)
        if (held_[n]->executed_.load(std::memory_order_acquire)) {
            const auto command = held_[n];
            held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(n));
            stop(command);
        } else
            ++n;
}

void Timeline::start(const std::shared_ptr<Command> &c) {
    c->state = Command::State::running;
    if (c->kind == Command::Kind::kernel)
        next_packet_ = c->begin + part_.packet_interval;
    for (const auto &other : c->overtakers)
        satisfy(other, c->begin + part_.launch_gap);
    if (c->waits_for_host && !c->executed_.load(std::memory_order_acquire))
        held_.push_back(c);
    else if (c->work.us <= 0)
        stop(c);
    else {
        c->since = c->begin;
        c->left = c->work.us;
        c->rate = 1;
        running_.push_back(c);
        set_rates();
    }
}

void Timeline::stop(const std::shared_ptr<Command> &c) {
    c->state = Command::State::done;
    set_rates();
    if (!c->overtakes || c->overtakes->state == Command::State::ended)
        end(c);
}

void Timeline::end(const std::shared_ptr<Command> &c) {
    c->state = Command::State::ended;
    c->end = std::max(now_, c->begin);
    c->overtakes = nullptr;
    if (c->on_end)
        c->on_end(*c);
    c->on_end = nullptr;
    for (const auto &next : std::exchange(c->dependents, {}))
        satisfy(next, c->end + lead(*next, c.get()));
    for (const auto &next : std::exchange(c->overtakers, {}))
        if (next->state == Command::State::done)
            end(next);
}

// A unit that is asked for more than it has slows all its users down by the same factor (T-083).
void Timeline::set_rates() {
    Shares asked{};
    for (const auto &c : running_)
        for (size_t unit = 0; unit < asked.size(); ++unit)
            asked[unit] += c->work.shares[unit];
    for (const auto &c : running_) {
        f64 most = 1;
        for (size_t unit = 0; unit < asked.size(); ++unit)
            if (c->work.shares[unit] > 0)
                most = std::max(most, asked[unit]);
        if (c->rate * most == 1)
            continue; // keeps an undisturbed command's times exact
        c->left = std::max(0.0, c->left - (now_ - c->since) * c->rate);
        c->since = now_;
        c->rate = 1 / most;
    }
}

} // namespace nw::sim::timing
