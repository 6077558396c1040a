// SPDX-License-Identifier: MIT
#include <sys/mman.h>

#include "base/types.h"
#include "fuzz/targets.h"
#include "sim/hip/error.h"
#include "sim/hip/module/image.h"

using namespace nw;
using namespace nw::hipsim;

namespace {

// Bytes that end where the address space has a hole: hipModuleLoadData gets a pointer and no size,
// and reading past the image must be an error, not a crash.
class AtTheEdge {
public:
    explicit AtTheEdge(fuzz::Input bytes) {
        const u64 body = round_up<u64>(bytes.size(), page);
        size_ = body + page;
        map_ = static_cast<std::byte *>(
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (map_ == MAP_FAILED)
            throw std::bad_alloc();
        mprotect(map_ + body, page, PROT_NONE);
        begin_ = map_ + body - bytes.size();
        std::copy(bytes.begin(), bytes.end(), begin_);
    }
    ~AtTheEdge() { munmap(map_, size_); }
    AtTheEdge(const AtTheEdge &) = delete;
    const std::byte *begin() const { return begin_; }

private:
    static constexpr u64 page = 4096;
    std::byte *map_, *begin_;
    u64 size_;
};

struct Wrapper { // what __hipRegisterFatBinary is handed
    u32 magic = 0x48495046, version = 1;
    const void *binary, *unused = nullptr;
};

void extract(const sim::ByteSource &source) {
    for (const char *gfx : {"gfx1100", "gfx1151", "gfx1200"}) {
        try {
            code_object(source, gfx);
        } catch (const Failure &) {
        }
    }
}

} // namespace

void nw::fuzz::bundle(Input image) {
    extract(sim::SpanSource(image));
    const AtTheEdge memory(image);
    extract(PointerSource(memory.begin()));
    const Wrapper wrapper{.binary = memory.begin()};
    extract(PointerSource(&wrapper));
}
