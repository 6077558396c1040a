// SPDX-License-Identifier: MIT
#include "formats/claims/python_json.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "formats/files/mapped_file.h"
#include "formats/safetensors/json.h"

namespace nw {

using Json = nlohmann::json;

namespace {

constexpr u32 config_depth = 64;

// A number that JSON has no text for, as a string that no file has: it begins with U+0000.
struct Spelling {
    std::string_view python, json; // json: within quotes
    f64 value;
};
constexpr f64 infinity = std::numeric_limits<f64>::infinity();
constexpr Spelling spellings[] = {{"-Infinity", "\\u0000-Infinity", -infinity},
                                  {"Infinity", "\\u0000Infinity", infinity},
                                  {"NaN", "\\u0000NaN", std::numeric_limits<f64>::quiet_NaN()}};

bool of_number(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// The text with such numbers in quotes.
std::string in_plain_json(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool quoted = false;
    for (size_t i = 0; i < text.size();) {
        const auto put = [&](size_t count) {
            out += text.substr(i, count);
            i += count;
        };
        const auto spell = [&](const Spelling &s, size_t count) {
            out += '"' + std::string(s.json) + '"';
            i += count;
        };
        if (quoted || text[i] == '"') {
            if (text[i] == '"')
                quoted = !quoted;
            put(text[i] == '\\' ? 2 : 1);
            continue;
        }
        const Spelling *named = nullptr;
        for (const Spelling &s : spellings)
            if (!named && text.substr(i).starts_with(s.python))
                named = &s;
        if (named) {
            spell(*named, named->python.size());
            continue;
        }
        size_t count = 0;
        while (i + count < text.size() && of_number(text[i + count]))
            ++count;
        const std::string number(text.substr(i, count));
        if (const f64 value = count ? std::strtod(number.c_str(), nullptr) : 0; std::isinf(value))
            spell(spellings[value > 0], count);
        else
            put(std::max<size_t>(count, 1));
    }
    return out;
}

// Applies `change` to every value that is no object and no array.
template <class Change> void each_leaf(Json &value, const Change &change) {
    if (value.is_structured())
        for (Json &part : value)
            each_leaf(part, change);
    else
        change(value);
}

} // namespace

Json parse_python_json(std::string_view text, const std::string &what) {
    Json out = parse_json(in_plain_json(text), what, config_depth, RepeatedKeys::last_counts);
    each_leaf(out, [](Json &leaf) {
        for (const Spelling &s : spellings)
            if (leaf.is_string() &&
                leaf.get_ref<const std::string &>() == std::string(1, '\0') + std::string(s.python))
                return void(leaf = s.value);
    });
    return out;
}

Json python_json_file(const std::filesystem::path &path) {
    const MappedFile file(path);
    const auto text = reinterpret_cast<const char *>(file.bytes().data());
    return parse_python_json({text, file.bytes().size()}, path.string());
}

std::string python_json_text(Json value) {
    each_leaf(value, [](Json &leaf) {
        if (!leaf.is_number_float() || std::isfinite(leaf.get<f64>()))
            return;
        const f64 number = leaf.get<f64>();
        const Spelling &s = spellings[std::isnan(number) ? 2 : number > 0];
        leaf = std::string(1, '\0') + std::string(s.python);
    });
    std::string out = value.dump(2, ' ', false, Json::error_handler_t::replace);
    for (const Spelling &s : spellings) {
        const std::string quoted = '"' + std::string(s.json) + '"';
        for (size_t at = 0; (at = out.find(quoted, at)) != out.npos; at += s.python.size())
            out.replace(at, quoted.size(), s.python);
    }
    return out + "\n";
}

} // namespace nw
