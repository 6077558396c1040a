// SPDX-License-Identifier: MIT
// nw doctor: the first tests to run on a card.
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <numeric>

#include "hip/failure.h"
#include "nw/commands.h"
#include "nw/doctor/doctor.h"

namespace nw::cli {

namespace {

constexpr const char *names[] = {"ok", "warn", "FAIL"};

const char *name_of(State state) { return names[static_cast<int>(state)]; }

struct Options {
    std::string device, json;
    std::vector<std::string> families;
    u64 copies = 0; // 0: as the device can take
};

// A check that can't go on is a verdict, and the next one is tried.
void examine(Examination &e) {
    constexpr std::pair<const char *, void (*)(Examination &)> checks[] = {
        {"versions", look_at_versions}, {"copies", try_copies}, {"host_memory", try_host_memory},
        {"pools", try_mappings},        {"graphs", try_graphs}, {"kernels", try_kernels},
    };
    for (const auto &[name, check] : checks)
        try {
            check(e);
        } catch (const Error &error) {
            e.add(name, State::fail, error.what());
        }
}

void write_json(std::ofstream file, const std::string &path, const Examination &e) {
    nlohmann::ordered_json out{{"schema", "nibblewave.doctor.v1"}, {"versions", e.versions}};
    out["verdicts"] = nlohmann::ordered_json::array();
    for (const Verdict &verdict : e.verdicts)
        out["verdicts"].push_back(
            {{"check", verdict.check}, {"state", name_of(verdict.state)}, {"text", verdict.text}});
    file << out.dump(1) << '\n';
    if (!file.flush())
        throw Error(path + ": can't be written");
}

void run(const Options &o) {
    std::ofstream file(o.json);
    const hip::Device device(o.device, "timing=off");
    const bool simulated = device.info().simulated;
    Modules modules(device);
    fmt::print("nw doctor: {} ({})\n", device.info().label, device.info().gfx);
    Examination e{.device = device,
                  .modules = modules,
                  .copies = o.copies    ? o.copies
                            : simulated ? 4096
                                        : 256'000,
                  .rounds = simulated ? 4u : 200u,
                  .families = o.families};
    if (e.families.empty())
        e.families = {simulated ? "permute_a" : "all"};
    examine(e);
    const auto failed = std::ranges::count(e.verdicts, State::fail, &Verdict::state);
    fmt::print("{} of {} verdicts are FAIL\n", failed, e.verdicts.size());
    if (!o.json.empty())
        write_json(std::move(file), o.json, e);
    if (failed)
        throw Findings();
}

} // namespace

void Examination::add(std::string check, State state, std::string text) {
    fmt::print("{:<4}  {:<13} {}\n", name_of(state), check, text);
    std::fflush(stdout);
    verdicts.push_back({std::move(check), state, std::move(text)});
}

void Examination::copy_by_kernel(const void *x, void *y, u64 count, const hip::Stream &stream) {
    if (!order.size()) {
        std::vector<u32> numbers(row_words);
        std::iota(numbers.begin(), numbers.end(), 0u);
        order = device.allocate(4 * row_words);
        order.upload(numbers.data(), 4 * row_words);
    }
    Op op{.kind = OpKind::permute_a};
    op.m = count / row_words, op.k = row_words;
    op.a = address(x), op.perm = address(order.data()), op.y = address(y);
    launch(modules, op, stream);
}

void add_doctor(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "doctor", "Test a card: copies, memory, graphs, kernels, and known faults of its versions");
    command.add("--device", &o->device, "hip:N, or sim:gfx1151; default: the first supported GPU");
    command.add("--json", &o->json, "Write all verdicts and versions to this file",
                {.writable_file = true});
    command.add("--families", &o->families,
                "Families of kernels to check, comma-separated, or all; default: all, on a "
                "simulated device permute_a",
                {.comma_separated = true});
    command.add("--copies", &o->copies,
                "Number of small copies; default: 256000, on a simulated device 4096");
    command.footer = "Exit code 1: a verdict is FAIL. warn: a reported fault of these versions, or "
                     "not tested.\n\n"
                     "  nw doctor --json doctor.json\n"
                     "  nw doctor --device sim:gfx1151";
    command.run = [o] { run(*o); };
}

} // namespace nw::cli
