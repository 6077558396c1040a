// SPDX-License-Identifier: MIT
// Instructions of gfx10 that gfx11 has under another name: the tables know the newer one.
#pragma once
#include <string_view>

namespace nw::sim {

// "ds_load_b128" of "ds_read_b128", "global_load_b64" of "global_load_dwordx2", "s_and_not1_b32"
// of "s_andn2_b32"; the same for what has kept its name.
std::string_view name_since_gfx11(std::string_view mnemonic);

} // namespace nw::sim
