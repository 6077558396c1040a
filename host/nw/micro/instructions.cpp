// SPDX-License-Identifier: MIT
#include "nw/micro/instructions.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <regex>
#include <tuple>

#include "base/error.h"
#include "base/targets.h"
#include "nw/compile.h"
#include "nw/micro/line.h"
#include "sim/func/launch/coverage.h"
#include "sim/isa/classes.h"
#include "sim/isa/code.h"
#include "sim/isa/gfx10_names.h"
#include "sim/isa/mnemonics.h"
#include "sim/isa/uses.h"
#include "sim/timing/constants/costs.h"
#include "sim/timing/core/op_facts.h"

namespace nw::cli {

namespace {

using sim::Class, sim::Instruction, sim::timing::OpFacts;

constexpr u32 first_sgpr = 4;

// Chooses registers for the operands of a line, in their order: each its own.
class Registers {
public:
    std::string next(char bank, u32 count) {
        if (bank == 's') {
            const u32 step = std::min(count, 4u); // alignment of a range
            const u32 first = (sgpr_ + step - 1) / step * step;
            sgpr_ = first + count;
            return text(bank, first, count);
        }
        // Neighbours in different banks: WMMA's A and B in one clash (T-054).
        if (count > 1 && vgpr_ % 4 == bank_)
            ++vgpr_;
        bank_ = vgpr_ % 4;
        vgpr_ += count;
        return text(bank, vgpr_ - count, count);
    }
    // A pair (VOPD) has an even and an odd destination.
    void begin_second() { vgpr_ |= 1; }

private:
    static std::string text(char bank, u32 first, u32 count) {
        return count == 1 ? fmt::format("{}{}", bank, first)
                          : fmt::format("{}[{}:{}]", bank, first, first + count - 1);
    }
    u32 vgpr_ = 0, sgpr_ = first_sgpr, bank_ = 4;
};

// The disassembler's text of a sample, which has v0 and s0 in all places, with other registers.
std::string with_own_registers(const std::string &text, bool wmma) {
    static const std::regex place(R"(\b([vs])(?:(\d+)|\[(\d+):(\d+)\])(?!\w)|::)");
    Registers registers;
    std::string out, result;
    size_t copied = 0, operand = 0;
    for (std::sregex_iterator at(text.begin(), text.end(), place), end; at != end; ++at) {
        const std::smatch &m = *at;
        const size_t begin = static_cast<size_t>(m.position());
        out += text.substr(copied, begin - copied);
        copied = begin + m.str().size();
        if (!m[1].matched) { // ::
            out += m.str();
            registers.begin_second();
            continue;
        }
        const u32 count =
            m[2].matched ? 1 : static_cast<u32>(std::stoul(m[4]) - std::stoul(m[3]) + 1);
        // C of WMMA is D, so that a chain accumulates.
        const std::string name =
            wmma && operand == 3 ? result : registers.next(m[1].str()[0], count);
        if (operand++ == 0)
            result = name;
        out += name;
    }
    return out + text.substr(copied);
}

std::string unit_of(const OpFacts &f) {
    if (f.wmma)
        return "WMMA";
    if (f.trans)
        return "TRANS";
    switch (f.unit) {
    case sim::timing::Unit::valu:
        return "VALU";
    case sim::timing::Unit::salu:
        return "SALU";
    case sim::timing::Unit::smem:
        return "SMEM";
    case sim::timing::Unit::vmem:
        return "VMEM";
    case sim::timing::Unit::lds:
        return "LDS";
    default:
        return "issue";
    }
}

// Why an instruction of this class has no chain; "" if it may have one.
std::string why_not(Class cls) {
    switch (cls) {
    case Class::valu:
    case Class::vopd:
    case Class::trans:
    case Class::wmma:
    case Class::salu:
        return "";
    case Class::smem:
    case Class::vmem_load:
    case Class::vmem_store:
    case Class::lds:
        return "accesses memory: nw micro measures loads, LDS and caches (--list)";
    case Class::branch:
        return "branches: nw micro measures some (--list)";
    case Class::wait:
        return "waits";
    default:
        return "is done by the issue logic, or is for graphics";
    }
}

// VCC and SCC aren't renamed: copies that read what the one before wrote there are a chain.
std::string remark_on(const Instruction &inst) {
    const auto uses = sim::register_uses(inst);
    const auto both = [&](u16 reg) {
        const auto touches = [&](bool write) {
            return std::ranges::any_of(uses, [&](const sim::RegisterUse &use) {
                return use.bank == sim::RegisterUse::sgpr && use.write == write &&
                       use.first <= reg && reg < use.first + use.count;
            });
        };
        return touches(false) && touches(true);
    };
    if (both(sim::sreg::vcc))
        return "copies depend on each other through VCC";
    return both(sim::sreg::scc) ? "copies depend on each other through SCC" : "";
}

// The assembler's complaints by line, from 1 on.
std::map<u64, std::string> complaints(const std::string &text, const std::string &gfx) {
    std::map<u64, std::string> out;
    try {
        static_cast<void>(assemble_text(text, gfx));
    } catch (const Error &error) {
        const std::string log = error.what();
        static const std::regex message(R"((?:^|\n)(\d+):\d+: error: ([^\n]+))");
        for (std::sregex_iterator at(log.begin(), log.end(), message), end; at != end; ++at)
            out.emplace(std::stoull((*at)[1]), (*at)[2]);
        if (out.empty())
            throw;
    }
    return out;
}

// The sample as the target's assembler takes it, and a wave may execute it. The disassembler always
// names halves of VGPRs.
class Spelling {
public:
    explicit Spelling(const std::string &gfx)
        : halves_(complaints("v_add_f16 v0.l, v1.l, v2.l\n", gfx).empty()) {}

