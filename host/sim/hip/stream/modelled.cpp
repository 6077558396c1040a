// SPDX-License-Identifier: MIT
// Modelled time of actions.
#include "sim/hip/runtime.h"
#include "sim/hip/stream/action.h"

namespace nw::hipsim {

using sim::timing::Command, sim::timing::Transfer;

static bool on_device(const Copy::Side &side) {
    const auto block = runtime().blocks.find(side.at);
    return block && block->kind != Block::Kind::host && block->kind != Block::Kind::managed;
}

Transfer transfer_of(const Copy &copy) {
    const bool to = on_device(copy.to), from = on_device(copy.from);
    if (to && from)
        return Transfer::within;
    return to ? Transfer::to_device : from ? Transfer::to_host : Transfer::host;
}

static std::string_view name_of(Transfer kind) {
    constexpr std::string_view names[] = {"copy on the host", "copy to the device",
                                          "copy to the host", "copy within the device", "fill"};
    return names[static_cast<size_t>(kind)];
}

static void plan(Command &command, const Device &device, Transfer kind, u64 bytes) {
    const sim::timing::Part &part = device.timing->part();
    if (kind == Transfer::host) // no engine of the device moves it
        return;
    const bool shaders = kind == Transfer::within || kind == Transfer::fill;
    command.kind = shaders ? Command::Kind::kernel : Command::Kind::copy;
    command.work = transfer_work(part, kind, bytes);
    if (LaunchFiles &files = runtime().launch_files; files.wants_commands())
        command.on_end = [&files, &part, kind, ordinal = device.ordinal](const Command &ended) {
            files.ended(ended, name_of(kind), part, ordinal);
        };
}

sim::timing::Commands commands_of(const Device &device, const Action &action) {
    if (!device.timing)
        return {};
    const auto command = std::make_shared<Command>();
    if (const auto *call = std::get_if<KernelCall>(&action)) {
        command->kind = Command::Kind::kernel;
        command->known = false;
        command->any_order = call->shape.any_order;
    } else if (const auto *copy = std::get_if<Copy>(&action)) {
        plan(*command, device, transfer_of(*copy), copy->width * copy->height * copy->depth);
    } else if (const auto *fill = std::get_if<Fill>(&action)) {
        plan(*command, device, Transfer::fill,
             fill->element * fill->width * fill->height * fill->depth);
    }
    command->waits_for_host = waits_for_host(action);
    return {command};
}

sim::timing::Commands waiting_for_host(const Device &device) {
    if (!device.timing)
        return {};
    const auto command = std::make_shared<Command>();
    command->waits_for_host = true;
    return {command};
}

} // namespace nw::hipsim
