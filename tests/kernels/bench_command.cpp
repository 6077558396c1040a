// SPDX-License-Identifier: MIT
// nw_bench as a command: what it prints, the JSON it writes, and what it says to values that
// nothing fits.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "tier.h"

namespace {

struct Run {
    int code;
    std::string output; // both streams
};

Run bench(const std::string &arguments) {
    const std::string command = NW_BUILD_DIR "/bin/nw_bench " + arguments + " 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    Run run{};
    std::array<char, 4096> part;
    while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe))
        run.output.append(part.data(), size);
    const int status = pclose(pipe);
    run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return run;
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("values that nothing fits are named, with the choices, and end in 2") {
    struct Bad {
        const char *arguments, *names, *choices;
    };
    const Bad bad[] = {
        {"--model Qwen9", "--model Qwen9", "Qwen3-4B"},
        {"--layer attention", "--layer attention", "qkv, o, gate_up, down"},
        {"--suite all", "--suite all",
         "layer, decode, prefill, mid, moe, stride, golden, sim, validate, sensitivity, micro, "
         "ops, "
         "pack"},
        {"--suite micro --device sim:gfx1151 --only nothing", "--only nothing", "--list"},
        {"--suite micro --device sim:gfx1151 --only '('", "--only (", ""},
        {"--dtype fp8", "--dtype fp8", "bf16, f16"},
        {"--device sim:gfx1151 --m 9", "--m 9", "f16 g128 m 1 2 3 4 5 6 7 8"},
        {"--device sim:gfx1151 --m 0", "--m 0", "f16 g128 m 1 2 3 4 5 6 7 8"},
        {"--device sim:gfx1151 --group 96", "--group 96", "f16 g128 m 1 2 3 4 5 6 7 8"},
        {"--no-such-option", "--no-such-option", "--help"},
    };
    for (const Bad &b : bad) {
        const Run run = bench(b.arguments);
        INFO(b.arguments, ": ", run.output);
        CHECK(run.code == 2);
        CHECK(contains(run.output, b.names));
        CHECK(contains(run.output, b.choices));
    }
}

TEST_CASE("a device that is not there is misuse, as a file that is not there, and is named") {
    const Run run = bench("--device hip:99");
    CHECK(run.code == 2);
    CHECK(contains(run.output, "hip:99"));
}

TEST_CASE("a part's name after sim: is its gfx, modelled as that part") {
    CHECK(bench("--needs --suite mid --device 'sim:6800 XT'").output ==
          bench("--needs --suite mid --device sim:gfx1030").output);
    const std::string one = "--suite mid --m 1 --dtype f16 --only '2560x2560 g128 f16 sym' ";
    const Run part = bench(one + "--device sim:8060S"), gfx = bench(one + "--device sim:gfx1151");
    CHECK(part.code == 0);
    CHECK(part.output == gfx.output);
    const Run settings = bench(one + "--device 'sim:gfx1151?timing=exact'");
    CHECK(settings.code == 2);
    CHECK(contains(settings.output, "set timing=exact by the variables HIPSIM_*"));
    const Run unknown = bench(one + "--device sim:8060X");
    CHECK(unknown.code == 2);
    CHECK(contains(unknown.output, "as in sim:"));
}

