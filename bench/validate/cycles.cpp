// SPDX-License-Identifier: MIT
// What single instructions take, by `nw micro`'s measurements, against what was measured on gfx1100
// and gfx1201 hardware.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "bench/validate/tables.h"
#include "measure/micro/plan.h"

namespace nw::bench {

namespace {

// A measurement of nw micro, or what it has more than another, and the cycles that hardware takes
// for it.
struct Fact {
    const char *gfx, *measurement;
    f64 low, high;
    const char *source, *beyond = "";
};

constexpr const char *sqtt_tests = "tinygrad, SQTT tests";
constexpr const char *captures = "tinygrad's SQTT captures, decoded";
constexpr const char *calculator = "AMD matrix instruction calculator";
constexpr const char *shark = "amd-shark-ai, empirical-lds";

// clang-format off
constexpr Fact facts[] = {
    {"gfx1100", "v_add_f32 independent",                  1,  1, sqtt_tests},
    {"gfx1100", "v_add_f32>s_delay_alu:VALU_DEP_1",       5,  5, sqtt_tests},
    {"gfx1100", "v_add_f32x5 done",                      24, 24, sqtt_tests, "v_add_f32x1 done"}, // 5, 5, 5, 9
    {"gfx1100", "v_add_f32x8 done",                      47, 47, sqtt_tests, "v_add_f32x1 done"}, // 5 x 4, 9 x 3
    {"gfx1100", "v_add_f32x16 done",                    107, 108, sqtt_tests, "v_add_f32x1 done"}, // 5 or 6, 5 x 6, 9 x 8
    {"gfx1100", "v_add_f32x20 done",                    127, 128, sqtt_tests, "v_add_f32x1 done"}, // 5 or 6, 5 x 10, 9 x 8
    {"gfx1100", "v_add_f32x14 issued",                   14, 14, sqtt_tests},
    {"gfx1100", "v_add_f32x15 issued",                   17, 17, sqtt_tests},
    {"gfx1100", "v_add_f32x20 issued",                   25, 25, sqtt_tests, "v_add_f32x15 issued"},
    {"gfx1100", "v_mov_b32>s_nop_0",                      4,  4, sqtt_tests},
    {"gfx1100", "v_mov_b32>s_nop_5",                      9,  9, sqtt_tests},
    {"gfx1100", "v_mov_b32>s_nop_10",                    14, 14, sqtt_tests},
    {"gfx1100", "v_mov_b32>s_nop_11",                    19, 19, sqtt_tests},
    {"gfx1100", "v_mov_b32>s_nop_15",                    23, 23, sqtt_tests},
    {"gfx1100", "v_exp_f32 independent",                  4,  4, sqtt_tests},
    {"gfx1100", "v_add_f64 independent",                 32, 32, sqtt_tests},
    {"gfx1100", "v_add_f64 dependent",                   38, 38, sqtt_tests},
    {"gfx1100", "v_lshlrev_b64 independent",              2,  2, captures},
    {"gfx1100", "v_mad_u64_u32 independent",              4,  4, captures},
    {"gfx1100", "s_add_u32 dependent",                    2,  2, captures},
    {"gfx1100", "s_add_u32 independent",                  1,  1, sqtt_tests},
    {"gfx1100", "s_mul_i32 independent",                  2,  2, captures},
    {"gfx1201", "s_branch",                               9,  9, captures},
    {"gfx1201", "s_cbranch_scc0:taken",                   9,  9, captures},
    {"gfx1100", "s_cbranch_scc1:not_taken",               3,  3, captures},
    {"gfx1100", "v_mov_b32>ds_load_b32",                 17, 18, captures},
    {"gfx1100", "barrier, 2 waves",                      13, 16, captures},
    {"gfx1100", "barrier, 8 waves",                      13, 16, captures},
    {"gfx1100", "v_wmma_f32_16x16x16_f16 independent",   32, 32, calculator},
    {"gfx1100", "v_wmma_f32_16x16x16_bf16 independent",  32, 32, calculator},
    {"gfx1100", "v_wmma_i32_16x16x16_iu8 independent",   32, 32, calculator},
    {"gfx1100", "v_wmma_i32_16x16x16_iu4 independent",   16, 16, calculator},
    {"gfx1201", "v_wmma_f32_16x16x16_f16 independent",   16, 16, calculator},
    {"gfx1201", "v_wmma_i32_16x16x16_iu8 independent",    8,  8, calculator},
    {"gfx1201", "v_wmma_i32_16x16x16_iu4 independent",    8,  8, calculator},
    {"gfx1100", "ds_load_b32, stride 1",                  1,  1, shark},
    {"gfx1100", "ds_load_b64, stride 2",                  2,  2, shark},
    {"gfx1100", "ds_load_b128, stride 4",                 4,  4, shark},
    {"gfx1100", "ds_load_b128, eighths by 4 + 4 lanes",   4,  4, shark},
    {"gfx1201", "ds_load_b128, eighths by 8 lanes",       4,  4, shark},
    {"gfx1100", "ds_load_b32>wait",                      31, 32, captures},
    {"gfx1100", "ds_store_b32>wait",                     33, 33, captures},
};
// clang-format on

std::string fact_of(const Fact &f) { return fmt::format("cycles {} {}", f.gfx, f.measurement); }

// The measured values of one device, by name.
std::map<std::string, f64> measure(const std::string &gfx, const std::vector<Fact> &wanted) {
    const hip::Device device("sim:" + gfx);
    Modules modules(device);
    micro::Settings settings;
    settings.passes = 6; // the model's times do not vary
    settings.repeats = 1;
    std::map<std::string, f64> out;
    for (const micro::Group &group : micro::plan(device.info(), settings)) {
        const bool asked = std::ranges::any_of(wanted, [&](const Fact &f) {
            return gfx == f.gfx &&
                   (std::ranges::find(group.names, f.measurement) != group.names.end() ||
                    std::ranges::find(group.names, f.beyond) != group.names.end());
        });
        if (!asked)
            continue;
        for (const micro::Row &row : group.run(modules))
            out[row.name] = row.value;
    }
    return out;
}

} // namespace

Json validate_cycles(const std::regex &only) {
    std::vector<Fact> wanted;
    for (const Fact &f : facts)
        if (std::regex_search(fact_of(f), only))
            wanted.push_back(f);
    Json rows = Json::array();
    if (wanted.empty())
        return rows;
    std::map<std::string, std::map<std::string, f64>> measured;
    u64 beyond = 0;
    for (const Fact &f : wanted) {
        if (!measured.contains(f.gfx))
            measured[f.gfx] = measure(f.gfx, wanted);
        const std::map<std::string, f64> &values = measured[f.gfx];
        const auto value = values.find(f.measurement);
        if (value == values.end())
            throw Error(
                fmt::format("nw micro has no measurement '{}' on {}", f.measurement, f.gfx));
        const f64 modelled = value->second - (*f.beyond ? values.at(f.beyond) : 0);
        const f64 nearest = std::clamp(modelled, f.low, f.high), off = modelled - nearest;
        Json row = validated(fact_of(f), "cycles", nearest, modelled);
        row.update({{"_gfx", f.gfx},
                    {"_measurement", f.measurement},
                    {"_published", f.low == f.high ? fmt::format("{}", f.low)
                                                   : fmt::format("{} to {}", f.low, f.high)},
                    {"_off", off},
                    {"_source", f.source}});
        rows.push_back(row);
        beyond += off > 1 || off < -1;
    }
    fmt::print("Cycles of one wave (sim) against hardware\n\n");
    print_table("gfx {_gfx:<8}; measurement of nw micro {_measurement:<40}; "
                "published {_published:>10}; modelled {modelled:>9.2f}; off {_off:>+8.2f}; "
                " published by {_source}",
                rows);
    fmt::print("\ncycles: {}; {} more than 1 cycle off\n", summary(rows), beyond);
    return rows;
}

} // namespace nw::bench
