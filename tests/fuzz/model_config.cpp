// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/error.h"
#include "formats/claims/python_json.h"
#include "formats/layers/source_layers.h"
#include "formats/quantize/orientation.h"
#include "fuzz/targets.h"

using namespace nw;
namespace fs = std::filesystem;

namespace {

// A folder with a GPTQ layer, an MLX layer and one of e2m1; it goes with the process.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "nw-fuzz-XXXXXX").string();
        if (!mkdtemp(name.data()))
            throw std::runtime_error("no temporary folder");
        path = name;
        const std::string layer = "model.layers.0.mlp.";
        std::string header = "{", data;
        const auto add = [&](const std::string &tensor, const char *dtype, const char *shape,
                             size_t bytes) {
            header += (data.empty() ? "\"" : ",\"") + layer + tensor + "\":{\"dtype\":\"" + dtype +
                      "\",\"shape\":" + shape + ",\"data_offsets\":[" +
                      std::to_string(data.size()) + "," + std::to_string(data.size() + bytes) +
                      "]}";
            data += std::string(bytes, '\x77');
        };
        add("down_proj.qweight", "I32", "[8,8]", 256);
        add("down_proj.qzeros", "I32", "[2,1]", 8);
        add("down_proj.scales", "F16", "[2,8]", 32);
        add("up_proj.weight", "U32", "[4,8]", 128);
        add("up_proj.scales", "F16", "[4,1]", 8);
        add("up_proj.biases", "F16", "[4,1]", 8);
        add("gate_proj.weight", "F4", "[4,32]", 64);
        add("gate_proj.weight_scale", "U8", "[4,1]", 4);
        header += "}";
        const u64 size = header.size();
        std::ofstream file(path / "model.safetensors", std::ios::binary);
        file.write(reinterpret_cast<const char *>(&size), sizeof size);
        file << header << data;
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder &) = delete;
    fs::path path;
};

} // namespace

void nw::fuzz::model_config(Input text) {
    static const Folder folder;
    std::ofstream(folder.path / "config.json", std::ios::binary)
        .write(reinterpret_cast<const char *>(text.data()),
               static_cast<std::streamsize>(text.size()));
    try {
        const Checkpoint checkpoint(folder.path);
        model_shape(checkpoint.config());
        parse_python_json(python_json_text(checkpoint.config()), "what was written");
        read_layers(checkpoint);
    } catch (const Error &) {
    }
}
