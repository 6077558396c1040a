// SPDX-License-Identifier: MIT
// The kernels that measure by the shader's clock, and the streams. Measured values are not judged
// here: the tests check that a clock is read in the right places, that longer code takes longer,
// and that results equal plain C++'s. Without timing the simulated clock counts the wave's
// instructions, so each step must take one cycle per instruction.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/targets.h"
#include "check/check.h"

using namespace nw;
using check::Region, check::Test;

namespace {

constexpr u32 untouched = 0x7fc0dead;
constexpr u32 record = 32; // dwords, one to a pass

class Arguments {
public:
    explicit Arguments(const Kernel &kernel) : kernel_(kernel), bytes_(kernel.kernarg_bytes()) {}
    template <class T> Arguments &set(std::string_view name, T value) {
        for (const KernelArg &arg : kernel_.args())
            if (arg.name == name)
                std::memcpy(bytes_.data() + arg.offset, &value, sizeof value);
        return *this;
    }
    Arguments &set(std::string_view name, const Region &region) { return set(name, region.data()); }
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    const Kernel &kernel_;
    std::vector<std::byte> bytes_;
};

void launch(Test &t, const Kernel &kernel, u32 groups, const Arguments &arguments) {
    t.modules.device().launch(t.modules.function(kernel), groups, kernel.block, 0,
                              arguments.bytes());
    t.modules.device().synchronize();
    ++t.launches;
}

Region blank(Test &t, u64 count) { return t.region<u32>(std::vector<u32>(count, untouched)); }

u32 word_count(std::string_view text) {
    u32 count = 0;
    for (u64 i = 0; i < text.size(); ++i)
        count += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    return count;
}

std::vector<u32> counts(const Kernel &kernel) {
    const u32 few = kernel.number("short"), many = kernel.number("long");
    return few < many ? std::vector<u32>{0, few, many} : std::vector<u32>{0, few};
}

void fail(Test &t, const std::string &text, std::source_location where) { t.fail(text, where); }

// A section's records: chosen passes have cycles, the others none; the cycles of a step are a whole
// number of instructions, the same between none and few as between few and many.
void section(Test &t, const Kernel &kernel, const u32 *at, u32 number, u32 passes,
             std::source_location where = std::source_location::current()) {
    const std::vector<u32> steps = counts(kernel);
    const auto cycles = [&](u64 r, u32 pass) { return at[r * record + pass]; };
    const std::string name = "section " + std::to_string(number) + ": ";
    for (u64 r = 0; r < steps.size(); ++r)
        for (u32 pass = 0; pass < record; ++pass) {
            if ((cycles(r, pass) != 0) != (pass < passes))
                return fail(t,
                            name + "record of " + std::to_string(steps[r]) + " steps has " +
                                std::to_string(cycles(r, pass)) + " cycles in pass " +
                                std::to_string(pass) + " of " + std::to_string(passes),
                            where);
            if (pass < passes && cycles(r, pass) != cycles(r, 0))
                return fail(t, name + "passes differ though instructions are counted", where);
        }
    const u32 few = cycles(1, 0) - cycles(0, 0);
    // One more instruction where the first step prepares, on gfx10.1 with a wait (H-019).
    const u32 more = target_of(kernel.gfx).clock_bits == 0 ? 2 : 1;
    if (few % steps[1] > more || few == 0)
        return fail(t, name + std::to_string(few) + " instructions for few steps", where);
    if (steps.size() > 2 && cycles(2, 0) - cycles(1, 0) != few / steps[1] * (steps[2] - steps[1]))
        fail(t,
             name + std::to_string(few) + " instructions for " + std::to_string(steps[1]) +
                 " steps, but " + std::to_string(cycles(2, 0) - cycles(1, 0)) + " for " +
                 std::to_string(steps[2] - steps[1]) + " more",
             where);
}

void clocks(Test &t, const Kernel &kernel) {
    const u32 sections = word_count(kernel.param("ops")) * word_count(kernel.param("forms"));
    const u32 waves = kernel.number("waves");
    const u64 size = counts(kernel).size() * record;
    for (u32 passes : t.checkers || t.entry ? std::vector<u32>{3} : std::vector<u32>{1, 7, 32}) {
        t.shape("passes=" + std::to_string(passes));
        const Region out = blank(t, waves * sections * size);
        launch(t, kernel, 1, Arguments(kernel).set("out", out).set("passes", passes));
        const std::vector<u32> got = out.read_as<u32>();
        for (u32 i = 0; i < waves * sections; ++i)
            section(t, kernel, got.data() + i * size, i, passes);
        t.guards_clean("out", out);
    }
}

} // namespace

