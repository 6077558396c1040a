// SPDX-License-Identifier: MIT
// Counts of `nw info`: occupancy, loops, live registers, bytes, operations. VOPD: info_vopd.cpp.
#include "lint/occupancy.h"
#include "lint/survey.h"
#include "sim/assemble.h"
#include "sim/isa/code.h"
#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace nw;
using namespace nw::sim::test;
using lint::Occupancy, lint::Survey;

namespace {

constexpr u32 wgp_mode = 1u << 29;

// From its descriptor alone; VGPRs in the descriptor's granules of 8.
sim::KernelInfo kernel(u32 vgprs, u32 workgroup, u32 wave = 32) {
    sim::KernelInfo k;
    k.name = "made_up";
    k.wave_size = wave;
    k.rsrc1 = (vgprs / (wave == 32 ? 8 : 4) - 1) | wgp_mode;
    k.max_workgroup = workgroup;
    return k;
}

Occupancy of(u32 vgprs, u32 workgroup, u32 lds, const char *gfx = "gfx1151") {
    return lint::occupancy(*sim::find_device(gfx), kernel(vgprs, workgroup), workgroup, lds);
}

struct Kernel {
    std::shared_ptr<const sim::Program> program;
    std::unique_ptr<Survey> survey;
    const Survey *operator->() const { return survey.get(); }
    // The first instruction that begins so.
    u32 find(std::string_view text) const {
        for (u32 i = 0; i < survey->code.instructions.size(); ++i)
            if (survey->code.instructions[i].text.starts_with(text))
                return i;
        FAIL("no instruction " << text);
        return 0;
    }
};

Kernel make(const std::string &body, const std::string &gfx = "gfx1151", u32 wave = 32) {
    KernelText text;
    text.gfx = gfx;
    text.wave = wave;
    text.body = body;
    Kernel k;
    k.program = load(text);
    k.survey = std::make_unique<Survey>(*k.program, *k.program->find_kernel("test"));
    return k;
}

// A loop that is gone through `trips` times, around `body`, with a counter of its own.
std::string loop(const std::string &label, u32 counter, u32 trips, const std::string &body) {
    return fmt::format("  s_mov_b32 s{1}, 0\n{0}:\n{3}  s_add_u32 s{1}, s{1}, 1\n"
                       "  s_cmp_lt_u32 s{1}, {2}\n  s_cbranch_scc1 {0}\n",
                       label, counter, trips, body);
}

} // namespace

TEST_CASE("occupancy: each limiter, and the next step") {
    const Occupancy vgprs = of(120, 256, 0); // T-002: 1536 / 120
    CHECK(vgprs.waves == 12);
    CHECK(vgprs.limiter == Occupancy::Limiter::vgprs);
    REQUIRE(vgprs.fewer_vgprs);
    CHECK(vgprs.fewer_vgprs->at_most == 96);
    CHECK(vgprs.fewer_vgprs->waves == 16);
    CHECK(!vgprs.less_lds);

    const Occupancy lds = of(96, 256, 40960); // T-003: three workgroups of eight waves
    CHECK(lds.waves == 6);
    CHECK(lds.groups == 3);
    CHECK(lds.limiter == Occupancy::Limiter::lds);
    REQUIRE(lds.less_lds);
    CHECK(lds.less_lds->at_most == 32768);
    CHECK(lds.less_lds->waves == 8);
    CHECK(!lds.fewer_vgprs);

    const Occupancy whole = of(168, 1024, 0); // nine waves by VGPRs, workgroups of 32
    CHECK(whole.by_vgprs == 9);
    CHECK(whole.waves == 8);
    CHECK(whole.limiter == Occupancy::Limiter::workgroup);
    REQUIRE(whole.fewer_vgprs);
    CHECK(whole.fewer_vgprs->at_most == 96);
    CHECK(whole.fewer_vgprs->waves == 16);

    const Occupancy most = of(96, 256, 0);
    CHECK(most.waves == 16);
    CHECK(most.limiter == Occupancy::Limiter::most);
    CHECK(!most.fewer_vgprs);
    CHECK(!most.less_lds);
}

TEST_CASE("occupancy: other granules, wave64, CU mode, what fits nowhere") {
    CHECK(of(96, 256, 0, "gfx1150").waves == 10); // 1024 VGPRs in granules of 16
    const auto &device = *sim::find_device("gfx1151");
    const auto wave64 = lint::occupancy(device, kernel(120, 256, 64), 256, 0);
    CHECK(wave64.waves == 6);
    CHECK(wave64.fewer_vgprs->at_most == 108);
    sim::KernelInfo cu = kernel(96, 256);
    cu.rsrc1 &= ~wgp_mode; // two halves with 64 KiB each
    CHECK(lint::occupancy(device, cu, 256, 40960).groups == 2);
    const Occupancy none = of(96, 256, 65537);
    CHECK(none.waves == 0);
    CHECK(none.limiter == Occupancy::Limiter::lds);
    REQUIRE(none.less_lds);
    CHECK(none.less_lds->at_most == 65536);
}

