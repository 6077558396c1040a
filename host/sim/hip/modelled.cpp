// SPDX-License-Identifier: MIT
// What actions take of modelled time.
#include "sim/hip/action.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

using sim::timing::Command, sim::timing::Path;

static bool on_device(const Copy::Side &side) {
    const auto block = runtime().blocks.find(side.at);
    return block && block->kind != Block::Kind::host && block->kind != Block::Kind::managed;
}

static Path path_of(const Copy &copy) {
    const bool to = on_device(copy.to), from = on_device(copy.from);
    if (to && from)
        return Path::within;
    return to ? Path::to_device : from ? Path::to_host : Path::host;
}

static void plan(Command &command, const sim::timing::Part &part, Path path, u64 bytes) {
    if (path == Path::host) // no engine of the device moves it
        return;
    const bool shaders = path == Path::within || path == Path::fill;
    command.kind = shaders ? Command::Kind::kernel : Command::Kind::copy;
    command.work = transfer(part, path, bytes);
}

sim::timing::Commands commands_of(const Device &device, const Action &action) {
    if (!device.timing)
        return {};
    const auto command = std::make_shared<Command>();
    const sim::timing::Part &part = device.timing->part();
    if (const auto *call = std::get_if<KernelCall>(&action)) {
        command->kind = Command::Kind::kernel;
        command->known = false;
        command->any_order = call->shape.any_order;
    } else if (const auto *copy = std::get_if<Copy>(&action)) {
        plan(*command, part, path_of(*copy), copy->width * copy->height * copy->depth);
    } else if (const auto *fill = std::get_if<Fill>(&action)) {
        plan(*command, part, Path::fill, fill->element * fill->width * fill->height * fill->depth);
    }
    command->waits_for_host = std::holds_alternative<HostCall>(action);
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
