// SPDX-License-Identifier: MIT
#include "nw/atlas/rocprof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/targets.h"
#include "formats/files/mapped_file.h"
#include "hip/hip.h"
#include "nw/atlas/facts.h"
#include "nw/atlas/trace.h"
#include "nw/manifest.h"
#include "nw/part.h"
#include "runtime/contract.h"
#include "runtime/files.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

// Our kernels of one gfx.
struct Ours {
    fs::path directory; // of manifest.json
    std::unique_ptr<const Manifest> manifest;
    std::string gfx;

    const Kernel *find(const std::string &symbol) const {
        for (const Kernel &k : manifest->kernels())
            if (k.gfx == gfx && k.symbol == symbol)
                return &k;
        return nullptr;
    }
};

fs::path built_directory() {
    for (const Target &target : targets())
        try {
            return find_directory(target.name);
        } catch (const Error &) { // of another gfx there may be some
        }
    throw Error("--hsaco: no code objects found next to this program: give the directory with "
                "their manifest.json");
}

Ours find_ours(const AtlasTraceOptions &o) {
    fs::path directory = o.hsaco.empty() ? built_directory() : fs::path(o.hsaco);
    std::string gfx = o.gfx;
    if (!fs::exists(directory / "manifest.json") &&
        fs::exists(directory / ".." / "manifest.json")) {
        const std::string last = fs::canonical(directory).filename();
        if (!gfx.empty() && gfx != last)
            throw Error(
                fmt::format("--gfx {}: --hsaco {} has the code objects of {}", gfx, o.hsaco, last));
        gfx = last;
        directory = fs::canonical(directory).parent_path();
    }
    std::set<std::string> known;
    auto manifest = std::make_unique<const Manifest>(directory);
    for (const Kernel &k : manifest->kernels())
        known.emplace(k.gfx);
    if (gfx.empty() && known.size() == 1)
        gfx = *known.begin();
    if (!known.contains(gfx))
        throw Error(fmt::format("--gfx {}: a trace does not name its GPU: choose one; {} has {}",
                                gfx.empty() ? "(none)" : gfx, directory.string(),
                                fmt::join(known, ", ")));
    return {directory, std::move(manifest), gfx};
}

// Facts from the name and the manifest: n and k are unknown; m is known only for kernels with a
// fixed number of rows.
Json workload_json(const Kernel &kernel) {
    Json params = Json::object();
    for (const ParameterName &p : kernel.contract->parameters)
        params[std::string(p.name)] = kernel.param(p.name);
    Json out = {{"family", kernel.family}, {"params", params}};
    if (kernel.family == "gguf_decode") {
        out["phase"] = atlas_phase(kernel.number("m"));
        out["type"] = kernel.param("type");
        out["m"] = kernel.number("m");
    }
    return out;
}

Json metrics_json(const TraceKernel &k, const Trace &trace) {
    const f64 total = static_cast<f64>(k.total_ns) / 1e3,
              all = static_cast<f64>(trace.total_ns) / 1e3;
    return {{"time_us", total / static_cast<f64>(k.calls)}, // the mean
            {"min_us", static_cast<f64>(k.min_ns) / 1e3},
            {"max_us", static_cast<f64>(k.max_ns) / 1e3},
            {"calls", k.calls},
            {"total_us", total},
            {"trace_us", all},
            {"share_of_trace", all > 0 ? total / all : 0}};
}

Json said_json(const TraceKernel &k, const std::string &file) {
    const auto number = [](const std::optional<u64> &n) { return n ? Json(*n) : Json(); };
    return {{"file", file},
            {"grids", k.grids},
            {"workgroup_x", number(k.workgroup)},
            {"vgprs", number(k.vgprs)},
            {"sgprs", number(k.sgprs)},
            {"lds_bytes", number(k.lds_bytes)},
            {"scratch_bytes", number(k.scratch_bytes)}};
}

} // namespace

std::vector<Json> atlas_rocprof(const AtlasTraceOptions &o) {
    const Ours ours = find_ours(o);
    const sim::timing::Part &part =
        o.part.empty() ? *sim::timing::default_part(ours.gfx) : part_of_name(o.part);
    if (part.gfx != ours.gfx)
        throw Error(fmt::format("--part {}: is a {}, but the code objects are for {}", o.part,
                                part.gfx, ours.gfx));
    const MappedFile file(o.trace);
    const std::string_view text(reinterpret_cast<const char *>(file.bytes().data()),
                                file.bytes().size());
    const Trace trace = read_trace(text, o.trace);
    CodeFacts facts(ours.directory, part);
    const Json commit = atlas_commit();
    std::vector<Json> out;
    for (const TraceKernel &k : trace.kernels) {
        const Kernel *const known = ours.find(k.name);
        Json row = {{"schema", atlas_schema},
                    {"source", "rocprof"},
                    {"device", "card"},
                    {"device_name", nullptr},
                    {"part", o.part.empty() ? Json() : Json(o.part)},
                    {"gfx", ours.gfx},
                    {"commit", commit},
                    {"kernel", k.name},
                    {"workload", known ? workload_json(*known) : Json::object()},
                    {"metrics", metrics_json(k, trace)},
                    {"trace", said_json(k, fs::path(o.trace).filename())}};
        row["code_object"] = known ? facts.of(k.name, known->block, 0) : Json();
        if (!row["code_object"].is_null())
            row["code_object"]["dynamic_lds_bytes"] = nullptr; // a trace records the kernel's own
        else
            row["note"] = known ? "its code object is missing: no facts"
                                : "not a nibblewave kernel: no facts";
        out.push_back(std::move(row));
    }
    return out;
}

} // namespace nw::cli
