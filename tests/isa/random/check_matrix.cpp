// SPDX-License-Identifier: MIT
// Matrix instructions: waves whose registers hold random matrices, under any EXEC and MODE.
#include <cstring>

#include "isa/random/levels.h"
#include "isa/random/matrix.h"
#include "sim/assemble.h"

namespace nw::oracle {

namespace {

constexpr unsigned result_words = 8, first_result = 28; // v28 to v35

// In registers of every lane, then MODE and EXEC of every wave.
struct MatrixBatch {
    std::vector<Matrices> matrices;
    LaneRegisters in;
    std::vector<std::array<u32, 4>> waves; // MODE, EXEC
    std::vector<u32> out;                  // [wave][lane][register - first_result]
};

std::string body(const MatrixCase &m) {
    std::string text =
        fmt::format(R"(  s_load_b64 s[6:7], s[0:1], 0x10
  s_mov_b32 s10, {}
  s_lshl_b32 s11, s10, 4
  {}
  s_load_b128 s[16:19], s[6:7], s11 offset:0x0
  s_mul_i32 s12, s10, {}
  v_add_nc_u32 v1, s12, v0
  v_mul_u32_u24 v2, {}, v1
)",
                    m.gfx12 ? "ttmp9" : "s15", m.gfx12 ? "s_wait_kmcnt 0" : "s_waitcnt lgkmcnt(0)",
                    m.wave, 4 * matrix_registers);
    for (unsigned n = 0; n < matrix_registers; ++n)
        text +=
            fmt::format("  global_load_b32 v{}, v2, s[2:3] offset:{}\n", first_register + n, 4 * n);
    text +=
        m.gfx12 ? "  s_wait_loadcnt 0\n  s_wait_kmcnt 0\n" : "  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
    text += "  s_setreg_b32 hwreg(1, 0, 24), s16\n  s_mov_b32 exec_lo, s17\n";
    text += m.wave == 64 ? "  s_mov_b32 exec_hi, s18\n" : "";
    text += "  " + m.text() + "\n  s_mov_b32 exec_lo, -1\n";
    text += m.wave == 64 ? "  s_mov_b32 exec_hi, -1\n" : "";
    text += fmt::format("  v_lshlrev_b32 v3, 5, v1\n"
                        "  global_store_b128 v3, v[{}:{}], s[4:5]\n"
                        "  global_store_b128 v3, v[{}:{}], s[4:5] offset:16",
                        first_result, first_result + 3, first_result + 4, first_result + 7);
    return text;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

std::string kernel_name(size_t n) { return fmt::format("k{}", n); }

std::string source(const MatrixCase &m, const std::string &gfx, const std::string &name) {
    sim::test::KernelText k;
    k.gfx = gfx;
    k.wave = m.wave;
    k.kernarg = 24;
    k.body = body(m);
    if (!m.gfx12 && !target_of(gfx).init16) // the workgroup in s15, as there (A-001)
        k.descriptor = ".amdhsa_user_sgpr_count 15";
    return replaced(replaced(sim::test::kernel_source(k), "test", name), ".Lend", ".Lend_" + name);
}

MatrixBatch make_batch(const MatrixCase &m, unsigned count, Random &random) {
    MatrixBatch b;
    for (unsigned n = 0; n < count; ++n) {
        b.matrices.push_back(random_matrices(m, random));
        const LaneRegisters lanes = pack(m, b.matrices[n], random);
        b.in.insert(b.in.end(), lanes.begin(), lanes.end());
        const u32 fields = static_cast<u32>(random()) & 0x3ff; // 2.54: they don't matter
        b.waves.push_back({fields | (b.matrices[n].saturate_f16 ? 1u << 23 : 0),
                           some_exec(n, random), some_exec(n + 1, random), 0});
    }
    b.out.resize(count * m.wave * result_words);
    return b;
}

void run(const sim::Program &program, const std::string &kernel, const MatrixCase &m,
         const std::string &gfx, MatrixBatch &b) {
    sim::Memory memory;
    auto copied = [&](const auto &data) {
        const size_t bytes = data.size() * sizeof data[0];
        void *p = memory.allocate(bytes);
        std::memcpy(p, data.data(), bytes);
        return p;
    };
    void *out = copied(b.out);
    void *arguments[] = {copied(b.in), out, copied(b.waves)};
    sim::Dispatch d;
    d.program = &program;
    d.kernel = program.find_kernel(kernel);
    d.grid.x = static_cast<u32>(b.waves.size());
    d.block.x = m.wave;
    d.kernarg = std::as_bytes(std::span(arguments));
    sim::RunConfig config;
    config.threads = 1;
    sim::run(d, memory, *sim::find_device(gfx), config);
    std::memcpy(b.out.data(), out, b.out.size() * sizeof b.out[0]);
}

// [lane][register - first_result]: D's elements, and the rest as it was.
using WantedRegisters = std::vector<u32>;

WantedRegisters wanted(const MatrixCase &m, const Matrices &x, const u32 *lanes) {
    WantedRegisters w;
    for (unsigned l = 0; l < m.wave; ++l)
        for (unsigned n = 0; n < result_words; ++n)
            w.push_back(lanes[l * matrix_registers + first_result - first_register + n]);
    for (unsigned row = 0; row < side; ++row)
        for (unsigned column = 0; column < side; ++column) {
            const ElementPlace p = place_of_result(m, row, column);
            const u64 value = matrix_element(m, x, row, column);
            const u32 field = bits_of(m.c) == 16 ? 0xffffu << p.shift : ~0u;
            u32 &word = w[p.lane * result_words + p.reg];
            word = (word & ~field) | (static_cast<u32>(value) << p.shift & field);
        }
    return w;
}

bool check_batch(const MatrixCase &m, const Place &p, const MatrixBatch &b,
                 const std::vector<WantedRegisters> &want) {
    const size_t size = m.wave * result_words;
    for (size_t n = 0; n < b.out.size(); ++n) {
        const u32 got = b.out[n], wants = want[n / size][n % size];
        if (got == wants)
            continue;
        fmt::print(
            "{} wave{} {} {}: matrix {} MODE {:#x} EXEC {:#x} {:#x}: lane {} v{}: got {:#x}, "
            "want {:#x} (seed {:#x})\n",
            p.gfx, m.wave, sim::name_of(p.level), p.text, n / size, b.waves[n / size][0],
            b.waves[n / size][1], b.waves[n / size][2], n % size / result_words,
            first_result + n % result_words, got, wants, p.options.seed);
        return false;
    }
    return true;
}

bool check_case(const MatrixCase &m, const sim::Program &program, const std::string &kernel,
                const std::string &gfx, const Options &options, Totals &t) {
    const std::string text = m.text();
    Random random(options.seed ^ std::hash<std::string>{}(text));
    MatrixBatch b = make_batch(m, std::max(options.waves / 16, 4u), random);
    std::vector<WantedRegisters> want;
    for (size_t n = 0; n < b.matrices.size(); ++n)
        want.push_back(wanted(m, b.matrices[n], &b.in[n * m.wave * matrix_registers]));
    bool good = true;
    for (sim::HostLevel level : options.levels) {
        sim::HostLevelScope scope(level);
        run(program, kernel, m, gfx, b);
        good &= check_batch(m, Place{gfx, text, level, options}, b, want);
    }
    t.instructions.insert(m.mnemonic);
    ++t.forms;
    t.modes += b.matrices.size();
    t.lanes += b.matrices.size() * side * side; // elements
    return good;
}

} // namespace

Totals check_matrix(const std::string &gfx, const Options &options) {
    Totals totals;
    for (unsigned wave : {32u, 64u}) {
        std::vector<MatrixCase> cases;
        std::string text;
        for (const MatrixCase &m : matrix_cases(gfx.starts_with("gfx12"), wave)) {
            if (m.mnemonic.find(options.only) == std::string::npos)
                continue;
            text += source(m, gfx, kernel_name(cases.size()));
            cases.push_back(m);
        }
        if (cases.empty())
            continue;
        const auto program = sim::Program::load(sim::test::assemble(gfx, text), gfx);
        for (size_t n = 0; n < cases.size(); ++n)
            try {
                if (!check_case(cases[n], *program, kernel_name(n), gfx, options, totals))
                    totals.failed.insert(cases[n].mnemonic);
            } catch (const sim::Fault &fault) {
                fmt::print("{} wave{} {}: {}\n", gfx, wave, cases[n].text(), fault.what());
                totals.failed.insert(cases[n].mnemonic);
            }
    }
    return totals;
}

} // namespace nw::oracle
