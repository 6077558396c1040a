// SPDX-License-Identifier: MIT
// Instructions of gfx10 that gfx11 renamed: the tables use the newer name.
#pragma once
#include <string_view>

namespace nw::sim {

// "ds_load_b128" for "ds_read_b128", "global_load_b64" for "global_load_dwordx2", "s_and_not1_b32"
// for "s_andn2_b32"; unchanged names map to themselves.
std::string_view name_since_gfx11(std::string_view mnemonic);
// The inverse.
std::string_view name_before_gfx11(std::string_view mnemonic);

} // namespace nw::sim
