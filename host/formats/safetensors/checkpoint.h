// SPDX-License-Identifier: MIT
// A model's files: one safetensors file, or a directory with one or with shards and their index.
#pragma once
#include <deque>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "formats/claims/quantization_config.h"
#include "formats/safetensors/safetensors.h"

namespace nw {

class Checkpoint {
public:
    // Throws Error if a file or shard is missing or invalid, or the index contradicts the files.
    explicit Checkpoint(const std::filesystem::path &file_or_folder);

    const std::filesystem::path &path() const { return path_; }
    const std::deque<SafetensorsFile> &files() const { return files_; }
    std::vector<const Tensor *> tensors() const; // file by file, in the order of their bytes
    const Tensor *find(const std::string &name) const;

    // Names of the whole model's tensors: of a shard that is named by itself, also those of the
    // index beside it.
    const std::vector<std::string> &all_names() const { return all_names_; }

    // Claims of the folder's config files, or of those beside a file that is given by itself.
    const QuantizationConfig &quantization() const { return quantization_; }
    const nlohmann::json &config() const { return quantization_.model(); } // config.json, or null

private:
    void open_folder();
    void open_index(const std::filesystem::path &index);
    void add_all_of(const SafetensorsFile &);
    void read_names(const std::filesystem::path &folder);

    std::filesystem::path path_;
    std::deque<SafetensorsFile> files_;
    std::unordered_map<std::string, const Tensor *> by_name_;
    std::vector<std::string> all_names_;
    QuantizationConfig quantization_;
};

} // namespace nw