    std::string operator()(std::string text) const {
        constexpr std::string_view low = ".l";
        for (size_t at = 0; !halves_ && (at = text.find(low, at)) != text.npos;)
            text.erase(at, low.size());
        constexpr std::string_view none = "hwreg(0,"; // may be neither read nor written
        if (const size_t at = text.find(none); at != text.npos)
            text.replace(at, none.size(), "hwreg(HW_REG_MODE,");
        return text;
    }

private:
    const bool halves_;
};

// Fills in line and chain, or why_not.
void choose_line(InstructionRow &row, const std::string &sample, Class cls) {
    row.why_not = why_not(cls);
    if (!row.why_not.empty())
        return;
    const std::string text =
        with_own_registers(sample, cls == Class::wmma && !row.mnemonic.starts_with("v_swmmac"));
    try {
        const Line line(text);
        row.line = text;
        row.chain = line.dependent().value_or("");
        row.copies = line.copies();
    } catch (const Error &) {
        row.why_not = "changes EXEC or what the wave executes next";
    }
}

// Leaves out lines that the assembler refuses.
void check_lines(std::vector<InstructionRow> &rows, const std::string &gfx) {
    std::string text;
    for (const InstructionRow &row : rows)
        if (row.why_not.empty())
            text += fmt::format("{}\n{}\n{}\n", row.line, Line(row.line).copy(1, 64, 64),
                                row.chain.empty() ? row.line : row.chain);
    const auto wrong = complaints(text, gfx);
    u64 number = 1;
    for (InstructionRow &row : rows) {
        if (!row.why_not.empty())
            continue;
        for (const u64 n : {number, number + 1})
            if (const auto at = wrong.find(n); at != wrong.end() && row.why_not.empty())
                row.why_not = fmt::format("has no chain of copies: {}", at->second);
        if (wrong.contains(number + 2))
            row.chain.clear();
        number += 3;
    }
}

// Appends to each row the names of the constants in cycles that change its facts.
void name_costs(std::vector<InstructionRow> &rows, const sim::Code &code, const std::string &gfx,
                const sim::timing::ProgramFacts &facts) {
    const auto cost = [](const OpFacts &f) {
        return std::tuple(f.interval, f.execution, f.latency, f.trans_latency);
    };
    const sim::timing::Costs usual = sim::timing::costs_for(gfx);
    for (const auto &field : sim::timing::cost_fields()) {
        if (field.unit != "cycles" || field.get(usual) >= field.high)
            continue;
        sim::timing::Costs costs = usual;
        field.set(costs, field.get(usual) + 1);
        const sim::timing::ProgramFacts changed(code, gfx, costs);
        for (size_t n = 0; n < rows.size(); ++n)
            if (cost(changed.ops[n]) != cost(facts.ops[n]))
                rows[n].costs += fmt::format(" {}", field.name);
    }
}

std::map<std::string, sim::Coverage> states(const std::string &gfx) {
    std::map<std::string, sim::Coverage> out;
    for (sim::Coverage &c : sim::coverage(gfx))
        out.emplace(c.mnemonic, std::move(c));
    return out;
}

} // namespace

std::vector<InstructionRow> instructions(const std::string &gfx) {
    const std::vector<sim::Sample> samples = sim::known_mnemonics(gfx);
    std::vector<sim::Encoding> encodings;
    for (const sim::Sample &sample : samples)
        encodings.push_back(sample.encoding);
    sim::Code code;
    code.instructions = sim::disassemble_each(encodings, gfx, code.wave_size);
    const sim::timing::ProgramFacts facts(code, gfx, sim::timing::costs_for(gfx));
    const auto state = states(gfx);
    const Spelling spelling(gfx);
    std::vector<InstructionRow> rows;
    for (size_t n = 0; n < samples.size(); ++n) {
        const Instruction &inst = code.instructions[n];
        InstructionRow row;
        row.mnemonic = target_of(gfx).old_names
                           ? std::string(sim::name_before_gfx11(samples[n].mnemonic))
                           : samples[n].mnemonic;
        row.unit = unit_of(facts.ops[n]);
        const auto known = state.find(samples[n].mnemonic);
        if (known != state.end() && known->second.state == sim::Coverage::State::out_of_scope)
            row.why_not = fmt::format("is not simulated: {}", known->second.remark);
        else
            choose_line(row, spelling(inst.text), class_of(inst));
        if (row.why_not.empty())
            row.remark = remark_on(inst);
        rows.push_back(std::move(row));
    }
    name_costs(rows, code, gfx, facts);
    check_lines(rows, gfx);
    return rows;
}

} // namespace nw::cli
