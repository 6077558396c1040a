// SPDX-License-Identifier: MIT
#include "lint/mutants.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace nw::lint::test {

namespace {

using namespace sim;

// Replacement for a removed instruction: s_delay_alu 0 is no wait, and no nop either,
// which some hazards need.
constexpr u32 neutral = 0xbf870000;

struct Field {
    std::string_view name;
    u32 at, bits;
    u32 max() const { return (1u << bits) - 1; }
    u32 of(u32 word) const { return word >> at & max(); }
    u32 with(u32 word, u32 value) const { return (word & ~(max() << at)) | value << at; }
};

// A full counter field doesn't wait; a hazard's field waits where it is 0.
std::vector<Field> counters_of(std::string_view n) {
    if (n == "s_waitcnt")
        return {{"vmcnt", 10, 6}, {"lgkmcnt", 4, 6}};
    if (n == "s_wait_loadcnt_dscnt")
        return {{"loadcnt", 8, 6}, {"dscnt", 0, 6}};
    if (n == "s_wait_storecnt_dscnt")
        return {{"storecnt", 8, 6}, {"dscnt", 0, 6}};
    if (n == "s_waitcnt_vscnt" || n == "s_waitcnt_vmcnt" || n == "s_waitcnt_lgkmcnt")
        return {{n.substr(10), 0, 6}};
    if (n == "s_wait_kmcnt")
        return {{"kmcnt", 0, 5}};
    if (n == "s_wait_loadcnt" || n == "s_wait_storecnt" || n == "s_wait_dscnt")
        return {{n.substr(7), 0, 6}};
    return {};
}
constexpr Field depctr[] = {{"va_vdst", 12, 4}, {"va_sdst", 9, 3}, {"va_ssrc", 8, 1},
                            {"hold_cnt", 7, 1}, {"vm_vsrc", 2, 3}, {"va_vcc", 1, 1},
                            {"sa_sdst", 0, 1}};

class Maker {
public:
    Maker(const Code &code, u32 i) : inst_(code.instructions[i]), i_(i) {}

    std::vector<Mutant> make() {
        const std::string_view n = inst_.x.mnemonic;
        const std::vector<Field> fields = counters_of(n);
        const bool alu = n == "s_waitcnt_depctr" || n == "s_wait_alu";
        const bool nop = n == "s_nop" || n == "v_nop" || n == "ds_nop";
        const bool barrier = n == "s_barrier" || n == "s_barrier_signal" || n == "s_barrier_wait";
        if (!fields.empty() || alu || nop || barrier || n == "s_wait_idle")
            add("removed", neutral);
        const auto waits = [&](const Field &f) { return f.of(inst_.word0) != f.max(); };
        const bool several = std::ranges::count_if(fields, waits) > 1;
        for (const Field &f : fields)
            if (waits(f))
                weaken(f, several);
        if (alu)
            weaken_depctr();
        if (n == "s_nop" && inst_.simm16() > 0)
            add("weakened", inst_.word0 - 1);
        return std::move(out_);
    }

private:
    void add(std::string change, u32 word) {
        out_.push_back({i_, std::move(change), {{i_, {word, neutral}, {}}}});
    }
    // One more may be outstanding; where other counters are waited for, also: any number.
    void weaken(const Field &f, bool several) {
        const u32 now = f.of(inst_.word0);
        add(fmt::format("weakened {}", f.name), f.with(inst_.word0, now + 1));
        if (several && now + 1 < f.max())
            add(fmt::format("without {}", f.name), f.with(inst_.word0, f.max()));
    }
    // Where there is one field alone, it is the same as taking the instruction out.
    void weaken_depctr() {
        const auto waits = [&](const Field &f) { return f.of(inst_.word0) == 0; };
        if (std::ranges::count_if(depctr, waits) > 1)
            for (const Field &f : depctr)
                if (waits(f))
                    add(fmt::format("without {}", f.name), f.with(inst_.word0, f.max()));
    }

    const Instruction &inst_;
    const u32 i_;
    std::vector<Mutant> out_;
};

// The wait that belongs to a signal: the next one of that barrier in the code.
u32 wait_of(const Code &code, u32 signal) {
    constexpr u32 furthest = 64;
    const std::vector<Operand> &barrier = code.instructions[signal].x.operands;
    if (barrier.empty() || barrier[0].kind != Operand::Kind::integer)
        return Code::none;
    const u32 end = std::min<u32>(signal + furthest, static_cast<u32>(code.instructions.size()));
    for (u32 i = signal + 1; i < end; ++i) {
        const Instruction &inst = code.instructions[i];
        if (inst.x.mnemonic == "s_barrier_wait" && inst.simm16() == barrier[0].integer)
            return i;
    }
    return Code::none;
}

// At once: a disassembler takes a while to begin.
void decode(std::vector<Mutant> &mutants, std::string_view gfx, u32 wave_size) {
    std::vector<std::array<u32, 5>> words;
    for (const Mutant &m : mutants)
        for (const Edit &edit : m.edits)
            words.push_back({edit.words[0]});
    std::vector<Instruction> decoded = disassemble_each(words, gfx, wave_size);
    size_t n = 0;
    for (Mutant &m : mutants)
        for (Edit &edit : m.edits)
            edit.decoded = std::move(decoded[n++]);
}

} // namespace

std::vector<Mutant> mutants_of(const Flow &flow, std::string_view gfx) {
    const Code &code = flow.code();
    std::vector<Mutant> out;
    for (u32 i = 0; i < code.instructions.size(); ++i) {
        if (!flow.reaches(i))
            continue;
        std::ranges::move(Maker(code, i).make(), std::back_inserter(out));
        if (code.instructions[i].x.mnemonic != "s_barrier_signal")
            continue;
        if (const u32 wait = wait_of(code, i); wait != Code::none && flow.reaches(wait))
            out.push_back({i, "pair removed", {{i, {neutral}, {}}, {wait, {neutral}, {}}}});
    }
    decode(out, gfx, code.wave_size);
    return out;
}

Applied::Applied(Code &code, const Mutant &mutant) : code_(code) {
    for (const Edit &edit : mutant.edits) {
        Instruction fresh = edit.decoded;
        fresh.offset = code.instructions[edit.instruction].offset;
        before_.emplace_back(edit.instruction, code.instructions[edit.instruction]);
        put(edit.instruction, std::move(fresh));
    }
}

Applied::~Applied() {
    for (auto &[i, instruction] : before_)
        put(i, std::move(instruction));
}

void Applied::put(u32 i, Instruction instruction) {
    code_.instructions[i] = std::move(instruction);
    parse(code_.instructions[i]); // operands point into the text, which has moved
}

} // namespace nw::lint::test
