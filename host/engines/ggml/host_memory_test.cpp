// SPDX-License-Identifier: MIT
// The self-test of memory that the host and the device map: a kernel of libnibblewave that
// copies, and the host, write and read the same lines in turn.
#include "hip/coherence.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <numeric>

#include "engines/ggml/device.h"
#include "engines/ggml/hip_calls.h"

namespace nw::engine {

namespace {

constexpr uint32_t row = 1024, rows = 32; // words of 16 bits
constexpr std::size_t words = std::size_t{row} * rows, bytes = 2 * words;
constexpr unsigned rounds = 200, file_rounds = 50;

// Memory for the kernel's own use; freed with this object.
struct Access {
    explicit Access(Device &device) : owner(device) {
        std::vector<uint32_t> order(row);
        std::iota(order.begin(), order.end(), 0u);
        ready = hip().hipMalloc(&words_, bytes) == hipSuccess &&
                hip().hipMalloc(&order_, 4 * row) == hipSuccess &&
                upload(device, order_, order.data(), 4 * row);
    }
    ~Access() {
        static_cast<void>(hip().hipFree(words_));
        static_cast<void>(hip().hipFree(order_));
    }
    Access(const Access &) = delete;

    void *device() const { return words_; }
    bool copy(const void *from, void *to) const {
        nw_permutation copy = NW_PERMUTATION_INIT;
        copy.m = rows, copy.k = row;
        copy.a = from, copy.perm = order_, copy.y = to;
        return nw_permute(owner.context.get(), &copy, nullptr) == NW_OK &&
               hip().hipStreamSynchronize(nullptr) == hipSuccess;
    }
    bool read(uint16_t *to) const {
        return hip().hipMemcpy(to, words_, bytes, hipMemcpyDeviceToHost) == hipSuccess;
    }

    Device &owner;
    bool ready = false;

private:
    void *words_ = nullptr, *order_ = nullptr;
};

struct Shared { // as buffers are allocated
    Shared() { ready = hip().hipHostMalloc(&data, bytes, host_memory_flags) == hipSuccess; }
    ~Shared() { static_cast<void>(hip().hipHostFree(data)); }
    Shared(const Shared &) = delete;
    void *data = nullptr;
    bool ready;
};

std::string old_lines(const Access &access) {
    const Shared one, other;
    if (!one.ready || !other.ready)
        return "HIP gives no memory for it";
    const hip::Coherence found =
        hip::look_for_old_lines(access, static_cast<uint16_t *>(one.data),
                                static_cast<uint16_t *>(other.data), words, rounds);
    if (found)
        return {};
    const std::string round = " in round " + std::to_string(found.round);
    if (!found.ran)
        return "a call failed" + round + ": " + nw_last_error();
    return (found.to_device ? "the host read" : "a kernel read") + std::string(" old data") + round;
}

// Pages of a file that another descriptor writes, as a model's are written by who loads it.
std::string old_pages(const Access &access) {
    std::FILE *const file = std::tmpfile();
    if (!file)
        return "there is no temporary file";
    void *const pages = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fileno(file), 0);
    std::string why;
    int error = hipSuccess;
    if (ftruncate(fileno(file), bytes) != 0 || pages == MAP_FAILED ||
        !map_pages(pages, bytes, &error))
        why = "HIP does not map a file's pages";
    std::vector<uint16_t> want(words), seen(words);
    for (unsigned round = 0; why.empty() && round < file_rounds; round++) {
        for (std::size_t i = 0; i < words; i++)
            want[i] = static_cast<uint16_t>(i * (2 * round + 1) + round);
        if (pwrite(fileno(file), want.data(), bytes, 0) != static_cast<ssize_t>(bytes) ||
            !access.copy(pages, access.device()) || !access.read(seen.data()))
            why = "a call failed";
        else if (seen != want)
            why = "a kernel read old data of a file in round " + std::to_string(round);
    }
    if (pages != MAP_FAILED) {
        static_cast<void>(hip().hipHostUnregister(pages));
        munmap(pages, bytes);
    }
    std::fclose(file);
    return why;
}

} // namespace

std::string host_memory_fault(Device &device) {
    const Access access(device);
    if (!access.ready)
        return "HIP gives no memory for it";
    return old_lines(access);
}

std::string file_pages_fault(Device &device) {
    const Access access(device);
    return access.ready ? old_pages(access) : "HIP gives no memory for it";
}

} // namespace nw::engine
