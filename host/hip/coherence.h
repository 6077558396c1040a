// SPDX-License-Identifier: MIT
// Whether the host and kernels see each other's writes to memory that both map.
// For nw doctor and for plug-ins of engines: it needs no other header.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nw::hip {

struct Coherence {
    bool ran = true;       // else a call failed
    bool to_device = true; // kernels read what the host wrote
    bool to_host = true;   // the host reads what kernels wrote
    unsigned round = 0;    // the first that failed
    explicit operator bool() const { return ran && to_device && to_host; }
};

// `Access`: bool copy(const void *from, void *to): a kernel copies the words, and the host waits
// for it; bool read(uint16_t *to): the host gets the device's own words, at `device()`. In each
// round the host writes half of each line that a kernel wrote before, and a kernel reads all of it:
// to memory of the device, and to other memory that both map.
template <class Access>
Coherence look_for_old_lines(const Access &access, volatile std::uint16_t *one,
                             volatile std::uint16_t *other, std::size_t words, unsigned rounds) {
    constexpr std::size_t half_line = 32; // words of 16 bits in 64 bytes
    Coherence out;
    std::vector<std::uint16_t> want(words), seen(words);
    std::uint32_t next = 1;
    for (std::size_t i = 0; i < words; ++i)
        one[i] = want[i] = static_cast<std::uint16_t>(i);
    for (out.round = 0; out.round < rounds; ++out.round) {
        for (std::size_t i = 0; i < words; ++i)
            if (i / half_line % 2 == out.round / 2 % 2) {
                next = next * 1664525u + 1013904223u;
                one[i] = want[i] = static_cast<std::uint16_t>(next >> 16);
            }
        const void *const from = const_cast<const std::uint16_t *>(one);
        void *const to = const_cast<std::uint16_t *>(other);
        out.ran =
            access.copy(from, access.device()) && access.copy(from, to) && access.read(seen.data());
        if (!out.ran)
            return out;
        out.to_device = seen == want;
        for (std::size_t i = 0; i < words; ++i)
            out.to_host = out.to_host && other[i] == seen[i];
        if (!out)
            return out;
        volatile std::uint16_t *const swapped = one;
        one = other;
        other = swapped;
    }
    return out;
}

} // namespace nw::hip
