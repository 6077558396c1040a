// SPDX-License-Identifier: MIT
#include "formats/safetensors/checkpoint.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/error.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr u32 index_depth = 32;

Json json_file(const fs::path &path) {
    const MappedFile file(path);
    const auto text = reinterpret_cast<const char *>(file.bytes().data());
    return parse_json({text, file.bytes().size()}, path.string(), index_depth);
}

std::vector<fs::path> files_ending(const fs::path &folder, std::string_view end) {
    std::vector<fs::path> found;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder))
        if (entry.path().filename().string().ends_with(end))
            found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

// {shard: names of its tensors}
std::map<std::string, std::vector<std::string>> shards_of(const Json &index, const fs::path &path) {
    const auto weights = index.find("weight_map");
    if (weights == index.end() || !weights->is_object())
        throw Error(path.string() + ": has no object \"weight_map\" from tensors to files");
    std::map<std::string, std::vector<std::string>> shards;
    for (const auto &[tensor, shard] : weights->items()) {
        if (!shard.is_string())
            throw Error(fmt::format("{}: weight_map {}: is not a file name", path.string(),
                                    in_quotes(tensor)));
        const std::string name = shard.get<std::string>();
        if (name.empty() || fs::path(name).filename() != name || name == "." || name == "..")
            throw Error(
                fmt::format("{}: weight_map {}: {} is not the name of a file next to the index",
                            path.string(), in_quotes(tensor), in_quotes(name)));
        shards[name].push_back(tensor);
    }
    return shards;
}

} // namespace

Checkpoint::Checkpoint(const fs::path &path) : path_(path) {
    std::error_code none;
    const bool folder = fs::is_directory(path, none);
    if (folder)
        open_folder();
    else
        add_all_of(files_.emplace_back(path));
    const fs::path place = folder ? path : path.has_parent_path() ? path.parent_path() : ".";
    read_names(place);
    quantization_ = QuantizationConfig(place);
}

void Checkpoint::open_folder() {
    const auto indices = files_ending(path_, ".safetensors.index.json");
    if (indices.size() > 1)
        throw Error(fmt::format("{}: holds {} index files ({}, {}, ...); keep one", path_.string(),
                                indices.size(), indices[0].filename().string(),
                                indices[1].filename().string()));
    if (!indices.empty())
        return open_index(indices.front());
    const auto files = files_ending(path_, ".safetensors");
    if (files.empty())
        throw Error(fmt::format("{}: holds no .safetensors file", path_.string()));
    if (files.size() > 1)
        throw Error(fmt::format("{}: holds {} .safetensors files and no index; fetch "
                                "model.safetensors.index.json, or name one file",
                                path_.string(), files.size()));
    add_all_of(files_.emplace_back(files.front()));
}

void Checkpoint::open_index(const fs::path &path) {
    const Json index = json_file(path);
    if (!index.is_object())
        throw Error(path.string() + ": is not a JSON object");
    for (const auto &[shard, names] : shards_of(index, path)) {
        if (!fs::exists(path_ / shard))
            throw Error(
                fmt::format("{}: the shard {} is missing; by {} it holds {} and {} other tensors",
                            path_.string(), shard, path.filename().string(),
                            in_quotes(names.front()), names.size() - 1));
        const SafetensorsFile &file = files_.emplace_back(path_ / shard);
        std::unordered_map<std::string, const Tensor *> held;
        for (const Tensor &t : file.tensors())
            held[t.name] = &t;
        for (const std::string &name : names) {
            const auto found = held.find(name);
            if (found == held.end())
                throw Error(fmt::format("{}: does not contain {}, which {} lists",
                                        file.path().string(), in_quotes(name),
                                        path.filename().string()));
            by_name_[name] = found->second;
        }
    }
    if (files_.empty())
        throw Error(path.string() + ": weight_map names no tensor");
}

void Checkpoint::add_all_of(const SafetensorsFile &file) {
    for (const Tensor &t : file.tensors())
        by_name_[t.name] = &t;
}

void Checkpoint::read_names(const fs::path &folder) {
    for (const auto &[name, tensor] : by_name_)
        all_names_.push_back(name);
    const std::string file = files_.front().path().filename().string();
    if (fs::is_directory(path_))
        return;
    try {
        for (const fs::path &path : files_ending(folder, ".safetensors.index.json"))
            if (const auto shards = shards_of(json_file(path), path); shards.contains(file))
                for (const auto &[shard, names] : shards)
                    all_names_.insert(all_names_.end(), names.begin(), names.end());
    } catch (const std::exception &) { // the file is readable without an index
    }
}

std::vector<const Tensor *> Checkpoint::tensors() const {
    std::vector<const Tensor *> out;
    for (const SafetensorsFile &file : files_)
        for (const Tensor &t : file.tensors())
            if (find(t.name) == &t) // the index may omit some
                out.push_back(&t);
    return out;
}

const Tensor *Checkpoint::find(const std::string &name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
}

} // namespace nw
