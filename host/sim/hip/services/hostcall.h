// SPDX-License-Identifier: MIT
// The hostcall protocol of ROCm's device libraries 5.2 to 7.1: a wave pops a packet, writes 64
// lanes' arguments, pushes it on the ready stack and waits; the host answers in the packet's place.
#pragma once
#include <functional>

#include "base/types.h"
#include "sim/func/memory/memory.h"

namespace nw::hipsim {

// One packet's request.
struct HostcallRequest {
    u32 service;
    u64 lanes;       // that ask
    u64 (*slots)[8]; // [64 lanes]: arguments, then results in the first two
};

class Hostcall {
public:
    // At least as many packets as waves can live at once: a wave never finds the stack empty.
    Hostcall(sim::Memory &memory, u32 packets); // std::bad_alloc
    ~Hostcall();
    Hostcall(const Hostcall &) = delete;
    Hostcall &operator=(const Hostcall &) = delete;

    u64 address() const { return reinterpret_cast<u64>(buffer_); }
    u32 packets() const { return packets_; }
    // Empties the ready stack, oldest packet first. Any thread. False: its list of packets is
    // damaged.
    bool serve(const std::function<void(const HostcallRequest &)> &answer);

private:
    struct Header {
        u64 next;
        u64 active;
        u32 service;
        u32 control; // bit 0: waits for the host
    };
    struct Buffer {
        u64 headers;
        u64 payloads;
        u64 doorbell; // address of an hsa_signal_t's object
        u64 free_stack;
        u64 ready_stack; // index, and a tag above index_mask
        u64 index_mask;
        u64 reserved[2];
        struct {
            u64 kind;
            i64 value;
            u64 mailbox; // 0: no interrupt
            u64 event;
            u64 reserved[4];
        } signal;
    };
    using Payload = u64[64][8];

    sim::Memory &memory_;
    const u32 packets_;
    Buffer *buffer_ = nullptr;
    Header *headers_ = nullptr;
    Payload *payloads_ = nullptr;
};

} // namespace nw::hipsim
