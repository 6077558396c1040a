// SPDX-License-Identifier: MIT
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/reader.h"
#include "fuzz/targets.h"
#include "sim/func/machine.h"
#include "sim/isa/elf.h"

using namespace nw;
using namespace nw::sim;

namespace {

// The first bytes of the input.
struct Choice {
    u8 gfx = 0;
    u8 flags = 0;
    u8 block_x = 0, block_y = 0; // less one
    u8 grid_x = 0;               // less one
    u8 dynamic_lds = 0;          // in units of 256 bytes
};
enum : u8 { wave64 = 1, check_wait = 2, check_init = 4, cooperative = 8, own_descriptor = 16 };

constexpr u64 descriptor_bytes = 64, properties_at = 56;
constexpr u16 property_wave32 = 1 << 10;

// A code object with room for an input's code: shell.s.
struct Shell {
    std::string gfx;
    std::vector<std::byte> file;
    u64 descriptor = 0, code = 0, code_bytes = 0; // places in the file

    explicit Shell(const char *gfx) : gfx(gfx) {
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
};

const Shell &shell(u8 choice) {
    static const std::array shells{Shell("gfx1100"), Shell("gfx1151"), Shell("gfx1200"),
                                   Shell("gfx1201")};
    return shells[choice % shells.size()];
}

std::vector<std::byte> filled(const Shell &shell, const Choice &choice, fuzz::Reader &input) {
    std::vector<std::byte> file = shell.file;
    if (choice.flags & own_descriptor) {
        auto bytes = input.take(descriptor_bytes);
        std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<long>(shell.descriptor));
    } else if (choice.flags & wave64) {
        u16 properties;
        std::byte *at = &file[shell.descriptor + properties_at];
        std::memcpy(&properties, at, sizeof properties);
        properties &= static_cast<u16>(~property_wave32);
        std::memcpy(at, &properties, sizeof properties);
    }
    auto code = input.take(shell.code_bytes);
    std::copy(code.begin(), code.end(), file.begin() + static_cast<long>(shell.code));
    return file;
}

} // namespace

void nw::fuzz::launch(Input input) {
    Reader r(input);
    const auto choice = r.take<Choice>();
    const Shell &shell = ::shell(choice.gfx);
    try {
        auto program = Program::load(filled(shell, choice, r), shell.gfx);
        Memory memory;
        const std::array<void *, 2> arguments{memory.allocate(1024), memory.allocate(64)};
        std::memset(arguments[0], 0, 1024);
        std::memset(arguments[1], 0, 64);
        const Dispatch dispatch{.program = program.get(),
                                .kernel = program->find_kernel("shell"),
                                .grid = {choice.grid_x % 4u + 1},
                                .block = {choice.block_x + 1u, choice.block_y % 4u + 1},
                                .dynamic_lds = choice.dynamic_lds * 256u,
                                .kernarg = std::as_bytes(std::span(arguments)),
                                .cooperative = (choice.flags & cooperative) != 0};
        const RunConfig config{.threads = 1,
                               .max_wave_insts = 500,
                               .check_wait = (choice.flags & check_wait) != 0,
                               .check_init = (choice.flags & check_init) != 0};
        run(dispatch, memory, *find_device(shell.gfx), config);
    } catch (const BadImage &) {
    } catch (const Fault &) {
    }
}
