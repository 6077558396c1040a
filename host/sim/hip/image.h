// SPDX-License-Identifier: MIT
// The forms in which HIP hosts hand over device code: an ELF, a clang offload bundle with one ELF
// per gfx, the same compressed, and the wrapper that compiled programs register.
#pragma once
#include "sim/isa/byte_source.h"

namespace nw::hipsim {

// hipModuleLoadData's bare pointer, of which only what its own headers announce is read.
class PointerSource : public sim::ByteSource {
public:
    explicit PointerSource(const void *image) : begin_(reinterpret_cast<u64>(image)) {}
    bool read(void *to, u64 offset, u64 bytes) const override;
    std::optional<u64> size() const override { return std::nullopt; }

private:
    u64 begin_;
};

// The ELF for `gfx`. Fails with hipErrorInvalidImage, or with hipErrorNoBinaryForGpu when the image
// is for other targets; the text says which.
std::vector<std::byte> code_object(const sim::ByteSource &image, std::string_view gfx);

} // namespace nw::hipsim
