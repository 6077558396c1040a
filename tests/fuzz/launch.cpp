// SPDX-License-Identifier: MIT
#include <array>
#include <cstring>

#include "fuzz/reader.h"
#include "fuzz/shell.h"
#include "fuzz/targets.h"
#include "sim/check/checks.h"
#include "sim/func/machine.h"

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
// Beside those of shell.h.
enum : u8 { check_wait = 2, check_init = 4, cooperative = 8 };

} // namespace

void nw::fuzz::launch(Input input) {
    Reader r(input);
    const auto choice = r.take<Choice>();
    const fuzz::Shell &shell = fuzz::shell(choice.gfx);
    try {
        auto program = Program::load(shell.filled(choice.flags, r), shell.gfx);
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
                               .checker = checker({.wait = (choice.flags & check_wait) != 0,
                                                   .init = (choice.flags & check_init) != 0})};
        run(dispatch, memory, *find_device(shell.gfx), config);
    } catch (const BadImage &) {
    } catch (const Fault &) {
    }
}
