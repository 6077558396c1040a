// SPDX-License-Identifier: MIT
#include "decode.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "decode_published.h"

namespace nw::bench {

nlohmann::json run_decode(const Options &o) {
    const nlohmann::json rows = decode_published(only_pattern(o));
    if (rows.empty())
        throw Usage(fmt::format("--only {}: no row of the suite decode has such a name", o.only));
    return rows;
}

} // namespace nw::bench
