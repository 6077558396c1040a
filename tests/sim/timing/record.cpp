// SPDX-License-Identifier: MIT
// Recording waves: an endless one ends in an error, not in all of the machine's memory.
#include <doctest/doctest.h>

#include "sim/assemble.h"
#include "sim/isa/code.h"
#include "sim/timing/core/op_facts.h"
#include "sim/timing/trace.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

// The fault that a launch recorded within `limit` bytes ends with; none: how many bytes it has.
struct Recorded {
    std::string fault;
    Fault::Kind kind{};
    u64 bytes = 0;
};

Recorded record(const std::string &body, u64 limit) {
    KernelText text;
    text.body = body;
    const auto program = load(text);
    const Code &code = program->code(32);
    const timing::ProgramFacts facts(code, text.gfx, timing::costs_for(text.gfx));
    timing::Recorder recorder(facts.payloads, false, 1, 1, limit);
    RunConfig config;
    config.observer = &recorder;
    config.max_wave_insts = 1'000'000;
    Memory memory;
    void *buffer = memory.allocate(64);
    u64 arguments[] = {reinterpret_cast<u64>(buffer), 0};
    Dispatch d;
    d.program = program.get();
    d.kernel = program->find_kernel("test");
    d.grid = {1, 1, 1};
    d.block = {32, 1, 1};
    d.kernarg = std::as_bytes(std::span(arguments));
    Recorded out;
    try {
        sim::run(d, memory, *find_device(text.gfx), config);
        out.bytes = recorder.trace(0, 0).bytes();
    } catch (const Fault &f) {
        out.fault = f.what();
        out.kind = f.kind;
    }
    memory.release(buffer);
    return out;
}

} // namespace

TEST_CASE("a record that outgrows its limit is a fault that says what to do") {
    const Recorded r = record("L_again:\n s_add_u32 s6, s6, 1\n s_branch L_again\n", 1 << 20);
    CHECK(r.kind == Fault::Kind::out_of_memory);
    for (const char *word : {"takes more than 1 MiB", "endless", "HIPSIM_TIMING=off", "test"})
        CHECK(r.fault.find(word) != std::string::npos);
}

TEST_CASE("what fits is recorded as it was executed") {
    const std::string loop = " s_movk_i32 s6, 1000\nL_again:\n s_add_u32 s6, s6, -1\n"
                             " s_cmp_lg_u32 s6, 0\n s_cbranch_scc1 L_again\n";
    const Recorded r = record(loop, 1 << 20);
    CHECK(r.fault == "");
    CHECK(r.bytes >= 999 * 8); // a run of instructions for each jump back
    CHECK(record(loop, r.bytes / 2).kind == Fault::Kind::out_of_memory);
}
