// SPDX-License-Identifier: MIT
#include "sim/isa/scope.h"

#include <algorithm>
#include <initializer_list>

#include "sim/isa/tables/memory_ops.h"

namespace nw::sim {

namespace {

struct Scope {
    std::string_view purpose;
    std::initializer_list<std::string_view> prefixes;
};

const Scope scopes[] = {
    {"image: comparisons, offsets, atomics, several samples, rays", {"image_", "ds_bvh_stack"}},
    {"graphics: exports, attributes and the order of pixel waves",
     {"exp", "export", "lds_param_load", "lds_direct_load", "ds_param_load", "ds_direct_load",
      "s_endpgm_ordered_ps_done", "v_interp_p1_", "v_interp_p1l", "v_interp_mov_",
      "v_interp_attribute_"}},
    {"GDS and GWS, which compute kernels are not given",
     {"ds_gws_", "ds_ordered_count", "ds_add_gs_reg", "ds_sub_gs_reg"}},
    {"trap handler or debugger", {"s_rfe_", "s_atc_probe", "s_cbranch_cdbg"}},
};

} // namespace

std::string_view other_purpose(std::string_view mnemonic) {
    if (find_memory_op(mnemonic).access != Access::none) // of images: those that run
        return "";
    for (const Scope &s : scopes)
        if (std::any_of(s.prefixes.begin(), s.prefixes.end(),
                        [&](std::string_view p) { return mnemonic.starts_with(p); }))
            return s.purpose;
    return "";
}

} // namespace nw::sim