TEST_CASE("loops: nesting, trips, ways back") {
    const Kernel k = make(loop("L_outer", 20, 3, loop("L_inner", 21, 5, "  v_nop\n")));
    const auto &loops = k->loops.all();
    REQUIRE(loops.size() == 2);
    CHECK(loops[0].trips == 3);
    CHECK(loops[1].trips == 5);
    CHECK(loops[0].depth == 0);
    CHECK(loops[1].depth == 1);
    CHECK(loops[1].parent == 0);
    CHECK(loops[0].blocks.size() == 3);
    CHECK(loops[1].blocks.size() == 1);
    CHECK(loops[1].latches == loops[1].blocks);
    CHECK(!loops[0].irreducible);
    CHECK(k->loops.of_block(loops[1].head) == 1);
    CHECK(k->loops.of_block(0) == lint::Flow::none);
    // The inner block's branch five times, and the outer one's.
    CHECK(k->trip(loops[0])[sim::Class::branch] == 5 + 1);
}

TEST_CASE("loops: counters down, SOPK, and what isn't provable") {
    const auto trips = [](const std::string &body) {
        const Kernel k = make(body);
        REQUIRE(k->loops.all().size() == 1);
        return k->loops.all()[0].trips;
    };
    CHECK(trips("  s_movk_i32 s20, 0x10\nL:\n  s_sub_u32 s20, s20, 4\n  s_cmp_lg_u32 s20, 0\n"
                "  s_cbranch_scc1 L\n") == 4);
    CHECK(trips("  s_mov_b32 s20, 0\nL:\n  s_addk_i32 s20, 2\n  s_cmpk_ge_i32 s20, 7\n"
                "  s_cbranch_scc0 L\n") == 4);
    CHECK(!trips("L:\n  s_sub_u32 s4, s4, 1\n  s_cmp_lg_u32 s4, 0\n  s_cbranch_scc1 L\n"));
    CHECK(!trips("  s_mov_b32 s20, 9\nL:\n  s_sub_u32 s20, s20, 1\n  s_sub_u32 s20, s20, s4\n"
                 "  s_cmp_lg_u32 s20, 0\n  s_cbranch_scc1 L\n"));
    CHECK(!trips("  s_mov_b32 s20, 1\nL:\n  s_sub_u32 s20, s20, 1\n  s_cmp_lg_u32 s20, 1\n"
                 "  s_cbranch_vccz L\n"));
}

TEST_CASE("loops: two entries are one loop that says so") {
    const Kernel k =
        make("  s_cmp_lg_u32 s4, 0\n  s_cbranch_scc1 L_b\nL_a:\n  v_nop\nL_b:\n  v_nop\n"
             "  s_cmp_lg_u32 s5, 0\n  s_cbranch_scc1 L_a\n");
    REQUIRE(k->loops.all().size() == 1);
    CHECK(k->loops.all()[0].irreducible);
    CHECK(!k->loops.all()[0].trips);
}

TEST_CASE("live registers: the peak is inside of the loop that needs them") {
    const Kernel k = make("  v_mov_b32 v10, 0\n" +
                          loop("L", 20, 4,
                               "  v_add_f32 v11, v0, v0\n  v_add_f32 v12, v0, v11\n"
                               "  v_add_f32 v13, v11, v12\n  v_fma_f32 v10, v11, v12, v13\n") +
                          "  global_store_b32 v0, v10, s[2:3]\n");
    CHECK(k->live.vgprs(k.find("v_mov_b32")) == 2); // v0, v10
    CHECK(k->live.vgprs(k.find("v_fma_f32")) == 5); // v0, v10 to v13
    CHECK(k->live.peak() == k.find("v_fma_f32"));
    CHECK(k->live.vgprs(k.find("global_store_b32")) == 2);
}

TEST_CASE("live registers: what adds to its destination keeps it alive") {
    const Kernel k = make("  v_mov_b32 v10, 0\n  v_mov_b32 v11, 0\n  v_fmac_f32 v10, v0, v0\n"
                          "  v_mov_b32 v11, v0\n  v_add_f32 v0, v10, v11\n"
                          "  global_store_b32 v0, v0, s[2:3]\n");
    CHECK(k->live.vgprs(k.find("v_fmac_f32")) == 2); // v11 is overwritten: it isn't alive
}

