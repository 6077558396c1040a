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
    std::string listed;
    for (const Enumerator &one : known) {
        if (one.value == value)
            return one.word;
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

void prepare_this(nw_context &context, const Op &op) {
    const hip::KeepCurrentDevice keep(context.device);
    load(context, op);
}

// Every kernel that an op with these words may get, and those that run before it: sizes are any.
void prepare_every(nw_context &context, const Op &op) {
    const hip::KeepCurrentDevice keep(context.device);
    const auto kernels = meaning(NW_UNSUPPORTED, [&] {
        check_shape(op);
        return kernels_for(context.machine.target->name, op);
    });
    for (const Kernel *kernel : kernels)
        plan(op, *kernel, context.machine).each_kernel([&](const Kernel &k) { load(context, k); });
    load(context, op); // NIBBLEWAVE_FORCE may name one that is never chosen
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
