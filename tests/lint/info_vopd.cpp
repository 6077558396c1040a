// SPDX-License-Identifier: MIT
// The rules of VOPD against the assembler, and the pairs that a kernel misses.
#include "lint/pairs.h"
#include "lint/survey.h"
#include "lint/vopd.h"
#include "sim/assemble.h"
#include "sim/isa/code.h"
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <random>
#include <regex>
#include <set>

using namespace nw;
using namespace nw::sim::test;
using lint::VopdHalf, lint::VopdRule;

namespace {

// Which of these lines, from 0, the assembler refuses.
std::set<size_t> refused(const std::string &gfx, const std::vector<std::string> &lines) {
    std::string source;
    for (const std::string &line : lines)
        source += line + "\n";
    std::set<size_t> out;
    try {
        assemble(gfx, source);
    } catch (const std::runtime_error &error) {
        const std::string log = error.what();
        const std::regex place(R"(test\.s:(\d+):\d+: error)");
        for (std::sregex_iterator at(log.begin(), log.end(), place), end; at != end; ++at)
            out.insert(std::stoul((*at)[1]) - 1);
    }
    return out;
}

VopdRule rule_of(const std::string &x, const std::string &y, bool gfx12) {
    const auto a = VopdHalf::of_dual(sim::parse_operation(x), gfx12);
    const auto b = VopdHalf::of_dual(sim::parse_operation(y), gfx12);
    return a && b ? broken_as_written(*a, *b) : VopdRule::no_dual_form;
}

class Texts {
public:
    explicit Texts(bool gfx12) : gfx12_(gfx12) {}

    // Half of a pair with sources of all kinds.
    std::string half() {
        const std::string most = gfx12_ ? "max_num_f32" : "max_f32";
        const std::string names[] = {
            "mov_b32",          "add_f32",  "mul_f32",    "subrev_f32",  most,
            "mul_dx9_zero_f32", "fmac_f32", "fmaak_f32",  "fmamk_f32",   "cndmask_b32",
            "dot2acc_f32_f16",  "and_b32",  "add_nc_u32", "lshlrev_b32", "dot2acc_f32_bf16"};
        const std::string &name = names[pick(std::size(names))];
        const std::string begin = fmt::format("v_dual_{} v{}, {}", name, pick(8), source());
        if (name == "mov_b32")
            return begin;
        if (name == "fmamk_f32")
            return fmt::format("{}, {}, v{}", begin, literal(), 8 + pick(8));
        const std::string two = fmt::format("{}, v{}", begin, 8 + pick(8));
        return name == "fmaak_f32" ? fmt::format("{}, {}", two, literal()) : two;
    }

private:
    u32 pick(size_t below) { return static_cast<u32>(random_() % below); }
    const char *literal() { return pick(4) ? "0x1234567" : "0x7654321"; }
    std::string source() {
        constexpr const char *others[] = {"s2", "s2", "s3", "vcc_lo", "0.5", "17", "src_scc"};
        switch (pick(4)) {
        case 0:
            return others[pick(std::size(others))];
        case 1:
            return pick(2) ? literal() : fmt::format("v{}", pick(8));
        default:
            return fmt::format("v{}", 8 + pick(8));
        }
    }
    const bool gfx12_;
    std::mt19937 random_{20240607};
};

struct Pair {
    const char *x, *y;
    VopdRule rule;
};
constexpr Pair kept_and_broken[] = {
    {"v_dual_mul_f32 v0, v4, v8", "v_dual_mul_f32 v1, v5, v9", VopdRule::none},
    {"v_dual_sub_f32 v0, v4, v8", "v_dual_sub_f32 v1, v16, v9", VopdRule::src0_bank},
    {"v_dual_sub_f32 v0, v4, v8", "v_dual_sub_f32 v1, v5, v12", VopdRule::src1_bank},
    {"v_dual_mul_f32 v0, v4, v8", "v_dual_mul_f32 v1, v4, v9", VopdRule::src0_bank},
    {"v_dual_mov_b32 v0, v4", "v_dual_mul_f32 v2, v5, v8", VopdRule::parity},
    {"v_dual_fmamk_f32 v0, v4, 0x1234567, v9", "v_dual_fmac_f32 v1, v5, v9", VopdRule::src2_bank},
    {"v_dual_fmamk_f32 v0, v4, 0x1234567, v8", "v_dual_fmac_f32 v1, v5, v9", VopdRule::none},
    {"v_dual_mul_f32 v0, s4, v8", "v_dual_mul_f32 v1, s5, v9", VopdRule::none},
    {"v_dual_cndmask_b32 v0, s4, v8", "v_dual_mul_f32 v1, s5, v9", VopdRule::scalars},
    {"v_dual_cndmask_b32 v0, s4, v8", "v_dual_mul_f32 v1, s4, v9", VopdRule::none},
    {"v_dual_cndmask_b32 v0, v4, v8", "v_dual_mul_f32 v1, vcc_lo, v9", VopdRule::none},
    {"v_dual_cndmask_b32 v0, s4, v8", "v_dual_mul_f32 v1, vcc_lo, v9", VopdRule::scalars},
    {"v_dual_fmaak_f32 v0, s4, v8, 0x1234567", "v_dual_mul_f32 v1, s5, v9", VopdRule::scalars},
    {"v_dual_mul_f32 v0, 0x1234567, v8", "v_dual_mul_f32 v1, 0x1234567, v9", VopdRule::none},
    {"v_dual_mul_f32 v0, 0x1234567, v8", "v_dual_mul_f32 v1, 0x7654321, v9", VopdRule::literals},
    {"v_dual_mul_f32 v0, v4, v8", "v_dual_and_b32 v1, v5, v9", VopdRule::none},
    {"v_dual_and_b32 v0, v4, v8", "v_dual_and_b32 v1, v5, v9", VopdRule::both_y},
};

lint::Survey survey(const std::shared_ptr<const sim::Program> &program) {
    return lint::Survey(*program, *program->find_kernel("test"));
}

// The rules of the pairs that straight code misses.
std::vector<VopdRule> missed(const std::string &body, u32 wave = 32,
                             const std::string &gfx = "gfx1151") {
    KernelText text;
    text.gfx = gfx;
    text.wave = wave;
    text.body = body;
    const auto program = load(text);
    const lint::Survey s = survey(program);
    std::vector<VopdRule> out;
    for (const lint::MissedPair &m : s.pairs.missed())
        out.push_back(m.rule);
    return out;
}

} // namespace

