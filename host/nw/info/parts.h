// SPDX-License-Identifier: MIT
// Text of `nw info` that `nw diff` shares.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "nw/info/info.h"

namespace nw::cli {

nlohmann::ordered_json mix_json(const lint::Work &); // by class, and "total"
nlohmann::ordered_json occupancy_json(const lint::Occupancy &);
nlohmann::ordered_json cycles_json(const UnitCycles &, f64 waves);
nlohmann::ordered_json summary_json(const Info &); // registers, live peak, occupancy, mix, bytes

std::string mix_text(const lint::Work &);   // "valu 12, lds 3": what isn't zero
std::string bytes_text(const lint::Work &); // "global 512 B read; LDS 4 KiB read, 1 KiB written"
std::string occupancy_text(const Info &);   // with what limits it, and the next steps
std::string size_text(f64 bytes);           // "4 KiB"

} // namespace nw::cli
