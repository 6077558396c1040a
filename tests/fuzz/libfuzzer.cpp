// SPDX-License-Identifier: MIT
// libFuzzer's entry; NW_TARGET is the function of targets.h.
#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    nw::fuzz::NW_TARGET(std::as_bytes(std::span(data, size)));
    return 0;
}
