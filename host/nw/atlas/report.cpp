// SPDX-License-Identifier: MIT
#include "nw/atlas/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <sstream>

#include "base/error.h"
#include "nw/atlas/facts.h"
#include "nw/code_object.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;

namespace {

// The fields of a line; a path is a JSON pointer.
class Fields {
public:
    Fields(const Json &line, std::string where) : line_(line), where_(std::move(where)) {}

    [[noreturn]] void fail(const std::string &what) const {
        throw Error(fmt::format("{}: {}", where_, what));
    }
    const Json *find(const char *path) const {
        const Json::json_pointer at(path);
        return line_.contains(at) && !line_.at(at).is_null() ? &line_.at(at) : nullptr;
    }
    std::string text(const char *path) const {
        const Json *const value = find(path);
        if (value && !value->is_string())
            fail(fmt::format("{} is {}: must be a string", path, shown(*value)));
        return value ? value->get<std::string>() : "";
    }
    std::string needed_text(const char *path) const {
        const std::string out = text(path);
        if (out.empty())
            fail(fmt::format("{} is missing: every row of {} has it", path, atlas_schema));
        return out;
    }
    std::optional<f64> number(const char *path) const {
        const Json *const value = find(path);
        if (value && !(value->is_number() && value->get<f64>() >= 0))
            fail(fmt::format("{} is {}: must be a number, 0 or more", path, shown(*value)));
        return value ? std::optional(value->get<f64>()) : std::nullopt;
    }
    f64 needed_number(const char *path) const {
        const auto out = number(path);
        if (!out)
            fail(fmt::format("{} is missing: every row of {} has it", path, atlas_schema));
        return *out;
    }
    std::optional<u64> whole(const char *path) const {
        constexpr f64 most = 1e15; // all below are whole f64
        const auto out = number(path);
        if (out && *out > most)
            fail(fmt::format("{} is {}: must be at most {}", path, *out, most));
        return out ? std::optional(static_cast<u64>(*out)) : std::nullopt;
    }

private:
    static std::string shown(const Json &value) {
        return fmt::format("{:.60}", value.dump(-1, ' ', false, Json::error_handler_t::replace));
    }

    const Json &line_;
    const std::string where_;
};

AtlasRow row_of(const Fields &f) {
    if (const std::string schema = f.text("/schema"); schema != atlas_schema)
        f.fail(fmt::format("its schema is '{}': must be {}, as nw atlas writes it", schema,
                           atlas_schema));
    AtlasRow r;
    const std::string device = f.needed_text("/device");
    if (device != "sim" && device != "card")
        f.fail(fmt::format("/device is '{}': must be sim or card", device));
    r.simulated = device == "sim";
    r.suite = f.needed_text("/source") != "rocprof";
    r.device = f.text("/device_name");
    r.gfx = f.needed_text("/gfx"), r.part = f.text("/part"), r.kernel = f.needed_text("/kernel");
    r.phase = f.text("/workload/phase"), r.type = f.text("/workload/type");
    r.us = f.needed_number("/metrics/time_us");
    r.low_us = f.number("/metrics/time_low_us"), r.high_us = f.number("/metrics/time_high_us");
    r.bound_us = f.number("/metrics/bound_us"), r.bound = f.text("/metrics/bound");
    r.limiter = f.text("/code_object/limiter"), r.note = f.text("/note");
    r.vgprs = f.whole("/code_object/vgprs"), r.waves = f.whole("/code_object/waves_per_simd");
    r.scratch = f.whole("/code_object/scratch_bytes");
    r.m = f.whole("/workload/m").value_or(0);
    if (r.suite) {
        r.model = f.needed_text("/workload/model"), r.layer = f.needed_text("/workload/layer");
        if (const std::string op = f.needed_text("/workload/op"); op != "product")
            r.layer += ", " + op;
        r.n = f.whole("/workload/n").value_or(0), r.k = f.whole("/workload/k").value_or(0);
        r.count = f.needed_number("/workload/count");
    } else {
        r.model = f.needed_text("/trace/file");
        r.count = f.needed_number("/metrics/calls");
        r.min_us = f.needed_number("/metrics/min_us"),
        r.max_us = f.needed_number("/metrics/max_us");
    }
    return r;
}

// Groups in the order of their first row.
class Grouper {
public:
    void add(AtlasRow row) {
        const std::string key = group_key(row) + (row.simulated ? " sim " : " card ") + row.device;
        const auto [at, fresh] = index_.emplace(key, groups_.size());
        if (fresh)
            groups_.push_back({title(row), {}});
        auto &rows = groups_[at->second].rows;
        const auto same = std::ranges::find_if(
            rows, [&](const AtlasRow &r) { return launch_key(r) == launch_key(row); });
        if (same != rows.end())
            *same = std::move(row);
        else
            rows.push_back(std::move(row));
    }