CHECK_FAMILY(micro_clock) { clocks(t, kernel); }
CHECK_FAMILY(micro_clock_salu_float) { clocks(t, kernel); }
CHECK_FAMILY(micro_clock_gfx12) { clocks(t, kernel); }

namespace {

// Lanes write their own address to its target, overwriting what one of their loads reads.
void lanes(Test &t, const Kernel &kernel) {
    const u32 width = kernel.number("width") / 32, passes = 3; // dwords
    const u32 sections = word_count(kernel.param("ops"));
    const bool lds = kernel.param("space") == "lds";
    for (u32 stride : {width, 4 * width, 64u}) {
        t.shape("stride=" + std::to_string(stride));
        std::vector<u32> at(32), want(64 * 32 + 16, untouched);
        for (u32 lane = 0; lane < 32; ++lane) {
            at[lane] = 4 * stride * (31 - lane);
            std::fill_n(want.begin() + at[lane] / 4, width, at[lane]);
        }
        const u64 size = counts(kernel).size() * record;
        const Region out = blank(t, sections * size), from = t.region<u32>(at),
                     data = blank(t, want.size());
        launch(t, kernel, 1,
               Arguments(kernel)
                   .set("out", out)
                   .set("at", from)
                   .set("data", data)
                   .set("passes", passes));
        const std::vector<u32> got = out.read_as<u32>();
        for (u32 i = 0; i < sections; ++i)
            section(t, kernel, got.data() + i * size, i, passes);
        t.guards_clean("out", out);
        t.guards_clean("data", data);
        t.unchanged("at", from);
        if (lds)
            t.unchanged("data", data);
        else if (data.read_as<u32>() != want)
            t.fail("data is not each lane's address", std::source_location::current());
        if (t.checkers || t.entry)
            return;
    }
}

} // namespace

CHECK_FAMILY(micro_lanes) { lanes(t, kernel); }
CHECK_FAMILY(micro_queues) { lanes(t, kernel); }

namespace {

constexpr u32 walk_passes = 2;

// Lines in random order, `stride` dwords apart; `before` steps precede the timed ones. The walk
// ends where plain C++ ends after the same number of steps. `size` is the kernel's own argument.
void walk(Test &t, const Kernel &kernel, u32 lines, u32 stride, u32 before, const char *size,
          u32 value) {
    std::vector<u32> order(lines), chain(u64{lines} * stride, untouched);
    std::iota(order.begin(), order.end(), 0);
    for (u32 i = lines - 1; i > 0; --i)
        std::swap(order[i], order[t.rng.below(i + 1)]);
    for (u32 i = 0; i < lines; ++i)
        chain[u64{order[i]} * stride] = order[(i + 1) % lines] * stride * 4;
    u32 steps = before;
    for (u32 count : counts(kernel))
        steps += count * walk_passes;
    u32 want = 0;
    for (u32 i = 0; i < steps; ++i)
        want = chain[want / 4];
    const Region out = blank(t, counts(kernel).size() * record), end = blank(t, 1),
                 in = t.region<u32>(chain);
    launch(t, kernel, 1,
           Arguments(kernel)
               .set("out", out)
               .set("end", end)
               .set("chain", in)
               .set("passes", walk_passes)
               .set(size, value));
    if (end.read_as<u32>()[0] != want)
        t.fail("the walk ended at " + std::to_string(end.read_as<u32>()[0]) + ", not at " +
                   std::to_string(want),
               std::source_location::current());
    section(t, kernel, out.read_as<u32>().data(), 0, walk_passes);
    t.guards_clean("out", out);
    t.guards_clean("end", end);
    t.unchanged("chain", in);
}

} // namespace

CHECK_FAMILY(micro_chase) {
    const bool vector = kernel.param("path") == "vector";
    for (u32 lines : {1u, 5u, 33u, 700u}) {
        t.shape("lines=" + std::to_string(lines));
        walk(t, kernel, lines, 32, vector ? 0 : std::min(lines, 1024u), "lines", lines);
        if (t.entry || (t.checkers && lines > 1))
            return;
    }
}

