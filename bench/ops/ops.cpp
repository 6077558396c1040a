// SPDX-License-Identifier: MIT
// The suite ops: modelled times of ops that are no products, operands where the launch before left
// them.
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "base/pattern.h"
#include "bench/product.h"
#include "bench/result.h"
#include "measure/on_cores.h"
#include "measure/op_clock.h"
#include "measure/op_text.h"

namespace nw::bench {

namespace {

struct Job {
    std::string model, kind, values;
    u32 m;
    Op op;
};

std::string with_rows(std::string values, u32 m) {
    const std::string_view place = "{m}";
    for (u64 at = 0; (at = values.find(place, at)) != values.npos;)
        values.replace(at, place.size(), std::to_string(m));
    return values;
}

std::vector<std::string> words_of(const std::string &text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

// Rows of bench/ops/ops.csv, each for every number of rows.
std::vector<Job> jobs_of(const Options &o) {
    std::ifstream file(NW_BENCH_OPS);
    const Pattern only("--only", o.only);
    std::vector<Job> out;
    bool heading = true;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#' || std::exchange(heading, false))
            continue;
        const u64 first = line.find(','), second = line.find(',', first + 1);
        const std::string model = line.substr(0, first),
                          kind = line.substr(first + 1, second - first - 1);
        for (const u32 m : o.m) {
            const std::string values = with_rows(line.substr(second + 1), m);
            if (only.found_in(fmt::format("{} {} {}", model, kind, values)))
                out.push_back({model, kind, values, m, parse_op(kind, words_of(values))});
        }
    }
    return out;
}

Json to_json(const Job &job, const OpTime &time, const std::string &gfx) {
    Json row = {{"model", job.model},
                {"op", job.kind},
                {"values", job.values},
                {"m", job.m},
                {"bytes", time.bytes},
                {"time_us", time.us},
                {"gb_per_s", static_cast<f64>(time.bytes) / time.us / 1e3}};
    row.update(kernel_facts(*time.plan.kernel));
    row["pct_of_bound"] = 100 * dram_bound(gfx).us(time.bytes) / time.us;
    return row;
}

} // namespace

Result run_suite(const Options &o, const Shapes &) {
    const std::string gfx = simulated_gfx(o);
    const std::vector<Job> jobs = jobs_of(o);
    if (jobs.empty())
        no_row(o, "suite ops");
    std::vector<u64> work;
    for (const Job &job : jobs)
        work.push_back(job.m);
    Json rows = Json::array();
    Table table(
        "model {model:<12}; op {op:<10}; values {values:<36}; kernel {kernel:<20}; us (sim) "
        "{time_us:>9.2f}; GB/s {gb_per_s:>7.1f}; of DRAM {pct_of_bound:>6.1f}%");
    on_cores<OpTime>(
        work, [&](u64 i) { return time_op(model_device("sim:" + gfx, jobs.size()), jobs[i].op); },
        [&](u64 i, const OpTime &time) {
            rows.push_back(to_json(jobs[i], time, gfx));
            table.print(rows.back());
        });
    return {rows};
}

} // namespace nw::bench
