// SPDX-License-Identifier: MIT
// nw atlas --rocprof: a card's kernel trace, joined with the facts of the code objects.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace nw::cli {

struct AtlasTraceOptions {
    std::string trace; // rocprofv3's CSV
    std::string hsaco; // the directory of manifest.json, or of one gfx in it; empty: of the build
    std::string gfx;   // empty: the one there is
    std::string part;  // of the card; empty: not known
};

// A row for each kernel, longest total time first.
std::vector<nlohmann::ordered_json> atlas_rocprof(const AtlasTraceOptions &);

} // namespace nw::cli
