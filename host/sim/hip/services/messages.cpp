// SPDX-License-Identifier: MIT
#include "sim/hip/services/messages.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

#include "sim/hip/services/format.h"

namespace nw::hipsim {

namespace {

// A descriptor's fields.
constexpr u64 begin = 1, end = 2;
constexpr unsigned length_shift = 5, id_shift = 8;
constexpr u64 failed = ~u64{0}; // -1

// Numbers take a word each; strings are padded to words, with at least one NUL.
class Parts final : public FormatArguments {
public:
    explicit Parts(std::span<const u64> words) : words_(words) {}

    std::optional<std::vector<std::byte>> number() override {
        if (words_.empty())
            return std::nullopt;
        const auto bytes = std::as_bytes(words_.first(1));
        words_ = words_.subspan(1);
        return std::vector(bytes.begin(), bytes.end());
    }
    std::optional<std::string> text() override {
        if (words_.empty())
            return std::nullopt;
        const auto *const at = reinterpret_cast<const char *>(words_.data());
        const size_t bytes = strnlen(at, words_.size_bytes());
        words_ = words_.subspan(std::min(bytes / 8 + 1, words_.size()));
        return std::string(at, bytes);
    }

private:
    std::span<const u64> words_;
};

u64 print(std::span<const u64> words) {
    if (words.empty() || words[0] > 1)
        return failed;
    std::FILE *const stream = words[0] == 0 ? stdout : stderr;
    Parts arguments(words.subspan(1));
    const auto format = arguments.text();
    if (!format)
        return failed;
    const std::string text = format_text(*format, arguments);
    return std::fwrite(text.data(), 1, text.size(), stream) == text.size() ? text.size() : failed;
}

} // namespace

u64 Messages::part(const u64 (&slots)[8]) {
    u64 descriptor = slots[0];
    if (descriptor & begin) {
        const u64 flags = descriptor & ((u64{1} << id_shift) - 1);
        descriptor = (flags & ~begin) | next_id_ << id_shift;
        open_[next_id_++];
    }
    const auto message = open_.find(descriptor >> id_shift);
    if (message == open_.end())
        return failed;
    const u64 words = descriptor >> length_shift & 7;
    message->second.insert(message->second.end(), slots + 1, slots + 1 + words);
    if (!(descriptor & end))
        return descriptor;
    const std::vector<u64> whole = std::move(message->second);
    open_.erase(message);
    return print(whole);
}

} // namespace nw::hipsim
