// SPDX-License-Identifier: MIT
#include "sim/isa/image/metadata.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nw::sim {

namespace {

using nlohmann::json;

u32 number(const json &map, const char *key, u32 otherwise) {
    auto it = map.find(key);
    if (it == map.end() || !it->is_number_integer())
        return otherwise;
    auto value = it->get<i64>();
    return value >= 0 && value <= 0xffffffff ? static_cast<u32>(value) : otherwise;
}

std::string text(const json &map, const char *key) {
    auto it = map.find(key);
    return it != map.end() && it->is_string() ? it->get<std::string>() : std::string();
}

Arg read_arg(const json &map) {
    return {text(map, ".name"), number(map, ".offset", 0), number(map, ".size", 0),
            text(map, ".value_kind")};
}

KernelInfo read_kernel(const json &map) {
    KernelInfo k;
    k.name =
        text(map, ".symbol"); // "name.kd": the symbol is unique, `.name` may be a demangled one
    if (k.name.ends_with(".kd"))
        k.name.resize(k.name.size() - 3);
    k.kernarg_bytes = number(map, ".kernarg_segment_size", 0);
    k.lds_bytes = number(map, ".group_segment_fixed_size", 0);
    k.scratch_bytes = number(map, ".private_segment_fixed_size", 0);
    k.max_workgroup = number(map, ".max_flat_workgroup_size", 1024);
    k.metadata_wave_size = number(map, ".wavefront_size", 0);
    k.sgprs = number(map, ".sgpr_count", 0);
    k.vgprs = number(map, ".vgpr_count", 0);
    k.has_metadata = true;
    if (auto args = map.find(".args"); args != map.end() && args->is_array())
        for (const json &arg : *args)
            if (arg.is_object())
                k.args.push_back(read_arg(arg));
    return k;
}

// json's own readers recurse: this check runs first and limits the depth.
class DepthLimit : public nlohmann::json_sax<json> {
public:
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t &) override { return true; }
    bool string(string_t &) override { return true; }
    bool binary(binary_t &) override { return true; }
    bool key(string_t &) override { return true; }
    bool start_object(size_t) override { return ++depth_ <= most; }
    bool start_array(size_t) override { return ++depth_ <= most; }
    bool end_object() override { return --depth_, true; }
    bool end_array() override { return --depth_, true; }
    bool parse_error(size_t, const std::string &, const nlohmann::detail::exception &) override {
        return false;
    }

private:
    static constexpr int most = 64; // real ones: 5
    int depth_ = 0;
};

json parse(std::span<const std::byte> msgpack) {
    auto first = reinterpret_cast<const u8 *>(msgpack.data());
    auto last = first + msgpack.size();
    DepthLimit limit;
    json root;
    if (json::sax_parse(first, last, &limit, json::input_format_t::msgpack))
        root = json::from_msgpack(first, last, true, false);
    if (!root.is_object())
        throw BadImage(fmt::format("the AMDGPU metadata note ({} bytes) is not a msgpack map",
                                   msgpack.size()));
    return root;
}

} // namespace

std::vector<KernelInfo> read_metadata(std::span<const std::byte> msgpack) {
    if (msgpack.empty())
        return {};
    const json root = parse(msgpack);
    std::vector<KernelInfo> kernels;
    if (auto list = root.find("amdhsa.kernels"); list != root.end() && list->is_array())
        for (const json &kernel : *list)
            if (kernel.is_object())
                kernels.push_back(read_kernel(kernel));
    return kernels;
}

std::vector<std::string> read_printf_formats(std::span<const std::byte> msgpack) {
    if (msgpack.empty())
        return {};
    const json root = parse(msgpack);
    std::vector<std::string> formats;
    if (auto list = root.find("amdhsa.printf"); list != root.end() && list->is_array())
        for (const json &format : *list)
            if (format.is_string())
                formats.push_back(format.get<std::string>());
    return formats;
}

} // namespace nw::sim
