// SPDX-License-Identifier: MIT
#include "formats/packed/linear_shapes.h"

#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/split.h"

namespace nw {

namespace {

constexpr std::string_view header = "model,layer,N,K,count,kind,experts,topk";

bool number(const std::string &text, u32 &value, u32 least = 1) {
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end && value >= least;
}

} // namespace

std::vector<LinearShape> read_shapes(const std::filesystem::path &path) {
    std::ifstream in(path);
    if (!in)
        throw Error(fmt::format("{}: can't be read", path.string()));
    std::vector<LinearShape> out;
    bool seen_header = false;
    u32 line_number = 0;
    for (std::string line; std::getline(in, line);) {
        ++line_number;
        if (line.empty() || line[0] == '#')
            continue;
        if (!std::exchange(seen_header, true)) {
            if (line != header)
                throw Error(
                    fmt::format("{}:{}: header must be {}", path.string(), line_number, header));
            continue;
        }
        const std::vector<std::string> cell = split(line, ',');
        LinearShape shape;
        if (cell.size() != 8 || !number(cell[2], shape.n) || !number(cell[3], shape.k) ||
            !number(cell[4], shape.count, 0) ||
            (cell[5] == "moe" ? !number(cell[6], shape.experts) || !number(cell[7], shape.top_k)
                              : cell[5] != "dense"))
            throw Error(fmt::format("{}:{}: '{}' is not a row of {}", path.string(), line_number,
                                    line, header));
        if (shape.top_k > shape.experts)
            throw Error(fmt::format("{}:{}: topk = {}: must be at most experts = {}", path.string(),
                                    line_number, shape.top_k, shape.experts));
        shape.model = cell[0];
        shape.layer = cell[1];
        shape.moe = cell[5] == "moe";
        out.push_back(shape);
    }
    return out;
}

} // namespace nw