// The same along lines that lie far apart.
CHECK_FAMILY(micro_walk) {
    for (u32 before : {0u, 1u, 130u})
        for (u32 stride : {32u, 1024u}) { // dwords
            t.shape("before=" + std::to_string(before) + " stride=" + std::to_string(stride));
            walk(t, kernel, 50, stride, before, "before", before);
            if (t.entry || (t.checkers && before))
                return;
        }
}

// Without timing a loop takes one cycle per instruction: 256, the count, the clock and
// the branch; all waves get the same. A wave stops in the loop that goes past the end.
CHECK_FAMILY(micro_share) {
    for (u32 cycles : {1u, 1000u, 9000u}) {
        t.shape("cycles=" + std::to_string(cycles));
        const Region out = blank(t, kernel.number("waves"));
        launch(t, kernel, 1, Arguments(kernel).set("out", out).set("cycles", cycles));
        for (u32 loops : out.read_as<u32>())
            if (loops < cycles / 270 || loops > cycles / 256 + 1 || loops == 0)
                t.fail(std::to_string(loops) + " loops in " + std::to_string(cycles) + " cycles",
                       std::source_location::current());
        t.guards_clean("out", out);
        if (t.entry)
            return;
    }
}

// The first workgroup says how many there are; the others leave no trace.
CHECK_FAMILY(micro_start) {
    for (u32 groups : {3u, 1u, 500u}) {
        t.shape("workgroups=" + std::to_string(groups));
        const Region out = blank(t, 1);
        launch(t, kernel, groups, Arguments(kernel).set("out", out).set("workgroups", groups));
        if (out.read_as<u32>()[0] != groups)
            t.fail("out is " + std::to_string(out.read_as<u32>()[0]),
                   std::source_location::current());
        t.guards_clean("out", out);
        if (t.entry)
            return;
    }
}

namespace {

// Each lane's xor of all that it reads: every dword of every row counts once.
void stream(Test &t, const Kernel &kernel) {
    const u32 unit = 512 * kernel.number("depth"), rows_each = kernel.number("rows");
    const u32 groups = t.checkers ? 1 : 3, rows = groups * kernel.rows_per_workgroup;
    for (u32 row_bytes : {unit, 2 * unit, 5 * unit}) {
        const u32 stride = row_bytes + (row_bytes == unit ? 0 : 144);
        const u32 times = row_bytes == 2 * unit ? 2 : 3; // an even number leaves nothing
        t.shape("row_bytes=" + std::to_string(row_bytes) + " stride=" + std::to_string(stride));
        std::vector<u32> data(u64{rows} * stride / 4);
        for (u32 &x : data)
            x = static_cast<u32>(t.rng.next());
        std::vector<u32> want(groups * kernel.block, 0);
        for (u32 row = 0; row < rows; ++row)
            for (u32 i = 0; i < row_bytes / 4; ++i)
                want[row / rows_each * 32 + i / 4 % 32] ^= data[u64{row} * stride / 4 + i];
        if (times % 2 == 0)
            std::fill(want.begin(), want.end(), 0);
        const Region in = t.region<u32>(data), out = blank(t, want.size());
        launch(t, kernel, groups,
               Arguments(kernel)
                   .set("data", in)
                   .set("out", out)
                   .set("row_bytes", row_bytes)
                   .set("stride", stride)
                   .set("times", times));
        if (out.read_as<u32>() != want)
            t.fail("out is not the xor of what was to be read", std::source_location::current());
        t.guards_clean("out", out);
        t.unchanged("data", in);
        if (t.checkers || t.entry)
            return;
    }
}

} // namespace

CHECK_FAMILY(micro_stream) { stream(t, kernel); }
CHECK_FAMILY(micro_stream_wide) { stream(t, kernel); }

// More loops take longer, by both clocks, and never less ticks than the cycles of a 10 GHz shader.
CHECK_FAMILY(micro_rate) {
    u32 before = 0;
    for (u32 loops : {1u, 100u, 5000u}) {
        t.shape("loops=" + std::to_string(loops));
        const Region out = blank(t, 2);
        launch(t, kernel, 1, Arguments(kernel).set("out", out).set("loops", loops));
        const u32 cycles = out.read_as<u32>()[0], ticks = out.read_as<u32>()[1];
        if (cycles <= before || cycles < loops || ticks > cycles || u64{ticks} * 100 + 100 < cycles)
            t.fail(std::to_string(cycles) + " cycles and " + std::to_string(ticks) + " ticks",
                   std::source_location::current());
        before = cycles;
        t.guards_clean("out", out);
        if (t.entry)
            return;
    }
}
