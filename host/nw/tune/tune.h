// SPDX-License-Identifier: MIT
// The tables of gen/tuning that nw tune can write.
#pragma once
#include <string_view>

namespace nw::cli {

inline constexpr std::string_view few_rows_table = "decode_w4a16",
                                  many_rows_table = "prefill_w4a16", gguf_table = "gguf";

} // namespace nw::cli
