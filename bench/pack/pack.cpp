// SPDX-License-Identifier: MIT
// The suite pack: the speed of nw pack beside a plain copy.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <thread>
#include <unistd.h>

#include "base/error.h"
#include "base/median.h"
#include "base/parallel.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "base/rng.h"
#include "bench/result.h"
#include "bench/temporary_folder.h"
#include "formats/files/mapped_file.h"
#include "formats/packed/pack.h"
#include "formats/safetensors/safetensors_writer.h"

namespace nw::bench {

namespace {

namespace fs = std::filesystem;

// Layers of Llama-3.1-8B's down, enough of them that starting costs nothing.
constexpr u64 layers = 12, n = 4096, k = 14336, group = 128, groups = k / group;
constexpr u32 rounds = 5;

struct Format {
    std::string_view name;
    Json quantization;
    std::vector<TensorSpec> tensors; // of a layer; weights first
    u32 zero_word;                   // what its zero points are filled with
};

std::vector<Format> formats() {
    const std::vector<TensorSpec> gptq = {{"qweight", "I32", {k / 8, n}},
                                          {"qzeros", "I32", {groups, n / 8}},
                                          {"scales", "F16", {groups, n}}};
    const std::vector<TensorSpec> awq = {{"qweight", "I32", {k, n / 8}}, gptq[1], gptq[2]};
    const std::vector<TensorSpec> compressed = {{"weight_packed", "I32", {n, k / 8}},
                                                {"weight_scale", "F16", {n, groups}},
                                                {"weight_shape", "I64", {2}}};
    return {{"gptq_v1 sym", {{"sym", true}}, gptq, 0x77777777},
            {"gptq_v1 asym", {{"sym", false}}, gptq, 0x14703562},
            {"awq asym", Json::object(), awq, 0x14703562},
            {"compressed sym", Json::object(), compressed, 0}};
}

// Where the checkpoint lies, and what becomes of it.
struct Folder {
    TemporaryFolder folder;
    Folder() { fs::create_directories(input()); }
    fs::path input() const { return folder.path() / "in"; }
    fs::path file() const { return input() / "model.safetensors"; }
    fs::path output() const { return folder.path() / "out.safetensors"; }
};

std::vector<std::byte> contents(const TensorSpec &t, const Format &f, Rng rng) {
    u64 bytes = t.dtype == "I32" ? 4 : t.dtype == "F16" ? 2 : 8;
    for (u64 size : t.shape)
        bytes *= size;
    std::vector<std::byte> out(bytes);
    const auto fill = [&](auto value) {
        const auto size = sizeof(value(0));
        for (u64 at = 0; at < bytes; at += size) {
            const auto x = value(at);
            std::memcpy(out.data() + at, &x, size);
        }
    };
    if (t.name == "weight_shape")
        fill([](u64 at) -> u64 { return at ? k : n; });
    else if (t.name == "qzeros")
        fill([&](u64) { return f.zero_word; });
    else if (t.dtype == "F16")
        fill([&](u64 at) { return static_cast<u16>(0x2000 | (rng.at(at) & 0x3ff)); });
    else
        fill([&](u64 at) { return rng.at(at); });
    return out;
}

void write_checkpoint(const Format &f, const Folder &folder, u64 seed) {
    std::vector<TensorSpec> tensors;
    for (u64 layer = 0; layer < layers; ++layer)
        for (TensorSpec t : f.tensors) {
            t.name = fmt::format("model.layers.{}.mlp.down_proj.{}", layer, t.name);
            tensors.push_back(std::move(t));
        }
    TensorWriter file = safetensors_writer(folder.file(), tensors, {});
    for (size_t i = 0; i < tensors.size(); ++i)
        file.write(i, 0, contents(f.tensors[i % f.tensors.size()], f, Rng(seed).fork(i)));
    file.commit();
    std::ofstream(folder.input() / "config.json") << Json{{"quantization_config", f.quantization}};
}

// The same bytes to another file, on all cores.
void plain_copy(const fs::path &from, const fs::path &to) {
    constexpr u64 part = 4 << 20;
    const MappedFile input(from);
    const auto bytes = input.bytes();
    OutputFile output(to, bytes.size());
    parallel_each(ceil_div<u64>(bytes.size(), part), [&] {
        return [&](u64 i) {
            output.write(i * part,
                         bytes.subspan(i * part, std::min(part, bytes.size() - i * part)));
        };
    });
    output.commit();
}

f64 seconds_of(const std::function<void()> &work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count();
}

Json measure(const Format &f, const Folder &folder, u64 seed) {
    write_checkpoint(f, folder, seed);
    std::vector<f64> pack_times, copy_times;
    for (u32 round = 0; round < rounds; ++round) { // in turn: what else runs disturbs both
        pack_times.push_back(seconds_of([&] {
            pack(folder.input(), folder.output(), {.gfx = "gfx1151", .replace = true}, {});
        }));
        copy_times.push_back(seconds_of([&] { plain_copy(folder.file(), folder.output()); }));
        fs::remove(folder.output());
        fs::remove(fs::path(folder.output()).replace_extension(".json"));
    }
    const f64 weights = static_cast<f64>(layers * n * k) / 2;
    const f64 file = static_cast<f64>(fs::file_size(folder.file()));
    const f64 pack_rate = weights / upper_median(pack_times) / 1e9;
    const f64 copy_rate = file / upper_median(copy_times) / 1e9;
    return {{"name", fmt::format("pack {}", f.name)},
            {"time_us", 1e6 * upper_median(pack_times)},
            {"gb_per_s", pack_rate},
            {"copy_gb_per_s", copy_rate},
            {"of_copy", pack_rate / copy_rate}};
}

} // namespace

Result run_suite(const Options &o, const Shapes &) {
    const Pattern only("--only", o.only);
    Result out;
    out.device = "none";
    const std::vector<Format> all = formats();
    Table table("from the page cache {name:<22}; GB/s {gb_per_s:>12.2f}; "
                "copy, GB/s {copy_gb_per_s:>12.2f}; of the copy {of_copy:>12.2f}");
    Progress progress(all.size());
    for (const Format &f : all) {
        if (!only.found_in(fmt::format("pack {}", f.name)))
            continue;
        if (out.rows.empty())
            fmt::print("GB/s of packed weights, {} layers of {} x {}, on {} cores of this host.\n"
                       "copy: of the same file on these cores; medians of {}, measured.\n\n",
                       layers, n, k, std::thread::hardware_concurrency(), rounds);
        progress.show(std::string(f.name));
        const Folder folder;
        out.rows.push_back(measure(f, folder, o.seed));
        progress.clear();
        table.print(out.rows.back());
        progress.advance(1);
    }
    progress.clear();
    if (out.rows.empty())
        no_row(o, "the suite pack");
    return out;
}

} // namespace nw::bench
