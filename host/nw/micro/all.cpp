// SPDX-License-Identifier: MIT
#include "nw/micro/all.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>

#include "base/error.h"
#include "base/parallel.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "hip/hip.h"
#include "nw/code_object.h"
#include "nw/micro/chains.h"
#include "nw/micro/evidence.h"
#include "nw/micro/instructions.h"
#include "nw/micro/table.h"

namespace nw::cli {

namespace {

constexpr u32 batch = 16; // instructions in a kernel

// s_mov_b32, as other scalar instructions write SCC, which some read.
constexpr std::array<Companion, companions> usual_companions = {
    {{"VALU", "v_mul_f32 v60, v61, v62"},
     {"TRANS", "v_exp_f32 v60, v61"},
     {"SALU", "s_mov_b32 s60, s61"}}};

hip::Device open(const hip::DeviceInfo &info) {
    return info.simulated ? hip::Device::own(info.spec, "timing=on")
                          : hip::Device(info.spec, "timing=on");
}

std::vector<Chain> chains_of(const InstructionRow &row) {
    const Line line(row.line);
    std::vector<Chain> chains = {independent(line),
                                 dependent(row.chain.empty() ? row.line : row.chain)};
    for (const Companion &companion : usual_companions)
        chains.push_back(alternating(line, Line(std::string(companion.line))));
    return chains;
}

constexpr size_t chains_each = 2 + companions;

void store(InstructionRow &row, std::span<const f64> cycles) {
    row.throughput.cycles = cycles[0];
    if (!row.chain.empty())
        row.latency = MeasuredCycles{cycles[1], {}};
    std::ranges::copy(cycles.subspan(2), row.pairs.begin());
}

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

// Measures rows in one kernel. One that faults is divided, until the instruction is alone.
void measure(const hip::DeviceInfo &info, std::span<InstructionRow *const> rows) {
    try {
        std::vector<Chain> chains;
        for (const InstructionRow *row : rows)
            std::ranges::move(chains_of(*row), std::back_inserter(chains));
        const std::vector<f64> took = cycles(open(info), chains);
        for (size_t n = 0; n < rows.size(); ++n)
            store(*rows[n], std::span(took).subspan(n * chains_each, chains_each));
    } catch (const Error &error) {
        if (!info.simulated) // a card may be in any state
            throw;
        if (rows.size() == 1) {
            rows[0]->why_not = first_line(error.what());
            return;
        }
        measure(info, rows.first(rows.size() / 2));
        measure(info, rows.subspan(rows.size() / 2));
    }
}

void measure_rows(const hip::DeviceInfo &info, std::vector<InstructionRow> &all) {
    std::vector<InstructionRow *> rows;
    for (InstructionRow &row : all)
        if (row.why_not.empty())
            rows.push_back(&row);
    const u64 batches = (rows.size() + batch - 1) / batch;
    Progress progress(batches);
    std::mutex mutex; // of progress
    const auto run = [&](u64 n) {
        const std::span<InstructionRow *const> part =
            std::span(rows).subspan(n * batch, std::min<u64>(batch, rows.size() - n * batch));
        measure(info, part);
        const std::lock_guard lock(mutex);
        progress.advance(1);
        progress.show(part.front()->mnemonic);
    };
    if (info.simulated)
        parallel_each(batches, [&] { return run; });
    else // one after the other: they would share the card
        for (u64 n = 0; n < batches; ++n)
            run(n);
}

void measure_companions(const hip::DeviceInfo &info, InstructionTable &table) {
    table.beside = usual_companions;
    std::vector<Chain> chains;
    for (const Companion &companion : table.beside)
        chains.push_back(independent_beside(Line(std::string(companion.line))));
    const std::vector<f64> took = cycles(open(info), chains);
    for (size_t n = 0; n < companions; ++n)
        table.beside[n].alone = took[n];
}

} // namespace

void measure_all(const AllOptions &o) {
    const Pattern only("--only", o.only);
    const hip::DeviceInfo info = hip::Device(o.device, "timing=on").info();
    InstructionTable table{info.label, info.gfx, "", info.simulated, {}, {}, {}};
    table.rows = instructions(info.gfx);
    std::erase_if(table.rows,
                  [&](const InstructionRow &row) { return !only.found_in(row.mnemonic); });
    if (table.rows.empty())
        throw Error(fmt::format("--only {}: matches no instruction of {}; nw isa --gfx {} lists "
                                "them",
                                o.only, info.gfx, info.gfx));
    measure_companions(info, table);
    measure_rows(info, table.rows);
    if (info.simulated)
        add_evidence(table, info);
    if (!o.json.empty())
        write_text("--json", o.json, table_json(table).dump(1) + "\n");
    if (!o.html.empty())
        write_text("--html", o.html, table_html(table));
    if (o.json.empty() && o.html.empty())
        fmt::print("{}", table_text(table));
    else
        fmt::print("{} instructions of {}, {} of them measured\n", table.rows.size(), info.label,
                   std::ranges::count(table.rows, "", &InstructionRow::why_not));
}

} // namespace nw::cli
