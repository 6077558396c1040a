// SPDX-License-Identifier: MIT
#include "sim/func/hidden_args.h"

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
    };
    for (const auto &row : values)
        if (row.kind == kind)
            return row.value;
    return 0;
}

} // namespace nw::sim