TEST_CASE("live registers: half of a register") {
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const bool gfx12 = is_gfx12(gfx);
        const std::string wait = gfx12 ? "  s_wait_loadcnt 0\n" : "  s_waitcnt vmcnt(0)\n";
        // The second load leaves the low half that the first has filled.
        Kernel k = make("  global_load_d16_b16 v10, v0, s[2:3]\n"
                        "  global_load_d16_hi_b16 v10, v0, s[2:3]\n" +
                            wait + "  global_store_b32 v0, v10, s[2:3]\n",
                        gfx);
        CHECK(k->live.vgprs(k.find("global_load_d16_hi")) == 2);
        // Nobody reads the low half: it isn't alive before.
        k = make("  v_mov_b32 v10, 1\n  v_mov_b32 v11, 1\n"
                 "  global_load_d16_hi_b16 v10, v0, s[2:3]\n" +
                     wait + "  global_store_d16_hi_b16 v0, v10, s[2:3]\n",
                 gfx);
        CHECK(k->live.vgprs(k.find("v_mov_b32_e32 v11")) == 2);
        // A value that is whole again is new: nothing of the old one lives.
        k = make("  v_mov_b32 v10, 1\n  v_nop\n  v_mov_b32 v10, 2\n"
                 "  global_store_b32 v0, v10, s[2:3]\n",
                 gfx);
        CHECK(k->live.vgprs(k.find("v_nop")) == 1);
    }
}

TEST_CASE("live registers: a write of some lanes leaves the others") {
    // v10 is written for all lanes, then for some, then read by all: alive in between.
    const Kernel k = make("  v_mov_b32 v10, 1\n  v_cmp_eq_u32 vcc_lo, 0, v0\n"
                          "  s_and_saveexec_b32 s20, vcc_lo\n  v_nop\n  v_mov_b32 v10, 2\n"
                          "  s_mov_b32 exec_lo, s20\n  global_store_b32 v0, v10, s[2:3]\n");
    CHECK(k->live.vgprs(k.find("v_nop")) == 2);
    CHECK(k->live.vgprs(k.find("v_mov_b32_e32 v10, 2")) == 2);
    // Read by the same lanes only: not alive.
    const Kernel same = make("  v_mov_b32 v10, 1\n  v_cmp_eq_u32 vcc_lo, 0, v0\n"
                             "  s_and_saveexec_b32 s20, vcc_lo\n  v_nop\n  v_mov_b32 v10, 2\n"
                             "  global_store_b32 v0, v10, s[2:3]\n");
    CHECK(same->live.vgprs(same.find("v_nop")) == 1);
    // Before EXEC is narrowed a write is for all: a temporary of a loop doesn't live round it.
    const Kernel round = make(loop("L", 21, 4,
                                   "  v_nop\n  v_mov_b32 v10, 1\n  v_cmp_eq_u32 vcc_lo, 0, v0\n"
                                   "  s_and_saveexec_b32 s20, vcc_lo\n  v_mov_b32 v10, 2\n"
                                   "  s_mov_b32 exec_lo, s20\n"
                                   "  global_store_b32 v0, v10, s[2:3]\n"));
    CHECK(round->live.vgprs(round.find("v_nop")) == 1);
    // A value read by the other side of a branch on lanes.
    const Kernel both = make("  v_mov_b32 v10, 1\n  v_cmp_eq_u32 vcc_lo, 0, v0\n"
                             "  s_and_saveexec_b32 s20, vcc_lo\n  v_nop\n  v_mov_b32 v10, 2\n"
                             "  s_xor_b32 exec_lo, exec_lo, s20\n"
                             "  global_store_b32 v0, v10, s[2:3]\n");
    CHECK(both->live.vgprs(both.find("v_nop")) == 2);
}