TEST_CASE("each rule kept and broken, by us and by the assembler") {
    for (const std::string gfx : {"gfx1100", "gfx1151", "gfx1201"}) {
        std::vector<std::string> lines;
        for (const Pair &p : kept_and_broken)
            lines.push_back(fmt::format("{} :: {}", p.x, p.y));
        const auto no = refused(gfx, lines);
        for (size_t n = 0; n < lines.size(); ++n) {
            CAPTURE(gfx);
            CAPTURE(lines[n]);
            const Pair &p = kept_and_broken[n];
            CHECK(rule_of(p.x, p.y, is_gfx12(gfx)) == p.rule);
            CHECK(no.contains(n) == (p.rule != VopdRule::none));
        }
    }
}

TEST_CASE("thousands of pairs: the assembler agrees") {
    for (const std::string gfx : {"gfx1100", "gfx1151", "gfx1201"}) {
        Texts texts(is_gfx12(gfx));
        std::vector<std::string> lines;
        std::vector<VopdRule> rules;
        for (int n = 0; n < 6000; ++n) {
            const std::string x = texts.half(), y = texts.half();
            lines.push_back(fmt::format("{} :: {}", x, y));
            rules.push_back(rule_of(x, y, is_gfx12(gfx)));
        }
        const auto no = refused(gfx, lines);
        size_t allowed = 0;
        std::set<VopdRule> seen;
        for (size_t n = 0; n < lines.size(); ++n) {
            CAPTURE(gfx);
            CAPTURE(lines[n]);
            CAPTURE(std::string(name(rules[n])));
            CHECK(no.contains(n) == (rules[n] != VopdRule::none));
            allowed += rules[n] == VopdRule::none;
            seen.insert(rules[n]);
        }
        CHECK(allowed > 300);
        CHECK(seen.size() == 8); // none, and each that text alone can break
    }
}

TEST_CASE("two moves of gfx12 may read one bank") {
    const char *x = "v_dual_mov_b32 v0, v4", *y = "v_dual_mov_b32 v1, v8";
    CHECK(rule_of(x, y, false) == VopdRule::src0_bank);
    CHECK(rule_of(x, y, true) == VopdRule::none);
    CHECK(refused("gfx1151", {fmt::format("{} :: {}", x, y)}).size() == 1);
    CHECK(refused("gfx1201", {fmt::format("{} :: {}", x, y)}).empty());
}