TEST_CASE("one layer: the table, and the JSON by its fixed names") {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("nw_bench_test_" + std::to_string(getpid())))
            .string();
    const std::string product =
        "--device sim:gfx1151 --model Qwen3-30B-A3B --layer o --m 1 --dtype f16 ";
    const Run run = bench(product + "--json " + file);
    INFO(run.output);
    REQUIRE(run.code == 0);
    CHECK(contains(run.output, "2048x4096"));
    CHECK(contains(run.output, "sim gfx1151"));
    CHECK(contains(run.output, "1 products: geometric mean "));
    CHECK(contains(run.output, "all outputs correct"));
    CHECK(!contains(run.output, "slots"));
    CHECK(bench(product).output == run.output); // a time depends on nothing else that runs
    const Run verbose = bench(product + "-v");
    CHECK(contains(verbose.output, "slots older"));
    CHECK(contains(verbose.output, "Wave instructions in thousands"));
    std::ifstream in(file);
    const nlohmann::json json = nlohmann::json::parse(in);
    std::filesystem::remove(file);
    CHECK(json.contains("commit"));
    CHECK(json.at("suite") == "layer");
    CHECK(contains(json.at("device").get<std::string>(), "sim"));
    REQUIRE(json.at("rows").size() >= 2); // the chosen kernel and older ones
    const nlohmann::json &row = json["rows"][0];
    CHECK(row.at("gfx") == "gfx1151");
    CHECK(row.at("model") == "Qwen3-30B-A3B");
    CHECK(row.at("layer") == "o");
    CHECK(row.at("dtype") == "f16");
    CHECK(row.at("group") == 128);
    CHECK(row.at("m") == 1);
    CHECK(row.at("n") == 2048);
    CHECK(row.at("k") == 4096);
    CHECK(row.at("row_stride") == 2176);
    CHECK(row.at("max_err") < 1.0);
    CHECK(row.at("mean_err") < 0.3);
    CHECK(row.at("valu_slots_per_8w") > 4.0); // four dots, and the nibbles don't unpack themselves
    CHECK(row.at("valu_slots_per_8w") < 20.0);
    CHECK(row.at("vgprs") > 0);
    CHECK(row.at("lds_bytes") > 0);
    CHECK(row.at("waves_per_simd") > 0);
    if (row.contains("time_us")) // only where the simulator's timing gave one
        CHECK(row.at("time_us") > 0.0);
}

TEST_CASE("layers that decode_w4a16 can't run are said to be left out") {
    const Run run = bench("--device sim:gfx1151 --model Qwen3-30B-A3B --layer gate_up,down");
    CHECK(run.code == 2);
    CHECK(contains(run.output, "gate_up is a mixture of experts"));
    CHECK(contains(run.output, "no layer is left to run"));
}

TEST_CASE("suites mid and prefill: the family that suits the rows, and the JSON by its names" *
          all_tier()) {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("nw_bench_mid_" + std::to_string(getpid())))
            .string();
    const auto rows_of = [&](const std::string &arguments) {
        const Run run = bench("--device sim:gfx1151 --dtype f16 --json " + file + " " + arguments);
        INFO(run.output);
        REQUIRE(run.code == 0);
        std::ifstream in(file);
        const nlohmann::json json = nlohmann::json::parse(in);
        std::filesystem::remove(file);
        return json.at("rows");
    };
    const nlohmann::json mid = rows_of("--suite mid --m 1,16 --only '2560x2560 g128 f16 sym'");
    REQUIRE(mid.size() >= 2);
    CHECK(mid[0].at("kernel").get<std::string>().starts_with("decode_w4a16_f16_g128_m1"));
    CHECK(mid[0].at("of_m1") == 1.0);
    CHECK(mid[1].at("kernel") == "mid_w4a16_f16_g128_16x32");
    CHECK(mid[1].at("time_us") > mid[0].at("time_us").get<double>());
    CHECK(mid[1].at("of_m1") < 2.0);
    const nlohmann::json many = rows_of("--suite prefill --m 128 --only '2560x2560 f16 sym'");
    REQUIRE(many.size() == 1);
    CHECK(many[0].at("kernel").get<std::string>().starts_with("prefill_w4a16_f16_g128_"));
    CHECK(many[0].at("m") == 128);
    CHECK(many[0].at("tflops") > many[0].at("published_tuned_tflops").get<double>() / 8);
    CHECK(many[0].at("pct_of_wmma_peak") < 100.0);
    const nlohmann::json ladder =
        rows_of("--suite prefill --table ladder --m 256 --only '2560x3840'");
    REQUIRE(ladder.size() == 6);
    CHECK(ladder.front().at("with").get<std::string>().starts_with("plain"));
    CHECK(ladder.back().at("kernel") == "prefill_w4a16_f16_g128_256x128");
    CHECK(ladder[1].at("tflops") > ladder[0].at("tflops").get<double>()); // gains on any shape
    CHECK(bench("--suite mid --device sim:gfx1151 --only no_such_shape").code == 2);
}

