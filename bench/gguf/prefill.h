// SPDX-License-Identifier: MIT
// Products of 33 rows and more with GGUF weights as the file has them, beside WMMA's peak.
#pragma once
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "bench/shapes.h"

namespace nw::bench {

// Of the suite `gguf`: a row for each of these shapes, each type, and each m of the options that is
// that large, where --only matches; then goals. Printed; as JSON: empty where there is none.
nlohmann::json run_gguf_prefill(const Options &, std::span<const LinearShape *const>,
                                const std::string &gfx);

} // namespace nw::bench
