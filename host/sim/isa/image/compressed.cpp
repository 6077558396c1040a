// SPDX-License-Identifier: MIT
#include "sim/isa/image/compressed.h"

#include <fmt/format.h>

#include <zlib.h>
#include <zstd.h>

#include "sim/isa/image/program.h"

namespace nw::sim {

namespace {

// Version 1 has 32-bit sizes and no total; 2 adds the file's total; 3 widens both to 64 bits. A
// 64-bit hash of the contents ends each header.
struct Header {
    u64 bytes = 0;    // of the header
    u64 payload = 0;  // compressed
    u64 contents = 0; // decompressed
    u16 method = 0;   // 0 zlib, 1 zstd
};

} // namespace

constexpr u64 largest_bundle = u64{1} << 32;
// zstd's shortest block, 4 bytes, decodes to at most 128 KiB; zlib expands less.
constexpr u64 most_expansion = 128 * 1024 / 4;

static Header read_header(const ByteSource &image) {
    const auto version = image.get<u16>(4);
    const auto method = image.get<u16>(6);
    Header header{.method = method.value_or(0)};
    std::optional<u64> total, contents;
    if (version == 1) {
        header.bytes = 20;
        total = image.size();
        contents = image.get<u32>(8);
    } else if (version == 2) {
        header.bytes = 24;
        total = image.get<u32>(8);
        contents = image.get<u32>(12);
    } else if (version == 3) {
        header.bytes = 32;
        total = image.get<u64>(8);
        contents = image.get<u64>(16);
    } else {
        throw BadImage(fmt::format("compressed bundle of version {}: 1, 2 and 3 are supported",
                                   version.value_or(0)));
    }
    if (!total || !contents || *total < header.bytes || *total > largest_bundle ||
        *contents > largest_bundle)
        throw BadImage("compressed bundle: missing or impossible sizes");
    header.payload = *total - header.bytes;
    header.contents = *contents;
    if (header.contents / most_expansion > header.payload)
        throw BadImage(fmt::format("compressed bundle: {} bytes can't have come from {}",
                                   header.contents, header.payload));
    return header;
}

static bool unpack_zlib(std::span<const std::byte> from, std::span<std::byte> to) {
    uLongf size = to.size();
    return uncompress(reinterpret_cast<Bytef *>(to.data()), &size,
                      reinterpret_cast<const Bytef *>(from.data()), from.size()) == Z_OK &&
           size == to.size();
}

static bool unpack_zstd(std::span<const std::byte> from, std::span<std::byte> to) {
    return ZSTD_decompress(to.data(), to.size(), from.data(), from.size()) == to.size();
}

std::vector<std::byte> decompress_bundle(const ByteSource &image) {
    const Header header = read_header(image);
    if (header.method > 1) // first, as a damaged size may be large
        throw BadImage(
            fmt::format("compressed bundle with method {}: 0 (zlib) and 1 (zstd) are supported",
                        header.method));
    const auto payload = image.copy(header.bytes, header.payload, "compressed bundle");
    std::vector<std::byte> contents(header.contents);
    if (!(header.method == 0 ? unpack_zlib : unpack_zstd)(payload, contents))
        throw BadImage("compressed bundle: its contents are damaged");
    return contents;
}

} // namespace nw::sim
