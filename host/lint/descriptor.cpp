// SPDX-License-Identifier: MIT
#include "lint/descriptor.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

#include "lint/solve.h"
#include "lint/values.h"
#include "sim/isa/device.h"
#include "sim/isa/tables/memory_ops.h"

namespace nw::lint {

namespace {

using namespace sim;

// Whether the SGPR pair still holds the address of the arguments, and registers that hold bytes
// from behind them, with the load.
struct Kernarg {
    bool there = true;
    std::map<unsigned, u32> behind;
    bool join(const Kernarg &o) {
        const bool news = there && !o.there;
        there &= o.there;
        return std::erase_if(behind, [&](const auto &r) { return !o.behind.contains(r.first); }) ||
               news;
    }
    void forget() { *this = {false, {}}; }
    void step(const Operation &op, const Fact &fact) {
        std::map<unsigned, u32> copied;
        for (const auto &[to, from] : copies(op))
            if (const auto at = behind.find(from); at != behind.end())
                copied[to] = at->second;
        std::erase_if(behind, [&](const auto &r) { return fact.writes.has(r.first); });
        behind.merge(copied);
    }
    const u32 *read(const Operation &op, const Fact &fact) const { // the load, if it was too wide
        if (may_read_anything(op, fact))
            return nullptr;
        const auto copied = copies(op);
        for (const auto &[place, load] : behind)
            if (fact.reads.has(place) &&
                std::ranges::find(copied, place, &std::pair<unsigned, unsigned>::second) ==
                    copied.end())
                return &load;
        return nullptr;
    }
};

// Segments of arguments are aligned so: no page ends within a unit, and a wider load than the
// arguments need may read the rest of the last one (S-060).
constexpr i64 kernarg_unit = 16;

// Bytes that an s_load of that name reads.
u32 loaded_bytes(std::string_view n) {
    for (const auto &[suffix, bytes] : {std::pair{"_b32", 4u},
                                        {"_b64", 8u},
                                        {"_b96", 12u},
                                        {"_b128", 16u},
                                        {"_b256", 32u},
                                        {"_b512", 64u},
                                        {"_i8", 1u},
                                        {"_u8", 1u},
                                        {"_i16", 2u},
                                        {"_u16", 2u}})
        if (n.ends_with(suffix))
            return bytes;
    return 0;
}

// Offset of a scalar load; empty if it is in a register.
std::optional<i64> offset_of(const Operation &op) {
    const Operand &o = op.operands[2];
    if (o.kind == Operand::Kind::sgpr && o.reg == sreg::null)
        return 0;
    return o.kind == Operand::Kind::integer ? std::optional(o.integer) : std::nullopt;
}

class Undeclared {
public:
    Undeclared(const Flow &flow, const Facts &facts, const KernelInfo &kernel)
        : flow_(flow), facts_(facts), kernel_(kernel), descriptor_(kernel, facts.target()) {}

    void registers();
    void lds();
    void kernarg();
    void scratch();
    void arguments(std::string_view gfx);
    void container(const Program &);
    Findings found;

private:
    template <class F> void each(F f) const {
        for (const Block &block : flow_.blocks())
            for (u32 i = block.first; i < block.end; ++i)
                f(i, flow_.code().instructions[i]);
    }
    void add(Rule rule, u32 i, std::string text, std::string remedy) {
        found.push_back({rule, i, Finding::nothing, std::move(text), std::move(remedy)});
    }

