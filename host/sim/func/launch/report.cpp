// SPDX-License-Identifier: MIT
#include "sim/func/launch/report.h"

#include <fmt/format.h>

#include "sim/func/launch/dump.h"
#include "sim/func/launch/launch.h"

namespace nw::sim {

namespace {

const char *check_of(Fault::Kind kind) {
    return kind == Fault::Kind::illegal_address ? "mem" : "fault";
}

// A checker's message starts with its name: "wait: ...".
void name_check(Report &r, Fault::Kind kind) {
    if (r.check.empty())
        r.check = kind == Fault::Kind::checker ? r.message.substr(0, r.message.find(':'))
                                               : check_of(kind);
    if (r.rule.empty())
        r.rule = kind == Fault::Kind::checker ? r.check : rule_of(kind);
}

std::string symbol_of(const Program &program, const KernelInfo &kernel, u64 pc) {
    if (const Global *f = program.function_at(pc))
        return fmt::format("{} + 0x{:x}", f->name, pc - f->address);
    return pc >= kernel.entry ? fmt::format("{} + 0x{:x}", kernel.name, pc - kernel.entry)
                              : fmt::format("{} - 0x{:x}", kernel.name, kernel.entry - pc);
}

} // namespace

Origin origin_of(const Memory &memory, u64 address) {
    if (Origin gone = memory.released_at(address); gone.size && !memory.find(address).size)
        return gone;
    return memory.nearest(address);
}

const char *rule_of(Fault::Kind kind) {
    switch (kind) {
    case Fault::Kind::illegal_instruction:
        return "illegal_instruction";
    case Fault::Kind::illegal_address:
        return "illegal_address";
    case Fault::Kind::endless:
        return "endless";
    case Fault::Kind::barrier:
        return "barrier";
    case Fault::Kind::bad_dispatch:
        return "bad_dispatch";
    case Fault::Kind::out_of_memory:
        return "out_of_memory";
    case Fault::Kind::checker:
        break;
    }
    return "";
}

Site site_of(const Context &c, u32 inst, const Dim3 &workgroup, u32 wave) {
    const Code &code = *c.code.code;
    const KernelInfo &kernel = *c.dispatch.kernel;
    Site site{kernel.name, workgroup, wave, 0, "", "", ""};
    if (inst < code.instructions.size()) {
        const Instruction &i = code.instructions[inst];
        site.pc = code.base + i.offset;
        site.place = symbol_of(*c.code.program, kernel, site.pc);
        site.line = c.code.program->source_line(site.pc);
        site.instruction = i.text.empty() ? "(undecodable)" : i.text;
    }
    return site;
}

std::string text_of(const Site &s) {
    if (s.instruction.empty())
        return "the end of the code";
    return fmt::format("pc 0x{:x} ({}){}{}: {}", s.pc, s.place, s.line.empty() ? "" : ", ", s.line,
                       s.instruction);
}

static Dim3 thread_of(const Wave &w, u32 lane) {
    const Dim3 &block = w.context->dispatch.block;
    const u32 n = w.number * row_lanes * w.halves + lane;
    return {n % block.x, n / block.x % block.y, n / (block.x * block.y)};
}

static Fault make_fault(const Wave &w, const Inst &i, Fault::Kind kind, const std::string &text,
                        Report r) {
    const Context &c = *w.context;
    r.site = site_of(c, i.index, w.group->id, w.number);
    r.message = text;
    r.group = w.group->number;
    r.inst = i.index;
    if (r.lane >= 0)
        r.thread = thread_of(w, static_cast<u32>(r.lane));
    if (r.site.line.empty())
        r.listing = listing(w, i);
    name_check(r, kind);
    const Dim3 &g = w.group->id;
    std::string whole = fmt::format("{}\n  kernel {}, workgroup ({}, {}, {}), wave {}\n  {}", text,
                                    r.site.kernel, g.x, g.y, g.z, w.number, text_of(r.site));
    if (c.config.dump) {
        r.dump = dump(w, i);
        whole += "\n" + r.dump;
    }
    return Fault(kind, std::move(whole), std::make_shared<const Report>(std::move(r)));
}

void fault(const Wave &w, const Inst &i, Fault::Kind kind, const std::string &text, Report r) {
    throw make_fault(w, i, kind, text, std::move(r));
}

void finding(const Wave &w, const Inst &i, const std::string &text, Report r) {
    const Fault found = make_fault(w, i, Fault::Kind::checker, text, std::move(r));
    FindingSink *const sink = w.context->config.findings;
    if (!sink || !sink->take(found))
        throw Fault(found);
}

void fault(const Wave &w, const Inst &i, Fault::Kind kind, const std::string &text) {
    fault(w, i, kind, text, Report{});
}

} // namespace nw::sim