TEST_CASE("missed pairs: why") {
    using enum VopdRule;
    using Rules = std::vector<VopdRule>;
    CHECK(missed("  v_mov_b32 v10, v4\n  v_mov_b32 v11, v5\n") == Rules{none});
    CHECK(missed("  v_sub_f32 v10, v4, v8\n  v_lshlrev_b32 v11, v12, v5\n") == Rules{src0_bank});
    CHECK(missed("  v_mov_b32 v10, v4\n  v_mov_b32 v12, v5\n") == Rules{parity});
    CHECK(missed("  v_and_b32 v10, v4, v8\n  v_and_b32 v11, v5, v9\n") == Rules{both_y});
    CHECK(missed("  v_mov_b32 v10, v4\n  v_add_f32 v11, v10, v5\n") == Rules{dependency});
    CHECK(missed("  v_mov_b32 v10, v4\n  v_mov_b32 v11, v5\n", 64) == Rules{wave64});
    CHECK(missed("  v_mov_b32 v10, 0x12345\n  v_mov_b32 v11, 0x54321\n") == Rules{literals});
    // The second may overwrite a source of the first: both read before either writes.
    CHECK(missed("  v_mov_b32 v10, v5\n  v_mov_b32 v5, v4\n") == Rules{none});
    // But not as X (H-030), which it has to be where the first can't.
    CHECK(missed("  v_and_b32 v10, v5, v8\n  v_mov_b32 v5, v4\n") == Rules{dependency});
    CHECK(missed("  v_and_b32 v10, v5, v8\n  v_mov_b32 v7, v4\n") == Rules{none});
    // Sources of one parity (H-026).
    for (const char *gfx : {"gfx1100", "gfx1151", "gfx1201"}) {
        const VopdRule rule = is_gfx12(gfx) ? none : interlock;
        CHECK(missed("  v_mov_b32 v10, v4\n  v_add_f32 v11, v6, v8\n", 32, gfx) == Rules{rule});
        CHECK(missed("  v_add_f32 v10, s2, v4\n  v_add_f32 v11, s2, v6\n", 32, gfx) == Rules{rule});
        CHECK(missed("  v_add_f32 v10, v4, v7\n  v_sub_f32 v11, v6, v9\n", 32, gfx) == Rules{none});
    }
    // Sources swap, sub to subrev as well.
    CHECK(missed("  v_mul_f32 v10, v4, v9\n  v_sub_f32 v11, v8, v5\n") == Rules{none});
    // Nothing to pair with, or without dual form.
    CHECK(missed("  v_mov_b32 v10, v4\n  v_perm_b32 v11, v5, v6, v7\n").empty());
    CHECK(missed("  v_mul_f32 v10, -v4, v5\n  v_mov_b32 v11, v5\n").empty());
}

TEST_CASE("missed pairs: what is between") {
    using enum VopdRule;
    using Rules = std::vector<VopdRule>;
    const std::string first = "  v_mov_b32 v10, v4\n", second = "  v_mov_b32 v11, v5\n";
    CHECK(missed(first + "  s_nop 0\n  v_perm_b32 v20, v6, v6, v7\n" + second) == Rules{none});
    // The first goes down past a wait, the second doesn't go up.
    CHECK(missed("  global_load_b32 v5, v0, s[2:3]\n" + first + "  s_waitcnt vmcnt(0)\n" +
                 second) == Rules{none});
    CHECK(missed("  global_load_b32 v5, v0, s[2:3]\n" + first +
                 "  s_waitcnt vmcnt(0)\n  v_perm_b32 v20, v10, v6, v7\n" + second) ==
          Rules{dependency});
    CHECK(missed(first + "  s_mov_b32 exec_lo, s20\n" + second) == Rules{dependency});
    // The compatible one of two candidates is taken, even if it is further away.
    const auto found = missed(first + "  v_mov_b32 v12, v5\n" + second + "  v_mov_b32 v13, v6\n");
    CHECK(found == Rules{none, none});
}

TEST_CASE("missed pairs: counts of taken, and without dual form") {
    KernelText text;
    text.body = "  v_dual_mov_b32 v10, v4 :: v_dual_mov_b32 v11, v5\n  v_perm_b32 v20, v6, v6, v7\n"
                "  v_mov_b32 v12, v4\n";
    const auto program = load(text);
    const auto counts = survey(program).pairs_of({0});
    CHECK(counts.taken == 1);
    CHECK(counts.without_form == 1);
    CHECK(counts.alone == 1);
}
