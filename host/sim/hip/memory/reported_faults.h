// SPDX-License-Identifier: MIT
// Memory faults that are reported of drivers, firmware and caches of cards, if HIPSIM_CHOICES
// selects them (sim/func/choices.inc): in the worst form that the reports and documents allow.
#pragma once
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "sim/func/choices.h"
#include "sim/hip/memory/blocks.h"

namespace nw::hipsim {

class Device;

// One device's.
class ReportedFaults {
public:
    explicit ReportedFaults(const Device &device) : device_(device) {}

    const sim::Choices &choices() const;

    // Memory that is mapped now: the next kernel does not have it.
    void mapped(u64 begin, u64 bytes);
    // A copy from pageable memory: to be made of HIP's staging memory, slot after slot.
    bool wants_staged(u64 bytes) const;
    void stage(void *to, std::span<const std::byte> from);
    // A copy to the device will be made. The host knows that all are done.
    bool delays_uploads() const;
    void will_upload(void *to, u64 bytes);
    void synchronized();

    // Shows a kernel's view of memory while it runs; then the host's view again.
    class KernelView {
    public:
        explicit KernelView(ReportedFaults &);
        ~KernelView();
        KernelView(const KernelView &) = delete;

    private:
        struct Swapped {
            u64 begin;
            std::vector<std::byte> host, before; // the host's bytes; the kernel's at its begin
            u64 lines;                           // id of the block with lines in L2; 0: none
        };
        void show_old_lines();
        void hide_new_mappings();
        void keep_lines(const Swapped &);

        ReportedFaults &faults_;
        std::unique_lock<std::mutex> alone_; // host memory is one for all devices
        std::vector<Swapped> swapped_;
    };
    // The same for a graph: copies that were queued before it have not arrived.
    class GraphView {
    public:
        explicit GraphView(ReportedFaults &);
        ~GraphView();
        GraphView(const GraphView &) = delete;

    private:
        ReportedFaults &faults_;
        struct Upload {
            u64 to;
            std::vector<std::byte> now, old;
        };
        std::vector<Upload> uploads_;
    };

private:
    bool shows_old_lines() const;

    const Device &device_;
    std::mutex mutex_; // guards what follows
    struct Bytes {
        u64 begin;
        std::vector<std::byte> bytes;
    };
    std::map<u64, std::vector<std::byte>> lines_; // L2's, by the id of a block of host memory
    std::vector<std::pair<u64, u64>> fresh_;      // begin, bytes
    std::vector<Bytes> late_;                     // what copies have yet to bring
    std::vector<Bytes> uploads_;                  // what was there before them, oldest first
    u64 slots_ = 0;                               // of staging memory that were used
    unsigned graphs_ = 0;                         // that run now
};

} // namespace nw::hipsim