    const Flow &flow_;
    const Facts &facts_;
    const KernelInfo &kernel_;
    const Descriptor descriptor_;
};

void Undeclared::registers() {
    u32 most = 0, at = 0;
    each([&](u32 i, const Instruction &) {
        for (const RegisterUse &use : facts_[i].role.uses)
            if (const u32 end = use.first + use.count;
                use.bank == RegisterUse::sgpr && end <= sreg::vcc && end > most)
                most = end, at = i;
        for (const RegisterUse &use : facts_[i].role.uses)
            if (use.bank == RegisterUse::vgpr && use.first + use.count > descriptor_.vgprs)
                return add(Rule::vgprs, i,
                           fmt::format("v{} is used, but the descriptor allocates {} VGPRs",
                                       use.first + use.count - 1, descriptor_.vgprs),
                           fmt::format(".amdhsa_next_free_vgpr {} or more", use.first + use.count));
    });
    if (kernel_.has_metadata && kernel_.sgprs && most > kernel_.sgprs)
        add(Rule::sgprs, at,
            fmt::format("s{} is used, but the metadata counts {} SGPRs, which tools show", most - 1,
                        kernel_.sgprs),
            fmt::format(".sgpr_count: {} or more", most));
}

// Checks the offset only: addresses and dynamic LDS are unknown.
void Undeclared::lds() {
    each([&](u32 i, const Instruction &inst) {
        const MemoryOp op = find_memory_op(inst.x.mnemonic);
        if (kernel_.lds_bytes == 0 || !inst.x.mnemonic.starts_with("ds_") ||
            op.access == Access::none)
            return;
        const u64 bytes = u64{op.bytes} * op.elements;
        u64 last = static_cast<u64>(inst.x.value("offset", 0));
        if (op.two_addresses())
            last =
                bytes * (op.stride64() ? 64 : 1) *
                static_cast<u64>(std::max(inst.x.value("offset0", 0), inst.x.value("offset1", 0)));
        if (last + bytes > kernel_.lds_bytes)
            add(Rule::lds, i,
                fmt::format("{1} bytes at offset {0} are outside the {2} declared bytes of LDS",
                            last, bytes, kernel_.lds_bytes),
                "raise .amdhsa_group_segment_fixed_size, or use a smaller offset");
    });
}

void Undeclared::kernarg() {
    if (!descriptor_.has_kernarg || kernel_.kernarg_bytes == 0)
        return;
    const auto pair = static_cast<u16>(descriptor_.kernarg_at);
    const i64 declared = kernel_.kernarg_bytes, there = round_up(declared, kernarg_unit);
    const auto operation = [&](u32 i) -> const Operation & {
        return flow_.code().instructions[i].x;
    };
    const auto is_load = [&](const Kernarg &k, const Operation &op) {
        return k.there && op.mnemonic.starts_with("s_load_") && op.operands.size() == 3 &&
               op.operands[1].kind == Operand::Kind::sgpr && op.operands[1].reg == pair &&
               offset_of(op);
    };
    const auto step = [&](Kernarg &k, u32 i) {
        const Operation &op = operation(i);
        const bool load = is_load(k, op);
        k.step(op, facts_[i]);
        for (u16 n = 0; load && n < op.operands[0].count; ++n)
            if (*offset_of(op) + 4 * n >= declared)
                k.behind[RegisterSet::of_sgpr(op.operands[0].reg + n)] = i;
        for (u16 reg : {pair, static_cast<u16>(pair + 1)})
            k.there &= !facts_[i].writes.has(RegisterSet::of_sgpr(reg));
    };
    const auto report = [&](u32 load, u32 user) {
        const i64 offset = *offset_of(operation(load));
        found.push_back(
            {Rule::kernarg, load, user,
             fmt::format("bytes {} to {} of the arguments are read, but the metadata declares {}",
                         offset, offset + loaded_bytes(operation(load).mnemonic) - 1, declared),
             "list them in .args and count them in .kernarg_segment_size"});
    };
    std::set<u32> reported; // loads
    const auto at = solve(flow_, Kernarg{}, step);
    each_state(flow_, at, [&](Kernarg &k, u32 i) {
        const Operation &op = operation(i);
        if (const u32 *load = k.read(op, facts_[i]); load && reported.insert(*load).second)
            report(*load, i);
        if (is_load(k, op)) {
            const i64 offset = *offset_of(op);
            const i64 end = offset + loaded_bytes(op.mnemonic);
            if ((offset < 0 || offset >= declared || end > there) && reported.insert(i).second)
                report(i, Finding::nothing);
        }
        step(k, i);
    });
}

void Undeclared::scratch() {
    if (kernel_.scratch_bytes == 0)
        return;
    bool used = false;
    each([&](u32 i, const Instruction &inst) {
        used |= inst.x.mnemonic.starts_with("scratch_") || inst.x.mnemonic.starts_with("flat_") ||
                inst.x.mnemonic.starts_with("buffer_") || facts_[i].role.jump;
    });
    if (!used)
        add(Rule::scratch_unused, Finding::nothing,
            fmt::format("{} bytes of scratch memory per lane are declared but not used",
                        kernel_.scratch_bytes),
            ".amdhsa_private_segment_fixed_size 0");
}

void Undeclared::arguments(std::string_view gfx) {
    if (!kernel_.has_metadata)
        add(Rule::no_args, Finding::nothing, "it has no metadata: the runtime passes no arguments",
            ".amdgpu_metadata with the kernel and its .args");
    else if (kernel_.args.empty() && kernel_.kernarg_bytes > 0)
        add(Rule::no_args, Finding::nothing,
            fmt::format(
                "{} bytes of arguments are declared but .args is empty: the runtime passes none",
                kernel_.kernarg_bytes),
            "list them in .args");
    const u32 initialised = descriptor_.user_sgprs + descriptor_.system_sgprs;
    if (target_of(gfx).init16 && kernel_.wave_size == 32 && initialised < 16)
        add(Rule::init16, Finding::nothing,
            fmt::format("{} user and {} system SGPRs are initialised", descriptor_.user_sgprs,
                        descriptor_.system_sgprs),
            fmt::format(".amdhsa_user_sgpr_count {} (note A-001)", 16 - descriptor_.system_sgprs));
}

// Properties of the code object.
void Undeclared::container(const Program &program) {
    if (kernel_.metadata_wave_size && kernel_.metadata_wave_size != kernel_.wave_size)
        add(Rule::wave_size, Finding::nothing,
            fmt::format("the descriptor has wave{}, the metadata wave{}: the runtime counts waves "
                        "by the metadata, the hardware uses the descriptor",
                        kernel_.wave_size, kernel_.metadata_wave_size),
            ".wavefront_size as in .amdhsa_wavefront_size32");
    if (program.is_generic() && program.generic_version() == 0)
        add(Rule::generic_version, Finding::nothing,
            fmt::format(
                "code object V{} for a generic target without a generic version: loaders refuse it",
                program.code_object_version()),
            "-mcode-object-version=6");
    if (!program.is_generic() && program.code_object_version() > 5)
        add(Rule::too_new, Finding::nothing,
            fmt::format("code object V{}: ROCm 5 does not load it, and only generic targets need "
                        "it (note A-006)",
                        program.code_object_version()),
            "-mcode-object-version=5");
}

} // namespace

Descriptor::Descriptor(const KernelInfo &k, const Target &target)
    : vgprs(allocated_vgprs(k)), user_sgprs(k.rsrc2 >> 1 & 31), enabled_sgprs(0),
      system_sgprs(0), workgroup_id{bool(k.rsrc2 >> 7 & 1), bool(k.rsrc2 >> 8 & 1),
                                    bool(k.rsrc2 >> 9 & 1)},
      kernarg_at(0), has_kernarg(k.properties & 1 << 3) {
    if (target.generation != Generation::gfx12) // there in TTMPs
        system_sgprs += workgroup_id[0] + workgroup_id[1] + workgroup_id[2] + (k.rsrc2 >> 10 & 1);
    if (!target.own_scratch)
        system_sgprs += k.rsrc2 & 1;
    // Buffer of scratch, dispatch packet, queue, arguments, dispatch id, flat scratch, its size.
    constexpr u32 sgprs[] = {4, 2, 2, 2, 2, 2, 1}, kernarg = 3;
    for (u32 bit = 0; bit < std::size(sgprs); ++bit) {
        if (bit == kernarg)
            kernarg_at = enabled_sgprs;
        enabled_sgprs += k.properties >> bit & 1 ? sgprs[bit] : 0;
    }
}

Findings find_undeclared(const Flow &flow, const Facts &facts, const Program &program,
                         const KernelInfo &kernel) {
    Undeclared all(flow, facts, kernel);
    all.registers();
    all.lds();
    all.kernarg();
    all.scratch();
    all.arguments(program.gfx());
    all.container(program);
    return std::move(all.found);
}

} // namespace nw::lint