TEST_CASE("bytes and operations of a trip, counted by hand") {
    const Kernel k =
        make(loop("L", 20, 4,
                  "  global_load_b128 v[4:7], v0, s[2:3]\n"      // 16 x 32
                  "  global_load_u16 v8, v0, s[2:3]\n"           // 2 x 32
                  "  ds_load_2addr_b32 v[10:11], v0 offset1:1\n" // 8 x 32
                  "  ds_store_b64 v0, v[10:11]\n"                // 8 x 32
                  "  global_atomic_add_u32 v0, v8, s[2:3]\n"     // 4 x 32, read and written
                  "  global_store_b96 v0, v[4:6], s[2:3]\n"      // 12 x 32
                  "  s_load_b128 s[24:27], s[0:1], 0x0\n"        // 16
                  "  v_fma_f32 v4, v4, v5, v6\n"                 // 2 a lane
                  "  v_pk_fma_f16 v4, v4, v5, v6\n"              // 4
                  "  v_dot2_f32_f16 v4, v4, v5, v6\n"            // 4
                  "  v_dot4_i32_iu8 v4, v4, v5, v6\n"            // 8
                  "  v_exp_f32 v4, v4\n"                         // 1
                  "  v_and_b32 v4, v4, v5\n  v_max_f32 v4, v4, v5\n"
                  "  v_dual_mul_f32 v4, v4, v5 :: v_dual_fmac_f32 v7, v10, v12\n" // 3
                  "  v_wmma_f32_16x16x16_f16 v[32:39], v[16:23], v[24:31], v[32:39]\n"));
    const lint::Work w = k->trip(k->loops.all().at(0));
    CHECK(w.global_load == (16 + 2 + 4) * 32);
    CHECK(w.global_store == (4 + 12) * 32);
    CHECK(w.lds_read == 8 * 32);
    CHECK(w.lds_write == 8 * 32);
    CHECK(w.scalar_load == 16);
    CHECK(w.flops == (2 + 4 + 4 + 8 + 1 + 3) * 32 + 8192);
    CHECK(w.intensity() == doctest::Approx(static_cast<f64>(w.flops) / (38 * 32)));
    CHECK(w.wmma_clashes == 1); // v16 and v24 (T-054)
    CHECK(w[sim::Class::vopd] == 1);
    CHECK(w[sim::Class::trans] == 1);
    CHECK(w[sim::Class::wmma] == 1);
    CHECK(w[sim::Class::vmem_load] == 2);
    CHECK(w[sim::Class::vmem_store] == 2);
    CHECK(w[sim::Class::lds] == 2);
    CHECK(w[sim::Class::smem] == 1);
    CHECK(w[sim::Class::valu] == 6);
    CHECK(w[sim::Class::salu] == 2);
    CHECK(w[sim::Class::branch] == 1);
    const Kernel wide =
        make("  global_load_b32 v4, v0, s[2:3]\n  v_fma_f32 v4, v4, v5, v6\n", "gfx1151", 64);
    CHECK(wide->total.global_load == 256);
    CHECK(wide->total.flops == 128);
}

TEST_CASE("WMMA banks cost on gfx11 alone") {
    const Kernel k =
        make("  v_wmma_f32_16x16x16_f16 v[32:39], v[16:19], v[24:27], v[32:39]\n", "gfx1201");
    CHECK(k->total[sim::Class::wmma] == 1);
    CHECK(k->total.wmma_clashes == 0);
}

// The static counts, times executions of each block, equal the counts of a run.
TEST_CASE("static counts times trips are those of a run") {
    for (const char *gfx : {"gfx1100", "gfx1151", "gfx1201"})
        for (u32 wave : {32, 64}) {
            KernelText text;
            text.gfx = gfx;
            text.wave = wave;
            text.lds = 4096;
            text.body =
                "  v_and_b32 v1, 31, v0\n  v_lshlrev_b32 v1, 2, v1\n  v_mov_b32 v2, 0\n"
                "  v_mov_b32 v3, 1\n" +
                loop("L_outer", 20, 7,
                     "  global_load_b32 v4, v1, s[2:3]\n  v_add_f32 v5, v2, v3\n" +
                         loop("L_inner", 21, 3,
                              "  ds_store_b32 v1, v2\n  v_exp_f32 v6, v2\n"
                              "  ds_add_rtn_u32 v7, v1, v3\n  v_cmpx_ge_u32 v0, 0\n")) +
                "  global_store_b32 v1, v2, s[2:3]\n  global_atomic_add_u32 v1, v3, s[2:3]\n";
            CAPTURE(gfx);
            CAPTURE(wave);
            const auto program = load(text);
            const Survey s(*program, *program->find_kernel("test"));
            lint::Work all;
            for (u32 n = 0; n < s.blocks.size(); ++n) {
                u64 times = 1;
                for (u32 at = s.loops.of_block(n); at != lint::Flow::none;
                     at = s.loops.all()[at].parent)
                    times *= s.loops.all()[at].trips.value();
                all += s.blocks[n] * times;
            }
            Launch launch;
            launch.block = {wave, 1, 1};
            run(text, launch);
            const sim::InstCounts &n = launch.stats.insts;
            const u64 counted[] = {n.valu,      n.vopd,       n.trans, n.wmma,   n.salu, n.smem,
                                   n.vmem_load, n.vmem_store, n.lds,   n.branch, n.wait, n.other};
            for (size_t c = 0; c < std::size(counted); ++c) {
                CAPTURE(std::string(name(static_cast<sim::Class>(c))));
                CHECK(all.by_class[c] == counted[c]);
            }
            CHECK(all.instructions() == n.total());
            CHECK(all.global_load == launch.stats.bytes.global_load);
            CHECK(all.global_store == launch.stats.bytes.global_store);
            CHECK(all.lds_read == launch.stats.bytes.lds_read);
            CHECK(all.lds_write == launch.stats.bytes.lds_write);
        }
}
