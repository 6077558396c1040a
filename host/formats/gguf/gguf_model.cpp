// SPDX-License-Identifier: MIT
#include "formats/gguf/gguf_model.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace fs = std::filesystem;

namespace {

constexpr u64 most_files = 99'999; // names have five digits

// NAME-00001-of-00003.gguf
std::string split_name(std::string_view prefix, u64 number, u64 count) {
    return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, number + 1, count);
}

std::optional<u64> number_of(const GgufFile &file, std::string_view key) {
    const GgufValue *value = file.contents().find(key);
    if (!value)
        return std::nullopt;
    const auto number = unsigned_number(*value);
    if (!number)
        throw Error(fmt::format("{}: {} is of type {}: must be a non-negative integer",
                                file.path().string(), key, name(value->type)));
    return number;
}

u64 files_of(const GgufFile &file) {
    const u64 count = number_of(file, "split.count").value_or(1);
    if (count > most_files)
        throw Error(fmt::format("{}: split.count is {}: a model has {} files at most",
                                file.path().string(), count, most_files));
    return std::max<u64>(count, 1); // some writers store 0 for a file that isn't split
}

// Checks the files of one model: each stores its number and the total.
void check_split(const GgufFile &file, u64 number, u64 count) {
    const u64 says = number_of(file, "split.no").value_or(0), of = files_of(file);
    if (says != number || of != count)
        throw Error(fmt::format("{}: is file {} of {} by split.no and split.count, but {} of {} by "
                                "its name; restore its name",
                                file.path().string(), says + 1, of, number + 1, count));
}

} // namespace

GgufModel::GgufModel(const fs::path &path) : path_(path) {
    GgufFile named(path);
    const u64 count = files_of(named);
    if (count == 1)
        files_.push_back(std::move(named));
    else
        open_split(std::move(named), count);
    check_tensors();
}

void GgufModel::open_split(GgufFile &&named, u64 count) {
    const std::string name = path_.filename().string();
    const u64 number = number_of(named, "split.no").value_or(0);
    const std::string end = split_name("", number, count);
    if (number >= count || name.size() <= end.size() || !name.ends_with(end))
        throw Error(fmt::format("{}: is file {} of {} by split.no and split.count: must be called "
                                "NAME{}, the others likewise",
                                path_.string(), number + 1, count, end));
    const std::string prefix = name.substr(0, name.size() - end.size());
    for (u64 i = 0; i < count; ++i) {
        const fs::path part = path_.parent_path() / split_name(prefix, i, count);
        std::error_code none;
        if (i != number && !fs::exists(part, none))
            throw Error(
                fmt::format("{}: is missing; {} is one of {} files, which must be in one directory",
                            part.string(), name, count));
        if (i == number)
            files_.push_back(std::move(named));
        else
            check_split(files_.emplace_back(part), i, count);
    }
}

void GgufModel::check_tensors() const {
    std::vector<const GgufTensor *> all = tensors();
    const GgufFile &file = files_.front();
    const auto says = number_of(file, "split.tensors.count");
    if (files_.size() > 1 && says && *says != all.size())
        throw Error(fmt::format("{}: split.tensors.count is {}, but the {} files have {} tensors; "
                                "fetch all files of one version",
                                file.path().string(), *says, files_.size(), all.size()));
    const auto name = [](const GgufTensor *t) { return t->name; };
    std::ranges::sort(all, {}, name);
    if (const auto twice = std::ranges::adjacent_find(all, {}, name); twice != all.end())
        throw Error(fmt::format("{}: the tensor {} is in two of the model's files", path_.string(),
                                in_quotes((*twice)->name)));
}

std::string_view GgufModel::architecture() const {
    const GgufValue *value = first().find("general.architecture");
    return value && value->type == GgufType::string ? text(*value) : std::string_view();
}

std::vector<const GgufTensor *> GgufModel::tensors() const {
    std::vector<const GgufTensor *> out;
    for (const GgufFile &file : files_)
        for (const GgufTensor &t : file.contents().tensors)
            out.push_back(&t);
    return out;
}

const GgufTensor *GgufModel::find(std::string_view name) const {
    for (const GgufFile &file : files_)
        for (const GgufTensor &t : file.contents().tensors)
            if (t.name == name)
                return &t;
    return nullptr;
}

} // namespace nw