TEST_CASE("suite moe: the table, and the JSON by its fixed names" * all_tier()) {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("nw_bench_moe_" + std::to_string(getpid())))
            .string();
    const auto has_bounds = [](const nlohmann::json &row) {
        CHECK(row.at("draws_us").size() == 5);
        CHECK(row.at("time_low_us") < row.at("time_high_us").get<double>());
        CHECK(row.at("time_low_us") <= row.at("time_us").get<double>());
        CHECK(row.at("time_us") <= row.at("time_high_us").get<double>());
    };
    const Run run = bench("--suite moe --device sim:gfx1151 --uncertainty --dtype bf16 --only "
                          "'Qwen3.5-35B-A3B (down|gate_up) .* t1 b1( silu)?$' --json " +
                          file);
    INFO(run.output);
    REQUIRE(run.code == 0); // nothing was outside the error bound
    std::ifstream in(file);
    const nlohmann::json json = nlohmann::json::parse(in);
    std::filesystem::remove(file);
    CHECK(json.at("suite") == "moe");
    REQUIRE(json.at("rows").size() == 3); // gate_up without and with silu, down
    for (const nlohmann::json &row : json["rows"]) {
        CHECK(row.at("kernel") == "moe_w4a16_bf16_g128_b1");
        CHECK(row.at("model") == "Qwen3.5-35B-A3B");
        CHECK(row.at("experts") == 8);
        CHECK(row.at("block_size_m") == 1);
        CHECK(row.at("max_err") < 1.0);
        CHECK(row.at("time_us") > 0.0);
        has_bounds(row);
        CHECK(row.at("pct_of_bound") < 100.0);
        CHECK(row.at("pct_of_bound_without_launch") > row.at("pct_of_bound").get<double>());
    }
    const Run many = bench("--suite moe --device sim:gfx1151 --uncertainty --dtype f16 --only "
                           "'Qwen3-30B-A3B down .* t64 b16$' --json " +
                           file);
    INFO(many.output);
    REQUIRE(many.code == 0);
    std::ifstream in_many(file);
    const nlohmann::json row = nlohmann::json::parse(in_many).at("rows").at(0);
    std::filesystem::remove(file);
    CHECK(row.at("kernel") == "moe_prefill_w4a16_f16_g128_16x64");
    CHECK(row.at("tokens") == 64);
    CHECK(row.at("block_size_m") == 16);
    CHECK(row.at("bound") == "dram");
    CHECK(row.at("align_us") > 0.0);
    has_bounds(row);
    CHECK(row.at("tflops") > 0.0);
    CHECK(row.at("pct_of_bound") < 100.0);
    CHECK(row.at("pct_of_wmma_peak") < row.at("pct_of_dram_bound"));
    const Run none = bench("--suite moe --device sim:gfx1151 --only Qwen3-4B");
    CHECK(none.code == 2);
    CHECK(contains(none.output, "--only Qwen3-4B: no row of the suite moe"));
}

TEST_CASE("suite sim: rows by their fixed names, and unknown ones are said") {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("nw_bench_sim_" + std::to_string(getpid())))
            .string();
    const Run run =
        bench("--suite sim --only 'scalar|micro_valu_mix|micro_wmma_iu8' --json " + file);
    INFO(run.output);
    REQUIRE(run.code == 0);
    std::ifstream in(file);
    const nlohmann::json json = nlohmann::json::parse(in);
    std::filesystem::remove(file);
    CHECK(json.at("suite") == "sim");
    REQUIRE(json.at("rows").size() == 8);
    CHECK(json["rows"][0].at("name") == "scalar interpreter");
    std::set<std::string> checks; // micro_valu_mix under each of them
    for (const nlohmann::json &row : json["rows"]) {
        CHECK(row.at("wave_insts_per_s") > 1000.0);
        CHECK(row.contains("slowdown") == (row.at("check") != "off"));
        if (row.contains("slowdown")) {
            CHECK(row["name"] == "micro_valu_mix");
            CHECK(row["slowdown"] > 0.1);
            checks.insert(row["check"]);
        }
    }
    CHECK(checks == std::set<std::string>{"all", "init", "mem", "race", "wait"});
    CHECK(contains(run.output, "times as slow with HIPSIM_CHECK="));
    CHECK(bench("--suite sim --only no_such_name").code == 2);
    CHECK(bench("--suite sim --device hip:0 --only scalar").code != 0);
}

