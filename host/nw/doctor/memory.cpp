// SPDX-License-Identifier: MIT
// Memory that host and kernels both map, and memory of pools right after it was given
//
#include "hip/coherence.h"

#include <cstdlib>
#include <fmt/format.h>

#include "hip/library.h"
#include "nw/doctor/doctor.h"

namespace nw::cli {

namespace {

constexpr u64 words = 32 * row_words, block = 2 * words; // block: in bytes

struct Access {
    Examination &e;
    const hip::Buffer &own;
    void *device() const { return own.data(); }
    bool copy(const void *from, void *to) const {
        e.copy_by_kernel(from, to, words);
        e.device.synchronize();
        return true;
    }
    bool read(u16 *to) const {
        own.download(to, block);
        return true;
    }
};

void judge(Examination &e, const char *what, void *one, void *other) {
    const hip::Buffer own = e.device.allocate(block);
    const hip::Coherence found = hip::look_for_old_lines(
        Access{e, own}, static_cast<u16 *>(one), static_cast<u16 *>(other), words, e.rounds);
    const std::string text =
        found ? fmt::format("{} rounds of host and kernel on the same lines agree", e.rounds)
              : fmt::format("{} read old data in round {}; nibblewave's default is memory of the "
                            "device, so do not set NIBBLEWAVE_GGML_MEMORY=host (A-024)",
                            found.to_device ? "the host" : "a kernel", found.round);
    e.judge("host_memory", bool(found), fmt::format("{}: {}", what, text));
}

void try_allocated(Examination &e, const char *what, unsigned flags) {
    const auto &library = *e.device.library();
    void *memory = nullptr;
    library.check(library.on_device().hipHostMalloc(&memory, 2 * block, flags), "hipHostMalloc");
    judge(e, what, memory, static_cast<u8 *>(memory) + block);
    library.check(library.on_device().hipHostFree(memory), "hipHostFree");
}

void try_registered(Examination &e) {
    const auto &library = *e.device.library();
    constexpr std::size_t page = 4096;
    const std::unique_ptr<void, void (*)(void *)> pages(std::aligned_alloc(page, 2 * block),
                                                        std::free);
    library.check(library.on_device().hipHostRegister(pages.get(), 2 * block,
                                                      hipHostRegisterMapped |
                                                          hipExtHostRegisterCoarseGrained),
                  "hipHostRegister");
    judge(e, "registered pages, not coherent", pages.get(), static_cast<u8 *>(pages.get()) + block);
    library.check(library.on_device().hipHostUnregister(pages.get()), "hipHostUnregister");
}

} // namespace

void try_host_memory(Examination &e) {
    try_allocated(e, "hipHostMalloc, coherent", hipHostMallocMapped | hipHostMallocCoherent);
    try_allocated(e, "hipHostMalloc, not coherent", hipHostMallocMapped | hipHostMallocNonCoherent);
    try_registered(e);
}

void try_mappings(Examination &e) {
    const auto &library = *e.device.library();
    const hip::OptionalEntryPoints &call = library.loaded->optional;
    if (!call.hipMallocAsync || !call.hipFreeAsync)
        return e.add("pools", State::warn, "this HIP has no hipMallocAsync");
    std::vector<u16> want(words), got(words);
    for (u64 i = 0; i < words; ++i)
        want[i] = static_cast<u16>(i * 3 + 1);
    hip::Buffer from = e.device.allocate(block), out = e.device.allocate(block);
    from.upload(want.data(), block);
    u32 wrong = 0;
    for (u32 round = 0; round < e.rounds; ++round) {
        out.fill(0);
        void *memory = nullptr;
        static_cast<void>(library.on_device());
        library.check(call.hipMallocAsync(&memory, block, nullptr), "hipMallocAsync");
        e.copy_by_kernel(from.data(), memory, words);
        e.copy_by_kernel(memory, out.data(), words);
        library.check(call.hipFreeAsync(memory, nullptr), "hipFreeAsync");
        out.download(got.data(), block);
        e.device.synchronize();
        wrong += got != want;
    }
    e.judge("pools", wrong == 0,
            wrong == 0 ? fmt::format("memory of hipMallocAsync is there for the next kernel, {} "
                                     "times",
                                     e.rounds)
                       : fmt::format("memory of hipMallocAsync was not there for the next kernel, "
                                     "{} of {} times: results in a framework's pool may be lost "
                                     "(A-029)",
                                     wrong, e.rounds));
}

} // namespace nw::cli
