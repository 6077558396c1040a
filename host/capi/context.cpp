// SPDX-License-Identifier: MIT
#include "capi/context.h"

namespace nw::api {

void need_product(const nw_context *context, const void *product, const char *type,
                  std::size_t size) {
    need(context, "context is null: nw_context_create makes one");
    need(product, "product is null: it must point to an {}", type);
    const std::size_t said = *static_cast<const std::size_t *>(product); // its first member
    need(said == size,
         "size = {}: must be sizeof({}), {} in this version of the library ({}.{}.{}); begin with "
         "its _INIT, and build against the header of this version",
         said, type, size, NW_VERSION_MAJOR, NW_VERSION_MINOR, NW_VERSION_PATCH);
}

void load(nw_context &context, const Kernel &kernel) {
    meaning(NW_NO_KERNEL_FILES, [&] { context.modules.function(kernel); });
}

namespace {

Plan plan_of(const nw_context &context, const Op &op, bool operands = false) {
    const Family *checked = meaning(NW_INVALID_ARGUMENT, [&] {
        const Family *family = check_shape(op);
        if (const OpContract *contract = operands ? contract_of(op.kind) : nullptr)
            contract->check_operands(op); // names a bad operand rather than a missing kernel
        return family;
    });
    return meaning(NW_UNSUPPORTED, [&] { return plan(op, context.machine, checked); });
}

// load(), but refused where the stream is capturing: loading may allocate, which ends a capture.
void load_for(nw_context &context, const Kernel &kernel, const hip::Stream &stream,
              const char *prepare) {
    if (context.modules.loaded(kernel))
        return;
    if (stream.capturing())
        throw Refusal(NW_NOT_PREPARED,
                      fmt::format("{} is not loaded and the stream is capturing: call {} for this "
                                  "product before capture begins",
                                  kernel.symbol, prepare));
    load(context, kernel);
}

} // namespace

u64 workspace_of(const nw_context &context, const Op &op) {
    return contract_of(op.kind)
               ? (meaning(NW_INVALID_ARGUMENT, [&] { check_shape(op); }),
                  meaning(NW_UNSUPPORTED, [&] { return workspace_for_any(op, context.machine); }))
               : plan_of(context, op).workspace_bytes;
}

void load(nw_context &context, const Op &op) {
    plan_of(context, op).each_kernel([&](const Kernel &kernel) { load(context, kernel); });
}

void load_default(nw_context &context, const Op &op) {
    load(context, meaning(NW_UNSUPPORTED, [&]() -> const Kernel & {
             return cheapest(context.machine.target->name, op);
         }));
}

void load_every(nw_context &context, const Op &op) {
    const OpContract *contract = contract_of(op.kind);
    if (contract && !contract->served_by.empty())
        return load(context, op); // has no kernels of its own
    const auto kernels = meaning(NW_UNSUPPORTED, [&] {
        check_shape(op);
        return kernels_for(context.machine.target->name, op);
    });
    for (const Kernel *kernel : kernels)
        plan(op, *kernel, context.machine).each_kernel([&](const Kernel &k) { load(context, k); });
    load(context, op); // NIBBLEWAVE_FORCE may name one that is never chosen
}

void launch(nw_context &context, const Op &op, void *handle, const char *prepare) {
    const hip::KeepCurrentDevice keep(context.device);
    const auto stream = hip::Stream::borrow(context.device.library(), handle);
    const Plan plan = plan_of(context, op, true);
    meaning(NW_INVALID_ARGUMENT, [&] {
        launch(context.modules, plan, stream,
               [&](const Kernel &kernel) { load_for(context, kernel, stream, prepare); });
    });
}

} // namespace nw::api