TEST_CASE("suite pack: packing beside a plain copy") {
    const std::string file = (std::filesystem::temp_directory_path() /
                              ("nw_bench_pack_rows_" + std::to_string(getpid())))
                                 .string();
    const Run run = bench("--suite pack --only 'pack awq' --json " + file);
    INFO(run.output);
    REQUIRE(run.code == 0);
    std::ifstream in(file);
    const nlohmann::json json = nlohmann::json::parse(in);
    std::filesystem::remove(file);
    CHECK(json.at("suite") == "pack");
    REQUIRE(json.at("rows").size() == 1);
    const nlohmann::json &row = json["rows"][0];
    CHECK(row.at("name") == "pack awq asym");
    CHECK(row.at("gb_per_s") > 0.01);
    CHECK(row.at("of_copy") ==
          row.at("gb_per_s").get<double>() / row.at("copy_gb_per_s").get<double>());
    CHECK(row.at("time_us") > 0);
    CHECK(bench("--suite pack --only no_such_format").code == 2);
}

TEST_CASE("suite validate: model against published, by the fixed names") {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("nw_bench_validate_" + std::to_string(getpid())))
            .string();
    const Run run = bench("--suite validate --only 'cycles gfx1100 v_add_f32 independent|"
                          "decode 2048x2048 g128 f16 sym m1|cliff gfx1151 8192x512' --json " +
                          file);
    INFO(run.output);
    REQUIRE(run.code == 0);
    std::ifstream in(file);
    const nlohmann::json json = nlohmann::json::parse(in);
    std::filesystem::remove(file);
    CHECK(json.at("suite") == "validate");
    REQUIRE(json.at("rows").size() == 3);
    std::set<std::string> groups;
    for (const nlohmann::json &row : json["rows"]) {
        groups.insert(row.at("group"));
        CHECK(row.at("published") > 0.0);
        CHECK(row.at("modelled") > 0.0);
        CHECK(row.at("error_pct").get<double>() ==
              doctest::Approx(
                  100 * (row["modelled"].get<double>() / row["published"].get<double>() - 1)));
        CHECK(row.at("error_pct") < 50.0);
        CHECK(row.at("error_pct") > -50.0);
    }
    CHECK(groups == std::set<std::string>{"cliff", "cycles", "decode"});
    CHECK(contains(run.output, "MAPE"));
    CHECK(contains(run.output, "line: t0"));
    CHECK(bench("--suite validate --only no_such_fact").code == 2);
    CHECK(bench("--suite validate --only '('").code == 2);
    CHECK(bench("--suite validate --device hip:0").code == 2);
}

TEST_CASE("suite sensitivity: what moves with a constant, and what doesn't") {
    const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                       ("nw_bench_sensitivity_" + std::to_string(getpid()));
    const Run run =
        bench("--suite sensitivity --only 'decode 2048x2048 g128 f16 sym m1 ' --constants "
              "'^(launch_overhead|atomic_latency)$' --json " +
              path.string());
    INFO(run.output);
    REQUIRE(run.code == 0);
    const nlohmann::json json = nlohmann::json::parse(std::ifstream(path));
    std::filesystem::remove(path);
    std::map<std::string, double> moved;
    for (const nlohmann::json &row : json.at("rows"))
        if (row.at("to") > row.at("from"))
            moved[row.at("constant")] = row.at("decode_mean_pct");
    CHECK(moved.at("atomic_latency") == 0);
    CHECK(moved.at("launch_overhead") > 1);
    CHECK(moved.at("launch_overhead") < 50);
    CHECK(contains(run.output, "each row left out of the fit"));
    CHECK(bench("--suite sensitivity --constants no_such").code == 2);
    CHECK(bench("--suite sensitivity --constants '('").code == 2);
}

TEST_CASE("suite micro writes what nw micro measures") {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / "nw_bench_micro.json";
    const Run run = bench(
        "--suite micro --device sim:gfx1151 --only '^(v_exp_f32 independent|launch.*)$' --json " +
        path.string());
    INFO(run.output);
    REQUIRE(run.code == 0);
    CHECK(contains(run.output, "sim gfx1151"));
    const nlohmann::json json = nlohmann::json::parse(std::ifstream(path));
    std::filesystem::remove(path);
    CHECK(json["suite"] == "micro");
    REQUIRE(json["rows"].size() == 2);
    CHECK(json["rows"][0]["name"] == "v_exp_f32 independent");
    CHECK(json["rows"][0]["value"] == 4);
    CHECK(json["rows"][0]["unit"] == "cycles");
    CHECK(json["rows"][1]["time_us"].get<double>() > 0);
}
