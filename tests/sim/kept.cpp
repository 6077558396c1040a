// SPDX-License-Identifier: MIT
#include "sim/kept.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <unistd.h>

namespace nw::sim::test {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_key = 8192;

const fs::path &folder() {
    static const fs::path path = [] {
        const fs::path made = NW_BUILD_DIR "/tests/assembled";
        std::error_code ignored;
        fs::create_directories(made, ignored);
        return made;
    }();
    return path;
}

fs::path file_of(const std::string &key) {
    return folder() / fmt::format("{:016x}", std::hash<std::string>{}(key));
}

} // namespace

std::optional<std::string> find_kept(const std::string &key) {
    std::ifstream in(file_of(key), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    const std::string head = key + '\0'; // a hash may be another text's
    if (!whole.starts_with(head) || whole.size() == head.size())
        return {};
    return whole.substr(head.size());
}

void keep(const std::string &key, const std::string &bytes) {
    if (key.size() > longest_key)
        return;
    const fs::path file = file_of(key), temporary = fmt::format("{}.{}", file.string(), getpid());
    std::ofstream out(temporary, std::ios::binary);
    out << key << '\0' << bytes;
    out.close();
    std::error_code error;
    if (out)
        fs::rename(temporary, file, error); // at once: another test may be reading
    if (!out || error)
        fs::remove(temporary, error);
}

} // namespace nw::sim::test
