// SPDX-License-Identifier: MIT
// Forms of device code in HIP hosts: an ELF, a clang offload bundle with one ELF per gfx, a
// compressed bundle, and the wrapper that compiled programs register.
#pragma once
#include "sim/isa/image/byte_source.h"

namespace nw::hipsim {

// hipModuleLoadData's bare pointer: reads only what its own headers describe.
class PointerSource : public sim::ByteSource {
public:
    explicit PointerSource(const void *image) : begin_(reinterpret_cast<u64>(image)) {}
    bool read(void *to, u64 offset, u64 bytes) const override;
    std::optional<u64> size() const override { return std::nullopt; }

private:
    u64 begin_;
};

// The ELF for `gfx`. Fails with hipErrorInvalidImage, or with hipErrorNoBinaryForGpu if the image
// is for other targets, which the text names.
std::vector<std::byte> code_object(const sim::ByteSource &image, std::string_view gfx);

} // namespace nw::hipsim
