// SPDX-License-Identifier: MIT
// GGUF files for tests, right ones and wrong ones.
#pragma once
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf.h"

namespace nw::test {

// Bytes appended to a file.
class GgufBytes {
public:
    template <class T> GgufBytes &number(T value) { return append(&value, sizeof value); }
    GgufBytes &raw(std::string_view text) { return append(text.data(), text.size()); }
    GgufBytes &raw(const std::vector<std::byte> &more) { return append(more.data(), more.size()); }
    GgufBytes &string(std::string_view text) { return number<u64>(text.size()).raw(text); }
    GgufBytes &array(GgufType element, u64 count) {
        return number(static_cast<u32>(element)).number(count);
    }
    GgufBytes &pad(u64 alignment) {
        bytes_.resize(round_up<u64>(bytes_.size(), alignment));
        return *this;
    }

    u64 size() const { return bytes_.size(); }
    const std::vector<std::byte> &bytes() const { return bytes_; }

private:
    GgufBytes &append(const void *from, size_t size) {
        const size_t end = bytes_.size();
        bytes_.resize(end + size);
        if (size)
            std::memcpy(bytes_.data() + end, from, size);
        return *this;
    }

    std::vector<std::byte> bytes_;
};

// Contents of a file; any field may be wrong.
struct GgufWriter {
    u32 version = 3;
    u64 alignment = 32; // of the written data; the key is set by the caller
    GgufBytes metadata, infos, data;
    u64 entries = 0, tensors = 0;
    u64 more_entries = 0, more_tensors = 0; // that the header lies about
    std::string magic = "GGUF";

    template <class Write> GgufWriter &entry(std::string_view key, u32 type, Write &&write) {
        metadata.string(key).number(type);
        write(metadata);
        ++entries;
        return *this;
    }
    template <class T> GgufWriter &number(std::string_view key, GgufType type, T value) {
        return entry(key, static_cast<u32>(type), [&](GgufBytes &b) { b.number(value); });
    }
    GgufWriter &text(std::string_view key, std::string_view value) {
        return entry(key, static_cast<u32>(GgufType::string),
                     [&](GgufBytes &b) { b.string(value); });
    }
    template <class Write>
    GgufWriter &array(std::string_view key, GgufType element, u64 count, Write &&write) {
        return entry(key, static_cast<u32>(GgufType::array), [&](GgufBytes &b) {
            b.array(element, count);
            write(b);
        });
    }
    // Only the tensor's description.
    GgufWriter &info(std::string_view name, std::initializer_list<u64> shape, u32 type,
                     u64 offset) {
        infos.string(name).number(static_cast<u32>(shape.size()));
        for (u64 size : shape)
            infos.number(size);
        infos.number(type).number(offset);
        ++tensors;
        return *this;
    }
    // Behind the last one; its bytes count from `first`.
    GgufWriter &tensor(std::string_view name, std::initializer_list<u64> shape, u32 type, u64 bytes,
                       u8 first = 0) {
        data.pad(alignment);
        info(name, shape, type, data.size());
        for (u64 i = 0; i < bytes; ++i)
            data.number(static_cast<u8>(first + i));
        return *this;
    }

    std::vector<std::byte> file() const {
        GgufBytes out;
        out.raw(magic).number(version);
        out.number(tensors + more_tensors).number(entries + more_entries);
        out.raw(metadata.bytes()).raw(infos.bytes()).pad(alignment).raw(data.bytes());
        return out.bytes();
    }
    void write(const std::string &path) const {
        const auto bytes = file();
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char *>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
};

} // namespace nw::test