    std::vector<AtlasGroup> groups() {
        join();
        for (AtlasGroup &g : groups_)
            std::ranges::stable_sort(g.rows, std::greater{}, &AtlasRow::total_us);
        return std::move(groups_);
    }

private:
    static std::string group_key(const AtlasRow &r) {
        return r.suite ? fmt::format("{} {} {} m{}", r.gfx, r.model, r.type, r.m)
                       : fmt::format("trace {} {}", r.gfx, r.model);
    }
    static std::string launch_key(const AtlasRow &r) {
        return r.suite ? fmt::format("{} {} {}", r.layer, r.n, r.k) : r.kernel;
    }
    static std::string title(const AtlasRow &r) {
        const std::string on =
            fmt::format("{}{}, {}", r.part.empty() ? "" : r.part + ", ", r.gfx,
                        r.simulated ? "sim: modelled time, not measured" : "card " + r.device);
        return r.suite ? fmt::format("{}, {}, m = {} ({}), {}", r.model, r.type, r.m, r.phase, on)
                       : fmt::format("{}, {}", r.model, on);
    }

    // The same launch on the model and on a card.
    void join() {
        std::map<std::pair<std::string, bool>, f64> times;
        for (const AtlasGroup &g : groups_)
            for (const AtlasRow &r : g.rows)
                if (r.suite)
                    times[{group_key(r) + launch_key(r), r.simulated}] = r.us;
        for (AtlasGroup &g : groups_)
            for (AtlasRow &r : g.rows)
                if (const auto other = times.find({group_key(r) + launch_key(r), !r.simulated});
                    r.suite && other != times.end())
                    r.other_us = other->second;
    }

    std::vector<AtlasGroup> groups_;
    std::map<std::string, u64> index_;
};

Json rounded(f64 value) { return std::stod(fmt::format("{:.6g}", value)); }

} // namespace

f64 AtlasRow::gain_us() const { return bound_us ? std::max(0.0, us - *bound_us) * count : 0; }

f64 AtlasGroup::total_us() const {
    f64 sum = 0;
    for (const AtlasRow &r : rows)
        sum += r.total_us();
    return sum;
}

f64 AtlasGroup::gain_us() const {
    f64 sum = 0;
    for (const AtlasRow &r : rows)
        sum += r.gain_us();
    return sum;
}

std::vector<AtlasGroup> read_atlas(std::span<const std::string> files) {
    Grouper grouper;
    for (const std::string &file : files) {
        std::istringstream in(read_text(file));
        u64 number = 0, rows = 0;
        for (std::string line; std::getline(in, line);) {
            ++number;
            if (line.find_first_not_of(" \t\r") == line.npos)
                continue;
            const std::string where = fmt::format("{}:{}", file, number);
            const Json json = Json::parse(line, nullptr, false);
            if (!json.is_object())
                throw Error(fmt::format(
                    "{}: '{:.40}' is not a JSON object: must be a line that nw atlas --json wrote",
                    where, line));
            grouper.add(row_of(Fields(json, where)));
            ++rows;
        }
        if (rows == 0)
            throw Error(
                fmt::format("{}: has no rows: write some with nw atlas --json -o FILE", file));
    }
    return grouper.groups();
}

std::vector<AtlasGroup> group_atlas(std::span<const Json> rows) {
    Grouper grouper;
    for (u64 i = 0; i < rows.size(); ++i)
        grouper.add(row_of(Fields(rows[i], fmt::format("row {}", i + 1))));
    return grouper.groups();
}

Json atlas_json(std::span<const AtlasGroup> groups) {
    Json all = Json::array();
    for (const AtlasGroup &g : groups) {
        const f64 total = g.total_us();
        const auto share = [&](f64 us) { return total > 0 ? rounded(us / total) : Json(0); };
        Json rows = Json::array();
        for (const AtlasRow &r : g.rows) {
            Json row = {{"layer", r.layer},
                        {"kernel", r.kernel},
                        {"n", r.n},
                        {"k", r.k},
                        {"count", r.count},
                        {"time_us", r.us},
                        {"total_us", rounded(r.total_us())},
                        {"share", share(r.total_us())},
                        {"limiter", r.limiter}};
            if (r.bound_us) {
                row["bound"] = r.bound;
                row["share_of_bound"] = r.us > 0 ? rounded(*r.bound_us / r.us) : Json();
                row["gain_us"] = rounded(r.gain_us()), row["gain_share"] = share(r.gain_us());
            }
            if (r.other_us)
                row[r.simulated ? "card_us" : "sim_us"] = *r.other_us;
            if (!r.note.empty())
                row["note"] = r.note;
            rows.push_back(std::move(row));
        }
        const AtlasRow &r = g.front();
        all.push_back({{"title", g.title},
                       {"source", r.suite ? "suite gguf" : "rocprof"},
                       {"device", r.simulated ? "sim" : "card"},
                       {"model", r.suite ? Json(r.model) : Json()},
                       {"trace", r.suite ? Json() : Json(r.model)},
                       {"type", r.suite ? Json(r.type) : Json()},
                       {"m", r.suite ? Json(r.m) : Json()},
                       {"phase", r.suite ? Json(r.phase) : Json()},
                       {"gfx", r.gfx},
                       {"part", r.part.empty() ? Json() : Json(r.part)},
                       {"total_us", rounded(total)},
                       {"gain_us", rounded(g.gain_us())},
                       {"rows", std::move(rows)}});
    }
    return {{"schema", "nibblewave.atlas.report.v1"}, {"groups", std::move(all)}};
}

} // namespace nw::cli
