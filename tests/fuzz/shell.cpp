// SPDX-License-Identifier: MIT
#include "fuzz/shell.h"

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "sim/isa/image/elf.h"

namespace nw::fuzz {

using namespace sim;

constexpr u64 descriptor_bytes = 64, properties_at = 56;
constexpr u16 property_wave32 = 1 << 10;

Shell::Shell(const char *gfx) : gfx(gfx) {
    const std::string path = NW_BUILD_DIR "/tests/fuzz/shell_" + this->gfx + ".hsaco";
    std::ifstream in(path, std::ios::binary);
    std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
    if (bytes.empty())
        throw std::runtime_error("no " + path + ": build the target fuzz_shells");
    file.resize(bytes.size());
    std::memcpy(file.data(), bytes.data(), bytes.size());
    const Elf elf(file);
    for (const Symbol &s : elf.symbols())
        if (s.name == "shell.kd") {
            const Section &at = elf.sections()[s.section];
            descriptor = at.offset + s.address - at.address;
        }
    for (const Section &s : elf.sections())
        if (s.name == ".text")
            code = s.offset, code_bytes = s.size;
}

std::vector<std::byte> Shell::filled(u8 flags, Reader &input) const {
    std::vector<std::byte> out = file;
    if (flags & own_descriptor) {
        auto bytes = input.take(descriptor_bytes);
        std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<long>(descriptor));
    } else if (flags & wave64) {
        u16 properties;
        std::byte *at = &out[descriptor + properties_at];
        std::memcpy(&properties, at, sizeof properties);
        properties &= static_cast<u16>(~property_wave32);
        std::memcpy(at, &properties, sizeof properties);
    }
    auto bytes = input.take(code_bytes);
    std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<long>(code));
    return out;
}

const Shell &shell(u8 choice) {
    static const std::array shells{Shell("gfx1100"), Shell("gfx1151"), Shell("gfx1200"),
                                   Shell("gfx1201")};
    return shells[choice % shells.size()];
}

} // namespace nw::fuzz
