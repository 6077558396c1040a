// SPDX-License-Identifier: MIT
// Seeds for libFuzzer besides the corpus: one instruction of every kind, and the code
// objects of the build, as inputs of the targets. fuzz_seeds FOLDER
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/func/machine.h"
#include "sim/isa/code.h"
#include "sim/isa/image/elf.h"
#include "sim/isa/mnemonics.h"

using namespace nw;
using namespace nw::sim;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<char>;

constexpr u32 s_endpgm = 0xbfb00000;

void write(const fs::path &folder, const std::string &name, const Bytes &bytes) {
    fs::create_directories(folder);
    std::ofstream(folder / name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void append(Bytes &to, const void *from, size_t bytes) {
    auto begin = static_cast<const char *>(from);
    to.insert(to.end(), begin, begin + bytes);
}

u8 index_of(std::string_view gfx) {
    u8 index = 0;
    while (devices()[index].gfx != gfx)
        ++index;
    return index;
}

// `shell` is the number that shell.cpp gives the gfx.
void instructions(const fs::path &folder, const char *gfx, u8 shell) {
    const std::vector<Sample> samples = known_mnemonics(gfx);
    std::vector<Encoding> encodings;
    for (const Sample &s : samples)
        encodings.push_back(s.encoding);
    const std::vector<Instruction> decoded = disassemble_each(encodings, gfx, 32);
    constexpr size_t per_launch = 6;
    Bytes code;
    for (size_t n = 0; n < samples.size(); ++n) {
        const std::string name = std::string(gfx) + "_" + samples[n].mnemonic;
        Bytes bytes{static_cast<char>(index_of(gfx)), static_cast<char>(n % 2)};
        append(bytes, encodings[n].data(), decoded[n].size);
        write(folder / "decode", name, bytes);
        Bytes text{static_cast<char>(index_of(gfx))};
        append(text, decoded[n].text.data(), decoded[n].text.size());
        write(folder / "instruction", name, text);
        append(code, encodings[n].data(), decoded[n].size);
        if (n % per_launch == 0 || n + 1 == samples.size()) {
            append(code, &s_endpgm, sizeof s_endpgm);
            const char flags = static_cast<char>(n / per_launch % 8); // wave size, checks
            Bytes launch{static_cast<char>(shell), flags, 40, 0, 1, 1};
            append(launch, code.data(), code.size());
            write(folder / "launch", name, launch);
            Bytes lint{static_cast<char>(shell << 6 | (flags & 1))};
            append(lint, code.data(), code.size());
            write(folder / "lint", name, lint);
            code.clear();
        }
    }
}

void code_objects(const fs::path &folder) {
    for (const char *gfx : {"gfx1100", "gfx1151", "gfx1201"}) {
        std::ifstream in(std::string(NW_BUILD_DIR "/tests/hip/code/basic_") + gfx + ".hsaco",
                         std::ios::binary);
        const Bytes file(std::istreambuf_iterator<char>(in), {});
        const auto bytes = std::as_bytes(std::span(file));
        write(folder / "code_object", gfx, file);
        write(folder / "bundle", gfx, file);
        write(folder / "lint", gfx, file);
        const auto note = Elf(bytes).metadata();
        auto begin = reinterpret_cast<const char *>(note.data());
        write(folder / "metadata", gfx, Bytes(begin, begin + note.size()));
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    instructions(argv[1], "gfx1151", 1);
    instructions(argv[1], "gfx1201", 3);
    code_objects(argv[1]);
}
