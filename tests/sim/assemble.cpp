// SPDX-License-Identifier: MIT
#include "sim/assemble.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include "sim/isa/gfx10_names.h"
#include "sim/kept.h"

namespace nw::sim::test {

namespace {

std::string read_text(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
}

// A folder of this process, for clang's input and output; gone with it.
class Folder {
public:
    Folder() : path_(std::string(NW_BUILD_DIR) + "/sim_test_XXXXXX") {
        if (!mkdtemp(path_.data()))
            throw std::runtime_error("no temporary folder in " NW_BUILD_DIR);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

const std::string &folder() {
    static const Folder it;
    return it.path();
}

// The assembler, for this target; another version of it makes another code object.
std::string command_of(const std::string &gfx, const std::string &source) {
    static const auto version = std::filesystem::last_write_time(NW_CLANG).time_since_epoch();
    const bool debug = source.find("// debug") != std::string::npos;
    const bool wave64 = source.find(".amdhsa_wavefront_size32 0") != std::string::npos;
    return fmt::format(": {} && {} -x assembler -target amdgcn-amd-amdhsa -mcpu={}{}{}",
                       version.count(), NW_CLANG, gfx, debug ? " -g" : "",
                       wave64 ? " -mwavefrontsize64" : "");
}

std::string run_assembler(const std::string &gfx, const std::string &command,
                          const std::string &source) {
    const std::string base = folder() + "/test";
    std::ofstream(base + ".s") << source;
    const std::string line =
        fmt::format("cd {} && {} -o test.hsaco test.s 2> test.log", folder(), command);
    if (std::system(line.c_str()) != 0)
        throw std::runtime_error(gfx + ": " + read_text(base + ".log"));
    return read_text(base + ".hsaco");
}

} // namespace

std::vector<std::byte> assemble(const std::string &gfx, const std::string &source) {
    static std::map<std::string, std::vector<std::byte>> cache;
    std::vector<std::byte> &image = cache[gfx + source];
    if (!image.empty())
        return image;
    const std::string command = command_of(gfx, source), key = command + "\n" + source;
    const std::optional<std::string> kept = find_kept(key);
    const std::string bytes = kept ? *kept : run_assembler(gfx, command, source);
    if (!kept)
        keep(key, bytes);
    image.resize(bytes.size());
    std::memcpy(image.data(), bytes.data(), bytes.size());
    return image;
}

std::string with_old_names(const std::string &text) {
    std::stringstream in(text);
    std::string out;
    for (std::string line; std::getline(in, line); out += line + "\n") {
        const size_t begin = line.find_first_not_of(' ');
        if (begin == line.npos)
            continue;
        const size_t end = std::min(line.find(' ', begin), line.size());
        const std::string_view name = std::string_view(line).substr(begin, end - begin);
        line = line.substr(0, begin) + std::string(name_before_gfx11(name)) + line.substr(end);
    }
    return out;
}

std::string spelled(const std::string &gfx, const std::string &instruction) {
    if (!target_of(gfx).old_names)
        return instruction;
    const std::string line = with_old_names("  " + instruction);
    return line.substr(2, line.size() - 3);
}

std::string kernel_source(const KernelText &k) {
    bool gfx12 = is_gfx12(k.gfx);
    std::string wait = gfx12 ? "s_wait_kmcnt 0" : "s_waitcnt lgkmcnt(0)";
    bool init16 = target_of(k.gfx).init16;
    const std::string source =
        fmt::format(R"({}.text
.globl test
.p2align 8
.type test,@function
test:
{}  s_load_b64 s[2:3], s[0:1], 0x0
  s_load_b64 s[4:5], s[0:1], 0x8
  {}
{}
  s_endpgm
.Lend:
.size test, .Lend - test
.rodata
.p2align 6
.amdhsa_kernel test
  .amdhsa_next_free_vgpr {}
  .amdhsa_next_free_sgpr 100
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  {}
  .amdhsa_kernarg_size {}
  .amdhsa_group_segment_fixed_size {}
  .amdhsa_private_segment_fixed_size {}
  .amdhsa_wavefront_size32 {}
  {}
.end_amdhsa_kernel
)",
                    k.debug ? "// debug\n" : "", k.entry, wait, k.body, k.vgprs,
                    init16 ? ".amdhsa_user_sgpr_count 15" : "", k.kernarg, k.lds, k.scratch,
                    k.wave == 32 ? 1 : 0, k.descriptor);
    return target_of(k.gfx).old_names ? with_old_names(source) : source;
}

KernelText waiting_kernel(const std::string &gfx, u32 wave, const std::string &body) {
    KernelText k;
    k.gfx = gfx;
    k.wave = wave;
    k.body = "  v_lshlrev_b32 v1, 2, v0\n" + body;
    k.lds = 4096;
    if (target_of(gfx).own_scratch) {
        k.scratch = 64;
        k.descriptor = ".amdhsa_enable_private_segment 1";
    }
    return k;
}

std::shared_ptr<const Program> load(const KernelText &k) {
    return Program::load(assemble(k.gfx, kernel_source(k)), k.gfx);
}

std::vector<u32> run(const KernelText &k, Launch &launch) {
    auto program = load(k);
    Memory memory;
    auto buffer = static_cast<u32 *>(memory.allocate(launch.words * 4));
    std::memset(buffer, 0, launch.words * 4);
    std::copy(launch.initial.begin(), launch.initial.end(), buffer);
    u64 arguments[2] = {reinterpret_cast<u64>(buffer), launch.second};
    Dispatch d;
    d.program = program.get();
    d.kernel = program->find_kernel("test");
    d.grid = launch.grid;
    d.block = launch.block;
    d.dynamic_lds = launch.dynamic_lds;
    d.cooperative = launch.cooperative;
    d.kernarg = std::as_bytes(std::span(arguments));
    launch.stats = sim::run(d, memory, *find_device(k.gfx), launch.config);
    return {buffer, buffer + launch.words};
}

std::vector<u32> run(const KernelText &k, Launch &&launch) { return run(k, launch); }

std::string fault_of(const KernelText &k, Launch launch) {
    try {
        run(k, launch);
    } catch (const Fault &fault) {
        return fault.what();
    }
    return "";
}

} // namespace nw::sim::test
