// SPDX-License-Identifier: MIT
// Basis of the suite `validate`: the published numbers as read, the line through them, the
// geometry of the published kernel.
#include "bench/published.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <unistd.h>

#include "base/error.h"
#include "bench/fit.h"
#include "measure/cold_product.h"

using namespace nw;
using namespace nw::bench;

namespace {

const std::string data = NW_SOURCE_DIR "/bench/data/";

template <class Read> std::string error_of_csv(const std::string &text, Read read) {
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("nw_published_{}", getpid()))
            .string();
    std::ofstream(path) << text;
    std::string said;
    try {
        read(path);
    } catch (const Error &e) {
        said = e.what();
    }
    std::filesystem::remove(path);
    return said;
}

std::string error_of_csv(const std::string &text) {
    return error_of_csv(text, [](const std::string &path) { read_published_decode(path); });
}

} // namespace

TEST_CASE("every published decode row is read, and has a kernel") {
    const std::vector<PublishedDecode> rows = read_published_decode(data + "decode_gfx1151.csv");
    CHECK(rows.size() == 228);
    CHECK(std::ranges::count_if(rows, &PublishedDecode::fell_back) == 48);
    std::set<u32> m, groups;
    for (const PublishedDecode &p : rows) {
        CHECK(p.fell_back() == (p.m * p.k > 32768));
        if (p.fell_back())
            continue;
        m.insert(p.m);
        groups.insert(p.group);
        const Kernel &kernel =
            published_kernel(published_gfx, {p.dtype, p.zeros ? Zeros::typed : Zeros::eight, p.m,
                                             p.n, p.k, p.group, 0})
                .kernel;
        CHECK(dtype_of(kernel) == p.dtype);
        CHECK(kernel.param("zeros") == (p.zeros ? "zp" : "sym"));
        CHECK(p.n % kernel.p.rows == 0);
    }
    CHECK(m == std::set<u32>{1, 2, 4});
    CHECK(groups == std::set<u32>{32, 128});
    // 2048x2048 in groups of 128 at 12.54 us: published as 172.5 GB/s
    CHECK(rows[0].bytes() / rows[0].us / 1e3 == doctest::Approx(172.5).epsilon(0.001));
    CHECK(rows[0].name() == "2048x2048 g128 f16 sym m1");
    CHECK(read_published_stride(data + "stride_gfx1151.csv").size() == 8);
}

TEST_CASE("every published trace and dispatch is read") {
    const std::vector<PublishedTrace> traces = read_published_traces(data + "traces.csv");
    std::map<std::string, u32> intervals;
    std::set<std::string> names;
    for (const PublishedTrace &p : traces) {
        CHECK(names.insert(p.gfx + p.sequence).second);
        CHECK(p.wave * 32 < p.threads);
        CHECK(p.code.size() > 1);
        CHECK((p.kind != PublishedTrace::Kind::loop || p.intervals.size() == 1));
        for (const auto &[low, high] : p.intervals) {
            CHECK(low <= high);
            intervals[p.gfx] += low > 0;
        }
    }
    CHECK(intervals["gfx1100"] >= 90);
    CHECK(intervals["gfx1201"] >= 140);
    CHECK(traces.at(0).setup_instructions() == 7);
    for (const PublishedDispatch &p : read_published_dispatch(data + "dispatch.csv")) {
        CHECK(p.low <= p.high);
        CHECK(p.threads <= 1024);
    }
}

TEST_CASE("a bad trace is named, with the line") {
    const auto says = [&](const char *row, const char *what) {
        const std::string header = "gfx;sequence;kind;threads;wave;setup;code;intervals;source\n";
        const std::string said = error_of_csv(
            header + row, [](const std::string &path) { read_published_traces(path); });
        INFO(said);
        CHECK(said.find(what) != std::string::npos);
        CHECK((*what == 0) == said.empty());
    };
    says("gfx1100;a;alu;1;1;s_nop 0;s_nop 0 | s_nop 0;1;x\n", "");
    says("gfx1100;a;alu;1;1;;s_nop 0 | s_nop 0;1\n", ":2: has 8 fields, needs 9");
    says("gfx1100;a;vector;1;1;;s_nop 0;1;x\n", "kind 'vector' is none of alu, memory, loop");
    says("gfx1100;a;alu;1;2;;s_nop 0;1;x\n", "wave 2 of 1 threads");
    says("gfx1100;a;alu;1;1;;s_nop 0;3..2;x\n", "interval '3..2' ends before it begins");
    says("gfx1100;a;alu;1;1;;s_nop 0;0;x\n", "'0' is no positive number");
    says("gfx1100;a;alu;1;1;;s_nop 0;;x\n", "has no intervals");
    says("gfx1100;a;alu;1;1;;;1;x\n", "has no code, and no row is above");
}

TEST_CASE("a bad file is named, with the line") {
    CHECK(error_of_csv("").find("columns are ''") != std::string::npos);
    const std::string header = "# source\nk,n,group,dtype,zeros,m,us,kernel,model\n";
    CHECK(error_of_csv(header) == "");
    CHECK(error_of_csv(header + "64,8,32,f16,sym,1,1.5,triton,x\n") == "");
    const auto says = [&](const char *row, const char *what) {
        const std::string said = error_of_csv(header + row);
        INFO(said);
        CHECK(said.find(":3: ") != std::string::npos);
        CHECK(said.find(what) != std::string::npos);
    };
    says("64,8,32,f16,sym,1\n", "has 6 fields");
    says("64,0,32,f16,sym,1,1.5,triton,x\n", "'0' is no positive number");
    says("64,8,32,f16,sym,1,1.5us,triton,x\n", "'1.5us' is no positive number");
    says("64,8,32,fp16,sym,1,1.5,triton,x\n", "dtype 'fp16'");
    says("64,8,32,f16,asym,1,1.5,triton,x\n", "zeros 'asym'");
    says("64,8,32,f16,zp,1,1.5,cuda,x\n", "kernel 'cuda'");
}

