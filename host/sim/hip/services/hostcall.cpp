// SPDX-License-Identifier: MIT
#include "sim/hip/services/hostcall.h"

#include <algorithm>
#include <bit>
#include <new>
#include <vector>

namespace nw::hipsim {

Hostcall::Hostcall(sim::Memory &memory, u32 packets)
    : memory_(memory), packets_(std::max(packets, 2u)) { // the stack's index 0 alone means empty
    const u64 headers = sizeof(Buffer),
              payloads = round_up<u64>(headers + sizeof(Header) * packets_, 64);
    auto *const at = static_cast<std::byte *>(
        memory.allocate(payloads + sizeof(Payload) * packets_, "the hostcall buffer"));
    if (!at)
        throw std::bad_alloc();
    headers_ = new (at + headers) Header[packets_]();
    payloads_ = reinterpret_cast<Payload *>(at + payloads); // touched as they are used
    buffer_ = new (at) Buffer();
    buffer_->headers = reinterpret_cast<u64>(headers_);
    buffer_->payloads = reinterpret_cast<u64>(payloads_);
    buffer_->doorbell = reinterpret_cast<u64>(&buffer_->signal);
    buffer_->signal.kind = 1; // a user signal
    buffer_->signal.value = 1;
    buffer_->index_mask = std::bit_ceil(packets_) - 1;
    headers_[1].next = buffer_->index_mask + 1; // index 0 with a tag
    for (u32 n = 2; n < packets_; ++n)
        headers_[n].next = n - 1;
    buffer_->free_stack = packets_ - 1;
}

Hostcall::~Hostcall() { memory_.release(buffer_); }

bool Hostcall::serve(const std::function<void(const HostcallRequest &)> &answer) {
    u64 *const ready = &buffer_->ready_stack;
    if (!__atomic_load_n(ready, __ATOMIC_RELAXED))
        return true;
    std::vector<u64> order; // of indices, the youngest first
    for (u64 at = __atomic_exchange_n(ready, 0, __ATOMIC_ACQ_REL); at;
         at = headers_[order.back()].next) {
        order.push_back(at & (std::bit_ceil(packets_) - 1));
        if (order.back() >= packets_ || order.size() > packets_)
            return false;
    }
    for (auto index = order.rbegin(); index != order.rend(); ++index) {
        Header &header = headers_[*index];
        answer({header.service, header.active, payloads_[*index]});
        __atomic_fetch_and(&header.control, ~1u, __ATOMIC_RELEASE);
    }
    return true;
}

} // namespace nw::hipsim
