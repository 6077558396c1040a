// SPDX-License-Identifier: MIT
// Ops in the C API (nibblewave.h), made from asm/ops/<op>/op.toml by gen/faces/c_functions.py.
#include <bit>
#include <initializer_list>

#include "capi/context.h"
#include "capi/gguf_types.h"

namespace nw::api {

namespace {

struct Enumerator {
    i32 value;
    std::string_view name;
    u64 word;
};

u64 word_of(std::string_view name, i32 value, std::initializer_list<Enumerator> known) {
    for (const Enumerator &one : known)
        if (one.value == value)
            return one.word;
    std::string listed;
    for (const Enumerator &one : known) {
        const bool last = &one == known.end() - 1;
        listed += fmt::format("{}{} ({})",
                              listed.empty() ? ""
                              : last         ? " or "
                                             : ", ",
                              one.name, one.value);
    }
    need(false, "{} = {}: must be {}", name, value, listed);
    return 0;
}

// The bits of a number; -0 counts as 0.
u64 bits_of(f32 value) { return std::bit_cast<u32>(value + 0.0f); }

// i32: the sign of what is neither 0 nor 1 is part of the message.
u64 flag_of(std::string_view name, i32 value) {
    need(value == 0 || value == 1, "{} = {}: must be 0 or 1", name, value);
    return static_cast<u64>(value);
}

void prepare_this(nw_context &context, const Op &op) {
    const hip::KeepCurrentDevice keep(context.device);
    load(context, op);
}

// Nothing for an op that no kernel serves.
void prepare_if_served(nw_context &context, const Op &op) {
    if (is_served(context.machine.target->name, op))
        prepare_this(context, op);
}

void prepare_every(nw_context &context, const Op &op) {
    const hip::KeepCurrentDevice keep(context.device);
    load_every(context, op);
}

// Calls use(const Op &) with the op, or where the member is 0 with each of these values.
template <class Use>
void for_each_of(Op op, u64 Op::*member, std::initializer_list<u64> values, const Use &use) {
    if (op.*member > 0)
        return use(op);
    for (const u64 value : values) {
        op.*member = value;
        use(op);
    }
}

// Where the member is 0, each kernel that an op with this value in its place may get.
void prepare_any(nw_context &context, Op op, u64 Op::*member, u64 any) {
    if (op.*member > 0)
        return prepare_this(context, op);
    op.*member = any;
    prepare_every(context, op);
}

// The default kernel of another op that the caller launches beside this one.
template <class Set> void prepare_also(nw_context &context, Op op, OpKind kind, const Set &set) {
    const hip::KeepCurrentDevice keep(context.device);
    op.kind = kind;
    set(op);
    load_default(context, op);
}

} // namespace

} // namespace nw::api

#include "faces.inc"
