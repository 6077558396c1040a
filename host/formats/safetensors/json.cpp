// SPDX-License-Identifier: MIT
#include "formats/safetensors/json.h"

#include <fmt/format.h>
#include <set>
#include <vector>

#include "base/error.h"

namespace nw {

using Json = nlohmann::json;

std::string in_quotes(std::string_view name) {
    constexpr size_t most = 200;
    const bool cut = name.size() > most;
    return Json(name.substr(0, most)).dump(-1, ' ', true, Json::error_handler_t::replace) +
           (cut ? "..." : "");
}

Json parse_json(std::string_view text, const std::string &what, u32 deepest,
                RepeatedKeys repeated) {
    std::vector<std::set<std::string>> open; // keys of each object, or nothing for an array
    const auto watch = [&](int, Json::parse_event_t event, Json &value) {
        switch (event) {
        case Json::parse_event_t::object_start:
        case Json::parse_event_t::array_start:
            if (open.size() == deepest)
                throw Error(fmt::format("{}: nests deeper than {} levels", what, deepest));
            open.emplace_back();
            break;
        case Json::parse_event_t::object_end:
        case Json::parse_event_t::array_end:
            open.pop_back();
            break;
        case Json::parse_event_t::key:
            if (repeated == RepeatedKeys::refused &&
                !open.back().insert(value.get<std::string>()).second)
                throw Error(fmt::format("{}: has the key {} twice", what,
                                        in_quotes(value.get_ref<const std::string &>())));
            break;
        case Json::parse_event_t::value:
            break;
        }
        return true;
    };
    try {
        return Json::parse(text.begin(), text.end(), watch);
    } catch (const Json::exception &e) {
        const std::string_view why = e.what(); // and what was read last, which may be any bytes
        throw Error(
            fmt::format("{}: is not JSON: {}", what, why.substr(0, why.find("; last read"))));
    }
}

} // namespace nw
