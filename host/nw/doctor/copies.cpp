// SPDX-License-Identifier: MIT
// Copies of few bytes to the device: HIP's own, from pageable memory, and nibblewave's.
#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <thread>

#include "base/rng.h"
#include "hip/library.h"
#include "nw/doctor/doctor.h"

namespace nw::cli {

namespace {

constexpr u64 place = 64, batch = 1024, threads = 4; // bytes from copy to copy

u64 bytes_of(u64 copy) { return 4 + copy % 16 * 4; } // 4 to 64

struct Lost {
    std::atomic<u64> copies{0};
    std::atomic<u64> of_bytes{0}; // of the last one
};

// A thread's copies, on a stream of its own. To show that HIP loses some, they are HIP's own.
void copy_batches(const hip::Device &device, u64 copies, u64 seed, Lost &lost) {
    const auto &library = *device.library();
    const hip::Stream stream = device.stream();
    hip::Buffer there = device.allocate(batch * place);
    std::vector<u8> here(batch * place), back(here.size());
    Rng rng(seed);
    for (u64 done = 0; done < copies; done += batch) {
        for (u8 &byte : here)
            byte = static_cast<u8>(1 + rng.next() % 255); // never 0
        there.fill(0);
        const u64 now = std::min(batch, copies - done);
        for (u64 i = 0; i < now; ++i)
            library.check(library.on_device().hipMemcpyAsync(
                              static_cast<u8 *>(there.data()) + i * place, &here[i * place],
                              bytes_of(i), hipMemcpyHostToDevice,
                              static_cast<hipStream_t>(stream.handle())),
                          "hipMemcpyAsync");
        stream.synchronize();
        there.download(back.data(), back.size());
        for (u64 i = 0; i < now; ++i)
            if (!std::equal(&here[i * place], &here[i * place] + bytes_of(i), &back[i * place])) {
                ++lost.copies;
                lost.of_bytes = bytes_of(i);
            }
    }
}

void try_hips(Examination &e) {
    Lost lost;
    std::exception_ptr failure;
    std::mutex mutex;
    std::vector<std::thread> all;
    for (u64 t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            try {
                copy_batches(e.device, e.copies / threads, t + 1, lost);
            } catch (...) {
                const std::lock_guard lock(mutex);
                failure = std::current_exception();
            }
        });
    for (std::thread &thread : all)
        thread.join();
    if (failure)
        std::rethrow_exception(failure);
    const std::string what = fmt::format("{} copies of 4 to 64 bytes from pageable memory",
                                         e.copies / threads * threads);
    e.judge("hip_copies", lost.copies == 0,
            lost.copies == 0
                ? what + ": all arrived"
                : fmt::format("{}: {} arrived wrong, the last of {} bytes, without an error; "
                              "programs that copy so get wrong results (A-031)",
                              what, lost.copies.load(), lost.of_bytes.load()));
}

void try_own(Examination &e) {
    const u64 copies = std::min<u64>(e.copies, 4096);
    hip::Buffer there = e.device.allocate(copies * place);
    there.fill(0);
    std::vector<u8> here(copies * place), back(here.size());
    u64 wrong = 0;
    for (u64 i = 0; i < here.size(); ++i)
        here[i] = static_cast<u8>(1 + i % 251);
    for (u64 i = 0; i < copies; ++i)
        there.upload(&here[i * place], bytes_of(i), i * place);
    there.download(back.data(), back.size());
    for (u64 i = 0; i < copies; ++i)
        wrong += !std::equal(&here[i * place], &here[i * place] + bytes_of(i), &back[i * place]);
    e.judge("copies", wrong == 0,
            fmt::format("{} copies of 4 to 64 bytes as nibblewave makes them, through pinned "
                        "memory: {}",
                        copies, wrong ? fmt::format("{} arrived wrong", wrong) : "all arrived"));
}

} // namespace

void try_copies(Examination &e) {
    try_hips(e);
    try_own(e);
}

} // namespace nw::cli
