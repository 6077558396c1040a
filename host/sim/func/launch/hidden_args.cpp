// SPDX-License-Identifier: MIT
#include "sim/func/launch/hidden_args.h"

#include <cstring>
#include <fmt/format.h>

#include "sim/func/memory/access.h"

namespace nw::sim {

u64 hidden_value(std::string_view kind, const Dispatch &dispatch) {
    const auto grid_dims = [&] {
        return dispatch.grid.z > 1 || dispatch.block.z > 1   ? 3u
               : dispatch.grid.y > 1 || dispatch.block.y > 1 ? 2u
                                                             : 1u;
    };
    const struct {
        std::string_view kind;
        u64 value;
    } values[] = {
        {"hidden_block_count_x", dispatch.grid.x},
        {"hidden_block_count_y", dispatch.grid.y},
        {"hidden_block_count_z", dispatch.grid.z},
        {"hidden_group_size_x", dispatch.block.x},
        {"hidden_group_size_y", dispatch.block.y},
        {"hidden_group_size_z", dispatch.block.z},
        {"hidden_grid_dims", grid_dims()},
        {"hidden_dynamic_lds_size", dispatch.dynamic_lds},
        {"hidden_private_base", private_aperture},
        {"hidden_shared_base", shared_aperture},
        {"hidden_queue_ptr", dispatch.queue},
        {"hidden_multigrid_sync_arg", dispatch.grid_sync},
    };
    for (const auto &row : values)
        if (row.kind == kind)
            return row.value;
    return 0;
}

std::string null_services(const Dispatch &dispatch) {
    const struct {
        std::string_view kind, why;
    } pointers[] = {
        {"hidden_printf_buffer", "no printf buffer"},
        {"hidden_hostcall_buffer", "no hostcall"},
        {"hidden_multigrid_sync_arg", "not a cooperative launch"},
        {"hidden_heap_v1", "no device heap"},
        {"hidden_default_queue", "device-side enqueue is not simulated"},
        {"hidden_completion_action", "device-side enqueue is not simulated"},
        {"hidden_queue_ptr", "no queue"},
    };
    std::string names;
    for (const Arg &arg : dispatch.kernel->args)
        for (const auto &[kind, why] : pointers) {
            u64 value = 0;
            if (arg.value_kind != kind || u64{arg.offset} + 8 > dispatch.kernarg.size())
                continue;
            std::memcpy(&value, dispatch.kernarg.data() + arg.offset, sizeof value);
            if (value == 0)
                names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", kind, why);
        }
    return names;
}

} // namespace nw::sim