TEST_CASE("each type has its line, through the rows that ran the published kernel") {
    const std::vector<PublishedDecode> rows = read_published_decode(data + "decode_gfx1151.csv");
    const std::map<std::string, Line> lines = lines_by_type(rows);
    CHECK(lines.size() == 12);
    std::vector<Point> points;
    for (const PublishedDecode &p : rows)
        if (p.dtype == Dtype::bf16 && p.zeros && p.m == 4 && p.m * p.k <= 32768)
            points.push_back({static_cast<f64>(p.bytes()), p.us});
    CHECK(lines.at("bf16 zp m4").t0_us == fit_line(points).t0_us);
}

TEST_CASE("the line through points of a line is that line, whichever is left out") {
    std::vector<Point> points;
    for (f64 bytes : {1e6, 2e6, 7e6, 5e7})
        points.push_back({bytes, 3.5 + bytes / 230e3}); // 230 GB/s
    const Line line = fit_line(points);
    CHECK(line.t0_us == doctest::Approx(3.5));
    CHECK(line.gb_per_s() == doctest::Approx(230));
    for (f64 pct : leave_one_out(points))
        CHECK(pct == doctest::Approx(0));
}

TEST_CASE(
    "the fit is the least of squared relative errors, and misses an outlier that it didn't see") {
    std::vector<Point> points = {{1e6, 8}, {2e6, 12.5}, {4e6, 21}, {1e7, 60}};
    const auto cost = [&](const Line &line) {
        f64 sum = 0;
        for (const Point &p : points)
            sum += std::pow(line.at(p.bytes) / p.us - 1, 2);
        return sum;
    };
    const Line best = fit_line(points);
    for (f64 t0 : {-0.01, 0.01})
        CHECK(cost({best.t0_us + t0, best.us_per_byte}) > cost(best));
    for (f64 slope : {0.999, 1.001})
        CHECK(cost({best.t0_us, best.us_per_byte * slope}) > cost(best));
    const f64 without = leave_one_out(points)[3];
    CHECK(without == doctest::Approx(error_pct(fit_line(std::span(points).first(3)).at(1e7), 60)));
    CHECK(std::fabs(without) > std::fabs(error_pct(best.at(1e7), 60)));
    CHECK_THROWS_AS(fit_line(std::vector<Point>{{1e6, 8}, {1e6, 9}}), Error);
}

TEST_CASE("errors of a group: mean of magnitudes, and the worst with its sign") {
    const std::vector<f64> errors = {1, -4, 3};
    CHECK(summarize(errors).mape == doctest::Approx(8.0 / 3));
    CHECK(summarize(errors).worst == -4);
}

namespace {

using Geometry = std::array<u64, 3>; // rows and loads in flight of a wave, waves that take rows

// On gfx1151, which has 20 WGPs.
Geometry geometry(u32 m, u32 n, u32 k) {
    const auto [kernel, op] =
        published_kernel(published_gfx, {Dtype::f16, Zeros::eight, m, n, k, 128, 0});
    return {kernel.p.rows, kernel.p.unroll, op.waves};
}

u64 fewest_waves(u32 n, u32 rows) {
    for (const Kernel &kernel : kernels(published_gfx))
        if (kernel.family == "splitk_w4a16" && kernel.p.rows == rows) {
            Op op{.kind = OpKind::splitk_w4a16};
            op.n = n;
            kernel.contract->settle(op, kernel, usual_machine(published_gfx));
            return op.waves;
        }
    return 0;
}

} // namespace

TEST_CASE("the published geometry, by hand") {
    // 4 * 20 SIMDs: 2400 rows are 30 rounds of one
    CHECK(geometry(1, 2400, 4096) == Geometry{2, 4, 15});
    CHECK(geometry(1, 2320, 4096) == Geometry{1, 4, 15});
    CHECK(geometry(2, 2560, 2560) == Geometry{2, 2, 16});
    CHECK(geometry(4, 3200, 2560) == Geometry{4, 1, 14});
    CHECK(geometry(4, 2048, 2048) == Geometry{2, 4, 13});
    CHECK(geometry(4, 2560, 2560) == Geometry{2, 2, 16});
    CHECK(geometry(4, 2048, 4096) == Geometry{2, 4, 13});
    CHECK_THROWS_AS(geometry(4, 2560, 10240), Error);
}

TEST_CASE("waves that take rows: as few as take no further round, 4 at least") {
    CHECK(fewest_waves(2048, 1) == 15); // 7 rounds of 300, where 16 waves have 320
    CHECK(fewest_waves(2048, 2) == 13); // 4 rounds of 520
    CHECK(fewest_waves(2560, 2) == 16); // 4 rounds of 640, none left
    CHECK(fewest_waves(512, 2) == 13);  // 1 round
    CHECK(fewest_waves(20, 1) == 4);    // 1 would do
    for (u32 n = 1; n < 3000; n += 7) {
        const u64 w = fewest_waves(n, 2);
        const auto rounds = [&](u64 waves) { return ceil_div<u64>(n, 40 * waves); };
        CHECK(rounds(w) == rounds(16));
        CHECK((w == 4 || rounds(w - 1) > rounds(16)));
    }
}
