// SPDX-License-Identifier: MIT
#include "sim/hip/stream/stream.h"

#include "sim/hip/error.h"
#include "sim/hip/stack_range.h"

namespace nw::hipsim {

static thread_local int callbacks = 0;

InCallback::InCallback() { ++callbacks; }
InCallback::~InCallback() { --callbacks; }

void InCallback::forbid() {
    if (callbacks > 0)
        fail(hipErrorIllegalState, "called from a stream's callback: it would wait for itself");
}

unsigned long long Stream::next_id() {
    static std::atomic<unsigned long long> last{0};
    return ++last;
}

void Stream::report(hipError_t code) {
    hipError_t none = hipSuccess;
    if (code != hipSuccess)
        error_.compare_exchange_strong(none, code);
}

void Stream::push(Command command) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) { // process exit: the command never runs, so nothing may wait for it
            command.done->finish();
            return;
        }
        if (!thread_.joinable())
            thread_ = std::thread([this] { run(); });
        queue_.push_back(std::move(command));
        if (running_) // who runs it looks again
            return;
        has_some_ = true;
    }
    wake_.notify_one();
}

// With the lock held.
void Stream::take(Command &command) {
    command = std::move(queue_.front());
    queue_.pop_front();
    running_ = true;
    has_some_ = stopping_;
}

// False at the end of the thread.
bool Stream::next(Command &command) {
    soon([this] { return has_some_.load(); });
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return !running_ && (stopping_ || !queue_.empty()); });
    if (queue_.empty())
        return false;
    take(command);
    return true;
}

void Stream::release() {
    {
        const std::lock_guard lock(mutex_);
        running_ = false;
        has_some_ = stopping_ || !queue_.empty();
        if (!has_some_)
            return;
    }
    wake_.notify_all();
}

// The next command, if a thread that isn't the stream's may run it now.
bool Stream::take_if_ready(Command &command) {
    const std::lock_guard lock(mutex_);
    if (running_ || dropping_ || queue_.empty() || queue_.front().by != By::anyone ||
        !std::ranges::all_of(queue_.front().after, &Ticket::done))
        return false;
    take(command);
    return true;
}

void Stream::help(const Ticket &ticket) {
    const char here = 0;
    if (!roomy(&here))
        return;
    for (Command command; !ticket.done() && take_if_ready(command);) {
        execute(command);
        release();
    }
}

bool Stream::dropping() {
    const std::lock_guard lock(mutex_);
    return dropping_;
}

void Stream::execute(Command &command) {
    for (const auto &ticket : command.after)
        ticket->wait();
    if (!dropping())
        report(command.done->run(command.after, command.work));
    command.work = nullptr; // what it holds goes before anyone hears that it is done
    command.done->finish();
}

void Stream::run() {
    for (Command command; next(command);) {
        execute(command);
        release();
    }
}

void Stream::stop(bool finish) {
    std::thread thread;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        has_some_ = true;
        dropping_ |= !finish;
        if (dropping_) {
            for (Command &command : queue_)
                command.done->finish();
            queue_.clear();
        }
        thread = std::move(thread_);
    }
    wake_.notify_all();
    if (thread.joinable())
        thread.join();
}

} // namespace nw::hipsim
