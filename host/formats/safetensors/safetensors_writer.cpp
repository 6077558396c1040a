// SPDX-License-Identifier: MIT
#include "formats/safetensors/safetensors_writer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "formats/safetensors/json.h"
#include "formats/safetensors/safetensors.h"

namespace nw {

namespace {

constexpr u64 data_alignment = 64;

} // namespace

TensorWriter safetensors_writer(const std::filesystem::path &path,
                                const std::vector<TensorSpec> &tensors,
                                const std::map<std::string, std::string> &metadata) {
    nlohmann::json header = nlohmann::json::object();
    if (!metadata.empty())
        header["__metadata__"] = metadata;
    std::vector<FileRange> places;
    u64 at = 0;
    for (const TensorSpec &t : tensors) {
        const std::string what = fmt::format("{}: tensor {}", path.string(), in_quotes(t.name));
        if (header.contains(t.name))
            throw Error(what + ": the name exists already");
        const u64 begin = at;
        at += tensor_bytes(what, t.dtype, t.shape);
        places.push_back({begin, at});
        header[t.name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {begin, at}}};
    }

    const std::string text = header.dump();
    const u64 length = round_up<u64>(8 + text.size(), data_alignment) - 8;
    if (length > safetensors_header_limit)
        throw Error(fmt::format("{}: {} tensors need a header of {} bytes, the format allows {}",
                                path.string(), tensors.size(), length, safetensors_header_limit));
    std::string head(reinterpret_cast<const char *>(&length), sizeof length);
    head += text;
    head.resize(8 + length, ' ');
    for (FileRange &place : places)
        place = {place.begin + head.size(), place.end + head.size()};
    return TensorWriter(path, std::as_bytes(std::span(head)), std::move(places), head.size() + at);
}

} // namespace nw
