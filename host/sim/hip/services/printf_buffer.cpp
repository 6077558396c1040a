// SPDX-License-Identifier: MIT
#include "sim/hip/services/printf_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <span>

#include "sim/hip/services/format.h"

namespace nw::hipsim {

namespace {

// Address space only, until kernels write to it.
constexpr u32 buffer_bytes = u32{1} << 30;

using Bytes = std::span<const std::byte>;

template <class T> T read(Bytes bytes, size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

// HIP's arguments take 8 bytes each, OpenCL's as many as its format's metadata says.
class Fields final : public FormatArguments {
public:
    Fields(Bytes bytes, std::span<const u32> sizes) : bytes_(bytes), sizes_(sizes) {}

    std::optional<std::vector<std::byte>> number() override {
        const auto field = take(8);
        return field.empty() ? std::nullopt
                             : std::optional(std::vector(field.begin(), field.end()));
    }
    std::optional<std::string> text() override {
        if (bytes_.empty())
            return std::nullopt;
        const size_t length = strnlen(reinterpret_cast<const char *>(bytes_.data()), bytes_.size());
        const auto field = take(static_cast<u32>(round_up<size_t>(length + 1, 8)));
        return std::string(reinterpret_cast<const char *>(field.data()),
                           std::min(length, field.size()));
    }

private:
    Bytes take(u32 otherwise) {
        u32 size = otherwise;
        if (!sizes_.empty()) {
            size = sizes_.front();
            sizes_ = sizes_.subspan(1);
        }
        const Bytes field = bytes_.first(std::min<size_t>(size, bytes_.size()));
        bytes_ = bytes_.subspan(field.size());
        return field;
    }

    Bytes bytes_;
    std::span<const u32> sizes_;
};

struct Format {
    std::string text;
    std::vector<u32> sizes; // OpenCL: of the arguments
};

// The formats of a code object, by id (OpenCL) or hash (HIP).
struct Formats {
    bool hip = false;
    std::map<u64, Format> by_key;
};

std::string unescaped(std::string_view text) {
    constexpr std::string_view letters = "abfnrtv\\\"'?", meanings = "\a\b\f\n\r\t\v\\\"'?";
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\' || at + 1 == text.size()) {
            out += text[at];
            continue;
        }
        const char next = text[++at];
        if (const size_t letter = letters.find(next); letter != std::string_view::npos) {
            out += meanings[letter];
            continue;
        }
        unsigned code = 0; // a colon, in octal
        size_t digits = 0;
        for (; digits < 3 && at + digits < text.size() && text[at + digits] >= '0' &&
               text[at + digits] <= '7';
             ++digits)
            code = code * 8 + static_cast<unsigned>(text[at + digits] - '0');
        out += digits ? std::string(1, static_cast<char>(code)) : std::string{'\\', next};
        at += digits ? digits - 1 : 0;
    }
    return out;
}

// The number up to the next colon.
std::optional<u32> number(std::string_view &text) {
    u32 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end == text.data() + text.size() || *end != ':')
        return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
    return value;
}

// "id:count:size:...:format", or "0:0:hash,format" of HIP.
void read_format(std::string_view entry, Formats &formats) {
    const auto id = number(entry);
    const auto count = id ? number(entry) : std::nullopt;
    if (!count)
        return;
    if (*id == 0) {
        u64 hash = 0;
        const auto comma = std::min(entry.find(','), entry.size());
        std::from_chars(entry.data(), entry.data() + comma, hash, 16);
        formats.hip = true;
        formats.by_key[hash] = {std::string(entry.substr(std::min(comma + 1, entry.size()))), {}};
        return;
    }
    Format format;
    for (u32 n = 0; n < *count; ++n) {
        const auto size = number(entry);
        if (!size)
            return;
        format.sizes.push_back(static_cast<u32>(round_up<u64>(*size, 4)));
    }
    format.text = unescaped(entry);
    formats.by_key[*id] = std::move(format);
}

void write(std::FILE *stream, const std::string &text) {
    std::fwrite(text.data(), 1, text.size(), stream);
}

// The next record's size; 0: it is damaged.
size_t print_hip(Bytes rest, const Formats &formats) {
    enum : u32 { to_stderr = 1, constant_format = 2 };
    const u32 control = read<u32>(rest, 0), size = control >> 2;
    if (size < 12 || size > rest.size())
        return 0;
    Bytes fields = rest.subspan(4, size - 4);
    std::string format;
    if (control & constant_format) {
        const auto found = formats.by_key.find(read<u64>(fields, 0));
        if (found == formats.by_key.end())
            return 0;
        format = found->second.text;
        fields = fields.subspan(8);
    } else {
        format.assign(reinterpret_cast<const char *>(fields.data()),
                      strnlen(reinterpret_cast<const char *>(fields.data()), fields.size()));
        fields = fields.subspan(std::min(round_up<size_t>(format.size() + 1, 8), fields.size()));
    }
    Fields arguments(fields, {});
    write(control & to_stderr ? stderr : stdout, format_text(format, arguments));
    return size;
}

size_t print_opencl(Bytes rest, const Formats &formats) {
    const auto found = formats.by_key.find(read<u32>(rest, 0));
    if (found == formats.by_key.end())
        return 0;
    const Format &format = found->second;
    size_t size = 4;
    for (const u32 field : format.sizes)
        size += field;
    if (size > rest.size())
        return 0;
    Fields arguments(rest.subspan(4, size - 4), format.sizes);
    write(stdout, format_text(format.text, arguments));
    return size;
}

} // namespace

PrintfBuffer::PrintfBuffer(sim::Memory &memory) : memory_(memory) {
    void *const at = mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        throw std::bad_alloc();
    head_ = new (at) Head{0, buffer_bytes};
    memory.adopt(at, buffer_bytes, "the printf buffer");
}

PrintfBuffer::~PrintfBuffer() {
    memory_.disown(head_);
    munmap(head_, buffer_bytes);
}

std::string PrintfBuffer::print(const std::vector<std::string> &lines) const {
    constexpr u32 most = buffer_bytes - sizeof(Head), nearly = 4096;
    if (head_->used == 0)
        return "";
    Formats formats;
    for (const std::string &line : lines)
        read_format(line, formats);
    const Bytes records(reinterpret_cast<const std::byte *>(head_ + 1),
                        std::min(head_->used, most));
    for (size_t at = 0; at + 4 <= records.size();) {
        const Bytes rest = records.subspan(at);
        const size_t size = formats.hip ? print_hip(rest, formats) : print_opencl(rest, formats);
        if (size == 0)
            return fmt::format("the printf buffer is damaged at byte {} of {}: its last {} bytes "
                               "are lost",
                               at, records.size(), records.size() - at);
        at += size;
    }
    if (head_->used > most)
        return fmt::format("the printf buffer has {} bytes: {} more are lost", most,
                           head_->used - most);
    if (head_->used > most - nearly)
        return fmt::format("the printf buffer has {} bytes and is full: what came later is lost",
                           most);
    return "";
}

} // namespace nw::hipsim
