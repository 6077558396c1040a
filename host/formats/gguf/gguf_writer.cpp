// SPDX-License-Identifier: MIT
#include "formats/gguf/gguf_writer.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <set>

#include "base/error.h"
#include "formats/gguf/gguf_types.h"
#include "formats/gguf/gguf_values.h"
#include "formats/safetensors/json.h"
#include "formats/safetensors/safetensors.h"

namespace nw {

namespace {

constexpr u64 gguf_alignment = 32; // the default: no general.alignment is needed
constexpr u32 gguf_version = 3;
constexpr size_t longest_name = 63;   // ggml's GGML_MAX_NAME has a zero at the end
constexpr size_t gguf_dimensions = 4; // at most

class HeaderBytes {
public:
    template <class T> void number(T value) {
        text_.append(reinterpret_cast<const char *>(&value), sizeof value);
    }
    void raw(std::string_view text) { text_ += text; }
    void string(std::string_view text) {
        number<u64>(text.size());
        raw(text);
    }
    void pad() { text_.resize(round_up<u64>(text_.size(), gguf_alignment)); }
    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(text_)); }

private:
    std::string text_;
};

const GgmlTypeInfo &type_of(const TensorSpec &t, const std::string &what) {
    const GgmlTypeInfo *type = find_ggml_type(t.dtype);
    if (!type)
        throw Error(fmt::format("{}: ggml has no type {}", what, t.dtype));
    if (t.shape.size() > gguf_dimensions)
        throw Error(fmt::format("{}: has the shape {}; GGUF allows {} dimensions", what,
                                shape_text(t.shape), gguf_dimensions));
    const u64 row = t.shape.empty() ? 1 : t.shape.back();
    if (row % type->elements)
        throw Error(fmt::format("{}: has rows of {} elements; {} has blocks of {}, and a row is a "
                                "whole number of blocks",
                                what, row, type->name, type->elements));
    if (t.name.size() > longest_name)
        throw Error(fmt::format("{}: the name has {} bytes; ggml reads at most {}: rename it", what,
                                t.name.size(), longest_name));
    return *type;
}

u64 ggml_bytes(const TensorSpec &t, const GgmlTypeInfo &type) {
    u64 elements = 1;
    for (u64 size : t.shape)
        elements *= size;
    return elements / type.elements * type.bytes;
}

} // namespace

TensorWriter gguf_writer(const std::filesystem::path &path, const std::vector<TensorSpec> &tensors,
                         const std::vector<GgufNumber> &metadata) {
    HeaderBytes head;
    head.raw("GGUF");
    head.number(gguf_version);
    head.number<u64>(tensors.size());
    head.number<u64>(metadata.size());
    for (const GgufNumber &entry : metadata) {
        head.string(entry.key);
        head.number(static_cast<u32>(GgufType::u32));
        head.number(entry.value);
    }
    std::vector<FileRange> places;
    std::set<std::string_view> names;
    u64 at = 0;
    for (const TensorSpec &t : tensors) {
        const std::string what = fmt::format("{}: tensor {}", path.string(), in_quotes(t.name));
        if (!names.insert(t.name).second)
            throw Error(what + ": the name exists already");
        const GgmlTypeInfo &type = type_of(t, what);
        head.string(t.name);
        head.number<u32>(static_cast<u32>(std::max<size_t>(t.shape.size(), 1)));
        if (t.shape.empty()) // a scalar
            head.number<u64>(1);
        for (auto size = t.shape.rbegin(); size != t.shape.rend(); ++size)
            head.number<u64>(*size);
        head.number(static_cast<u32>(type.id));
        head.number<u64>(at);
        places.push_back({at, at + ggml_bytes(t, type)});
        at = round_up(places.back().end, gguf_alignment); // also the last: ggml reads the padding
    }
    head.pad();
    const u64 data = head.bytes().size();
    for (FileRange &place : places)
        place = {place.begin + data, place.end + data};
    return TensorWriter(path, head.bytes(), std::move(places), data + at);
}

} // namespace nw
