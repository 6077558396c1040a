// SPDX-License-Identifier: MIT
#include "sim/hip/memory/reported_faults.h"

#include <algorithm>
#include <cstring>

#include "sim/hip/copy/host_copy.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

namespace {

// HIP's staging: slots of the cache line that gfx11's driver reports, in lines of L2.
// Larger copies are made from the caller's own pages.
constexpr u64 slot = 64, slots_of_line = 2, most_staged = u64{1} << 20;
constexpr u64 most_remembered = u64{64} << 20; // bytes of an upload

void *at(u64 address) { return reinterpret_cast<void *>(address); }

std::vector<std::byte> bytes_at(u64 begin, u64 bytes) {
    std::vector<std::byte> out(bytes);
    if (!copy_from_caller(out.data(), at(begin), bytes))
        out.clear();
    return out;
}

void put(u64 begin, std::span<const std::byte> bytes) {
    static_cast<void>(copy_to_caller(at(begin), bytes.data(), bytes.size()));
}

// For kernels: what hipFreeAsync has taken from the host is there until the stream reaches that.
bool is_live(const Device &device, u64 begin, u64 bytes) {
    const sim::Allocation found = device.memory.find(begin);
    return found.size > 0 && bytes <= found.begin + found.size - begin;
}

// Whether a driver maps the memory so that L2 may keep it. The simulated GPU keeps no lines of
// pages that it could not write.
bool may_be_in_l2(const Block &block) {
    constexpr unsigned read_only = 0x10; // hipHostRegisterReadOnly, since HIP 5.3
    if (block.kind != Block::Kind::host)
        return false;
    return block.borrowed ? (block.flags & hipExtHostRegisterCoarseGrained) != 0 &&
                                (block.flags & read_only) == 0
                          : (block.flags & hipHostMallocNonCoherent) != 0;
}

std::mutex &host_memory_mutex() {
    static auto &made = *new std::mutex;
    return made;
}

} // namespace

const sim::Choices &ReportedFaults::choices() const {
    return device_.config.choices ? *device_.config.choices : sim::choices();
}

// A dispatch of gfx12 acquires at system scope.
bool ReportedFaults::shows_old_lines() const {
    return choices().host_lines == sim::choice::host_lines::stale &&
           device_.facts.target->generation != Generation::gfx12;
}

void ReportedFaults::mapped(u64 begin, u64 bytes) {
    if (choices().mappings == sim::choice::mappings::at_once)
        return;
    const std::lock_guard lock(mutex_);
    fresh_.emplace_back(begin, bytes);
}

// ---- copies

bool ReportedFaults::wants_staged(u64 bytes) const {
    return choices().staged_copies != sim::choice::staged_copies::whole && bytes <= most_staged &&
           device_.facts.target->generation == Generation::gfx11;
}

// The first of two copies in a line brings the whole line into L2, where the second one reads what
// was there: zeros.
void ReportedFaults::stage(void *to, std::span<const std::byte> from) {
    const std::lock_guard lock(mutex_);
    const bool shares_line = slots_ % slots_of_line != 0;
    slots_ += ceil_div<u64>(from.size(), slot);
    const u64 torn = shares_line ? std::min<u64>(from.size(), slot) : 0;
    if (torn && choices().staged_copies == sim::choice::staged_copies::late)
        late_.push_back({reinterpret_cast<u64>(to), {from.begin(), from.begin() + torn}});
    else
        std::memset(to, 0, torn);
    std::memcpy(static_cast<std::byte *>(to) + torn, from.data() + torn, from.size() - torn);
}

bool ReportedFaults::delays_uploads() const {
    return choices().graph_copies == sim::choice::graph_copies::after;
}

// Copies in a graph are in order with its kernels.
void ReportedFaults::will_upload(void *to, u64 bytes) {
    const u64 begin = reinterpret_cast<u64>(to);
    const std::lock_guard lock(mutex_);
    if (bytes > most_remembered || graphs_ > 0)
        return;
    uploads_.push_back({begin, bytes_at(begin, bytes)});
}

void ReportedFaults::synchronized() {
    const std::lock_guard lock(mutex_);
    uploads_.clear();
}

// ---- what a kernel finds

ReportedFaults::KernelView::KernelView(ReportedFaults &faults) : faults_(faults) {
    if (faults_.shows_old_lines()) {
        alone_ = std::unique_lock(host_memory_mutex());
        show_old_lines();
    }
    hide_new_mappings();
}

// A line stays from the first kernel on: nothing that a program does is known to empty L2.
void ReportedFaults::KernelView::show_old_lines() {
    for (const Block &block : runtime().blocks.of_host()) {
        if (!may_be_in_l2(block))
            continue;
        std::vector<std::byte> host = bytes_at(block.begin, block.size);
        if (host.empty())
            continue;
        const auto [lines, is_new] = faults_.lines_.try_emplace(block.id, host);
        if (!is_new)
            put(block.begin, lines->second);
        swapped_.push_back({block.begin, std::move(host), lines->second, block.id});
    }
}

void ReportedFaults::KernelView::hide_new_mappings() {
    const std::lock_guard lock(faults_.mutex_);
    for (const auto &[begin, bytes] : faults_.fresh_) {
        if (!is_live(faults_.device_, begin, bytes))
            continue;
        const std::vector<std::byte> zeros(bytes);
        swapped_.push_back({begin, bytes_at(begin, bytes), zeros, 0});
        put(begin, zeros);
    }
    faults_.fresh_.clear();
}

// Stores the kernel's writes to memory when it ends.
void ReportedFaults::KernelView::keep_lines(const Swapped &swapped) {
    std::vector<std::byte> now = bytes_at(swapped.begin, swapped.host.size());
    std::vector<std::byte> host = swapped.host;
    for (std::size_t i = 0; i < now.size(); ++i)
        if (now[i] != swapped.before[i])
            host[i] = now[i];
    put(swapped.begin, host);
    faults_.lines_[swapped.lines] = std::move(now);
}

ReportedFaults::KernelView::~KernelView() {
    for (const Swapped &swapped : swapped_) {
        if (swapped.lines)
            keep_lines(swapped);
        else
            put(swapped.begin, swapped.host);
    }
    const std::lock_guard lock(faults_.mutex_);
    for (const auto &[begin, bytes] : faults_.late_)
        if (is_live(faults_.device_, begin, bytes.size()))
            put(begin, bytes);
    faults_.late_.clear();
}

ReportedFaults::GraphView::GraphView(ReportedFaults &faults) : faults_(faults) {
    const std::lock_guard lock(faults_.mutex_);
    ++faults_.graphs_;
    for (auto &[begin, bytes] : faults_.uploads_)
        if (!bytes.empty() && is_live(faults_.device_, begin, bytes.size()))
            uploads_.push_back({begin, bytes_at(begin, bytes.size()), std::move(bytes)});
    faults_.uploads_.clear();
    for (auto upload = uploads_.rbegin(); upload != uploads_.rend(); ++upload)
        put(upload->to, upload->old);
}

// Unless the graph has written there.
ReportedFaults::GraphView::~GraphView() {
    for (const Upload &upload : uploads_)
        if (bytes_at(upload.to, upload.old.size()) == upload.old)
            put(upload.to, upload.now);
    const std::lock_guard lock(faults_.mutex_);
    --faults_.graphs_;
}

} // namespace nw::hipsim
