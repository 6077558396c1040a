// SPDX-License-Identifier: MIT
// Large grids are sampled: what a sample says is compared with the time of all workgroups, for
// streams beyond the last cache and for kernels of many other kinds.
#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/timing/run.h"
#include "tier.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

constexpr u64 mib = u64{1} << 20;

struct Kind {
    const char *name;
    u32 groups; // of 256 work-items
    std::string
        body; // s20: the workgroup, v0: the work-item of it, v1: of the grid, s[2:3]: memory
    u64 bytes = 256 * mib;
    u32 vgprs = 32, lds = 0;
};

std::string group_id(const std::string &gfx) {
    return is_gfx12(gfx) ? "ttmp9" : target_of(gfx).init16 ? "s15" : "s2";
}

const timing::Part &usual() { return *timing::find_part("7600"); }

timing::Result timed(const Kind &kind, const timing::Part &part, bool exact, bool times = true) {
    const std::string gfx(part.gfx);
    TimedLaunch l;
    l.part = &part;
    l.grid = {kind.groups, 1, 1};
    l.block = {256, 1, 1};
    l.words = static_cast<u32>(kind.bytes / 4);
    l.exact = exact;
    l.times = times;
    l.warm = l.watched = l.reads = false;
    KernelText k;
    k.gfx = gfx;
    k.entry = "  s_mov_b32 s20, " + group_id(gfx) + "\n";
    k.body = "v_lshl_or_b32 v1, s20, 8, v0\n" + kind.body;
    k.vgprs = kind.vgprs;
    k.lds = kind.lds;
    time(k, l);
    return l.result;
}

f64 us(const timing::Result &r) { return r.time_us; }

std::string wait_loads(std::string_view gfx) {
    return is_gfx12(std::string(gfx)) ? "s_wait_loadcnt 0x0\n" : "s_waitcnt vmcnt(0)\n";
}

// s[6:7] = s[2:3] + bytes.
std::string second_buffer(u64 bytes) {
    return fmt::format("s_add_u32 s6, s2, {:#x}\ns_addc_u32 s7, s3, 0\n", bytes);
}

// Workgroups that move `bytes`, 16 per lane.
u32 groups_of(u64 bytes) { return static_cast<u32>(bytes / 4096); }
Kind copy(u64 bytes, std::string_view gfx) {
    return {"copy", groups_of(bytes),
            second_buffer(bytes) +
                "v_lshlrev_b32 v2, 4, v1\nglobal_load_b128 v[4:7], v2, s[2:3]\n" + wait_loads(gfx) +
                "global_store_b128 v2, v[4:7], s[6:7]\n",
            2 * bytes};
}
Kind fill(u64 bytes) {
    return {"fill", groups_of(bytes),
            "v_lshlrev_b32 v2, 4, v1\nv_mov_b32 v4, 0\nv_mov_b32 v5, 0\nv_mov_b32 v6, 0\n"
            "v_mov_b32 v7, 0\nglobal_store_b128 v2, v[4:7], s[2:3]\n",
            bytes};
}

timing::Result check_stream(const Kind &kind, const timing::Part &part) {
    CAPTURE(part.name);
    CAPTURE(std::string(kind.name));
    CAPTURE(kind.bytes / mib);
    const timing::Result exact = timed(kind, part, true), sampled = timed(kind, part, false);
    CHECK(us(sampled) == doctest::Approx(us(exact)).epsilon(0.02));
    CHECK(sampled.dram_write == doctest::Approx(exact.dram_write).epsilon(0.05));
    CHECK(std::abs(us(sampled) / us(exact) - 1) <= sampled.sampling_error);
    CHECK(exact.occupancy <= 16);
    CHECK(sampled.occupancy == doctest::Approx(exact.occupancy).epsilon(0.1));
    return sampled;
}

} // namespace

TEST_CASE("a copy and a fill beyond the last cache: within 2 % of all workgroups' time") {
    const timing::Part &part = *timing::find_part("8060S");
    for (const Kind &kind : {copy(part.mall_size * 3ull, part.gfx), fill(part.mall_size * 3ull)}) {
        const timing::Result sampled = check_stream(kind, part);
        CHECK(sampled.groups_timed < sampled.groups);
    }
}

// Lines that stay dirty in MALL are never written to DRAM.
TEST_CASE("a fill that the last cache holds: within 2 % of all workgroups' time") {
    const timing::Part &part = *timing::find_part("6800");
    const timing::Result sampled = check_stream(fill(part.mall_size / 2ull), part);
    CHECK(sampled.groups_timed < sampled.groups);
}

// Also what was executed before to know the work of later workgroups leaves no trace.
TEST_CASE("where all workgroups are timed, the time is theirs to the cycle" * all_tier()) {
    const timing::Part &part = *timing::find_part("7900 XTX");
    const timing::Result exact = timed(copy(part.mall_size / 2, part.gfx), part, true),
                         all = timed(copy(part.mall_size / 2, part.gfx), part, false);
    CHECK(all.groups_timed == all.groups);
    CHECK(all.sampling_error == 0);
    CHECK(all.cycles == exact.cycles);
}

TEST_CASE("the same on every part, smaller and much larger than its last cache" * all_tier()) {
    for (const timing::Part &part : timing::parts()) {
        const u64 last = std::max<u64>(part.mall_size, part.l2_size);
        for (const u64 bytes : {last / 2, last * 5 / 4, last * 3 / 2, last * 4}) {
            check_stream(copy(bytes, part.gfx), part);
            check_stream(fill(bytes), part);
        }
    }
}

// ---- kernels of other kinds: the stated error holds the truth -----------------------------------

namespace {

// v2 = a hash of v1.
const std::string hash = "v_mul_lo_u32 v2, v1, 0x9e3779b1\nv_lshrrev_b32 v3, 15, v2\n"
                         "v_xor_b32 v2, v2, v3\nv_mul_lo_u32 v2, v2, 0x85ebca77\n"
                         "v_lshrrev_b32 v3, 13, v2\nv_xor_b32 v2, v2, v3\n";
// v2 = a random dword within the first bytes, a power of two.
std::string anywhere(u64 bytes) {
    return hash + fmt::format("v_and_b32 v2, {:#x}, v2\n", bytes - 4);
}
const std::string dword = "v_lshlrev_b32 v2, 2, v1\n", block = "v_lshlrev_b32 v2, 4, v1\n";
const std::string wait = "s_waitcnt vmcnt(0)\n";
const std::string store = "global_store_b32 v2, v1, s[2:3]\n";
const std::string add = "global_atomic_add_u32 v2, v1, s[2:3]\n";
const std::string far = second_buffer(512 * mib);

// A loop of s21 iterations.
std::string loop(const std::string &body) {
    return "L_loop:\n" + body +
           "s_sub_u32 s21, s21, 1\ns_cmp_lg_u32 s21, 0\ns_cbranch_scc1 L_loop\n";
}
std::string times(u32 iterations, const std::string &body) {
    return fmt::format("s_movk_i32 s21, {}\n", iterations) + loop(body);
}
std::string repeated(u32 times, const std::string &body) {
    std::string out;
    for (u32 n = 0; n < times; ++n)
        out += body;
    return out;
}
const std::string adds = repeated(16, "v_add_f32 v8, v8, v9\nv_add_f32 v9, v9, v8\n");
// v4 is added up over the workgroup; then its first lane goes on.
const std::string tree = "v_lshlrev_b32 v3, 2, v0\nds_store_b32 v3, v4\n" + [] {
    std::string out;
    for (u32 half = 128; half; half /= 2)
        out += fmt::format("s_waitcnt lgkmcnt(0)\ns_barrier\nds_load_b32 v5, v3 offset:{}\n"
                           "ds_load_b32 v4, v3\ns_waitcnt lgkmcnt(0)\nv_add_f32 v4, v4, v5\n"
                           "ds_store_b32 v3, v4\n",
                           4 * half);
    return out;
}() + "v_cmp_eq_u32 vcc_lo, 0, v0\ns_and_b32 exec_lo, exec_lo, vcc_lo\n";
// Ends workgroups from s22 on.
std::string only_below(u32 groups) {
    return fmt::format("s_cmp_ge_u32 s20, {}\ns_cbranch_scc1 L_end\n", groups);
}

std::vector<Kind> kinds() {
    const u32 many = 12000; // 24 generations of four waves on each SIMD, six of all
    std::vector<Kind> k = {
        // writes
        {"fill of dwords", 40000, dword + store},
        {"fill of every second sector", 20000, "v_lshlrev_b32 v2, 7, v1\n" + store, 700 * mib},
        {"fill of whole lines, a dword each", many, "v_lshlrev_b32 v2, 5, v1\n" + store},
        {"fill of rows by columns", many,
         "v_lshlrev_b32 v2, 16, v0\nv_lshl_or_b32 v2, s20, 2, v2\n" + store},
        {"fill within the last cache", 5000, block + "global_store_b128 v2, v[4:7], s[2:3]\n"},
        {"streamed fill", many, block + "global_store_b128 v2, v[4:7], s[2:3] slc dlc\n"},
        {"in place", many,
         block + "global_load_b128 v[4:7], v2, s[2:3]\n" + wait +
             "v_add_f32 v4, v4, v4\n"
             "global_store_b128 v2, v[4:7], s[2:3]\n"},
        {"copy of dwords", 40000,
         far + dword + "global_load_b32 v4, v2, s[2:3]\n" + wait +
             "global_store_b32 v2, v4, s[6:7]\n",
         800 * mib},
        {"three read, one written", many,
         far + dword +
             "global_load_b32 v4, v2, s[2:3]\nv_add_nc_u32 v3, 0x4000000, v2\n"
             "global_load_b32 v5, v3, s[2:3]\nv_add_nc_u32 v3, 0x8000000, v2\n"
             "global_load_b32 v6, v3, s[2:3]\n" +
             wait +
             "v_add_f32 v4, v4, v5\n"
             "global_store_b32 v2, v4, s[6:7]\n",
         1024 * mib},
        {"one read, three written", many,
         far + dword + "global_load_b32 v4, v2, s[2:3]\n" + wait +
             "global_store_b32 v2, v4, s[6:7]\nv_add_nc_u32 v3, 0x4000000, v2\n"
             "global_store_b32 v3, v4, s[6:7]\nv_add_nc_u32 v3, 0x8000000, v2\n"
             "global_store_b32 v3, v4, s[6:7]\n",
         1024 * mib},
        {"a little written", many,
         far + block + "global_load_b128 v[4:7], v2, s[2:3]\n" + wait +
             "v_cmp_gt_u32 vcc_lo, 16, v0\ns_and_b32 exec_lo, exec_lo, vcc_lo\n"
             "global_store_b32 v2, v4, s[6:7]\n",
         800 * mib},
        // reads
        {"read of blocks", many, block + "global_load_b128 v[4:7], v2, s[2:3]\n" + wait},
        {"read of dwords", 40000, dword + "global_load_b32 v4, v2, s[2:3]\n" + wait},
        {"transposition", many,
         far + dword +
             "global_load_b32 v4, v2, s[2:3]\nv_lshlrev_b32 v3, 16, v0\n"
             "v_lshl_or_b32 v3, s20, 2, v3\n" +
             wait + "global_store_b32 v3, v4, s[6:7]\n",
         800 * mib},
        {"panels that many workgroups read", 4000,
         "s_and_b32 s22, s20, 63\ns_lshl_b32 s22, s22, 16\nv_lshl_or_b32 v2, v0, 4, s22\n" +
             times(16, "global_load_b128 v[4:7], v2, s[2:3]\nv_add_nc_u32 v2, 0x1000, v2\n" + wait +
                           adds)},
    };
    // gathers, scatters and atomics by what they reach
    for (const u64 reach : {1 * mib, 16 * mib, 256 * mib}) {
        const char *names[][4] = {{"gather of 1 MiB", "scatter over 1 MiB", "adds all over 1 MiB",
                                   "returning adds over 1 MiB"},
                                  {"gather of 16 MiB", "scatter over 16 MiB",
                                   "adds all over 16 MiB", "returning adds over 16 MiB"},
                                  {"gather of 256 MiB", "scatter over 256 MiB",
                                   "adds all over 256 MiB", "returning adds over 256 MiB"}};
        const auto &name = names[reach == mib ? 0 : reach == 16 * mib ? 1 : 2];
        k.push_back({name[0], many, anywhere(reach) + "global_load_b32 v4, v2, s[2:3]\n" + wait});
        k.push_back({name[1], many, anywhere(reach) + store});
        k.push_back({name[2], many, anywhere(reach) + add});
        k.push_back({name[3], 6000,
                     anywhere(reach) + "global_atomic_add_u32 v4, v2, v1, s[2:3] glc\n" + wait});
    }
    const std::vector<Kind> rest = {
        {"adds on one line", 3000, "v_lshlrev_b32 v2, 2, v0\nv_and_b32 v2, 0x7c, v2\n" + add},
        {"a histogram", many, anywhere(4096) + add},
        // reductions
        {"a sum per workgroup, stored", many,
         block + "global_load_b128 v[4:7], v2, s[2:3]\n" + wait + tree + store, 256 * mib, 32,
         4096},
        {"a sum per workgroup, added to one", many,
         block + "global_load_b128 v[4:7], v2, s[2:3]\n" + wait + tree +
             "v_mov_b32 v2, 0\nglobal_atomic_add_f32 v2, v4, s[2:3]\n",
         256 * mib, 32, 4096},
        {"sums of long rows", 2000,
         "v_lshlrev_b32 v2, 4, v0\nv_lshl_or_b32 v2, s20, 16, v2\n" +
             times(16, "global_load_b128 v[4:7], v2, s[2:3]\nv_add_nc_u32 v2, 0x1000, v2\n" + wait +
                           "v_add_f32 v8, v8, v4\n") +
             "v_lshlrev_b32 v2, 2, v1\n" + store,
         256 * mib},
        // compute
        {"adds of registers", many, times(20, adds)},
        {"adds, and a dword of each", many, times(8, adds) + dword + store},
        {"transcendentals", many, times(10, repeated(8, "v_exp_f32 v8, v9\nv_rcp_f32 v9, v9\n"))},
        {"LDS", many,
         "v_lshlrev_b32 v3, 4, v0\n" +
             times(10,
                   "ds_store_b128 v3, v[4:7]\nds_load_b128 v[8:11], v3\ns_waitcnt lgkmcnt(0)\n"),
         mib, 32, 4096},
        {"barriers", many, times(20, "s_barrier\nv_add_f32 v8, v8, v9\n")},
        // tails, and workgroups that differ
        {"the second half has nothing to do", many,
         only_below(many / 2) + times(20, adds) + "L_end:\n"},
        {"the last quarter writes", many,
         times(4, adds) +
             fmt::format("s_cmp_lt_u32 s20, {}\ns_cbranch_scc1 L_end\n", many * 3 / 4) + block +
             "global_store_b128 v2, v[4:7], s[2:3]\nL_end:\n"},
        {"first reads, then writes", many,
         block + fmt::format("s_cmp_lt_u32 s20, {}\ns_cbranch_scc1 L_read\n", many / 2) +
             "global_store_b128 v2, v[4:7], s[2:3]\ns_branch L_end\nL_read:\n"
             "global_load_b128 v[4:7], v2, s[2:3]\n" +
             wait + "L_end:\n"},
        {"each later one does more", 6000,
         "s_lshr_b32 s21, s20, 7\ns_add_u32 s21, s21, 4\n" + loop(adds)},
        {"each later one does less", 6000,
         "s_sub_u32 s21, 6000, s20\ns_lshr_b32 s21, s21, 7\ns_add_u32 s21, s21, 4\n" + loop(adds)},
        {"one in eight does eight times as much", many,
         "s_movk_i32 s21, 4\ns_and_b32 s22, s20, 7\ns_cmp_eq_u32 s22, 0\n"
         "s_cselect_b32 s21, 32, s21\n" +
             loop(adds)},
        {"random amounts", many,
         "s_mul_i32 s21, s20, 0x9e3779b1\ns_lshr_b32 s21, s21, 27\ns_add_u32 s21, s21, 4\n" +
             loop(adds)},
        {"a partial last workgroup", 11999,
         "v_cmp_gt_u32 vcc_lo, 0x2ee001, v1\ns_and_b32 exec_lo, exec_lo, vcc_lo\n"
         "s_cbranch_execz L_end\n" +
             dword + store + "L_end:\n"},
        // one generation that goes round
        {"a fill by few workgroups", 128,
         dword + times(600, store + "v_add_nc_u32 v2, 0x20000, v2\n"), 256 * mib},
        {"a copy by few workgroups", 128,
         far + dword +
             times(600, "global_load_b32 v4, v2, s[2:3]\n" + wait +
                            "global_store_b32 v2, v4, s[6:7]\nv_add_nc_u32 v2, 0x20000, v2\n"),
         800 * mib},
    };
    k.insert(k.end(), rest.begin(), rest.end());
    return k;
}

void check_kind(const Kind &kind, const timing::Part &part) {
    CAPTURE(std::string(kind.name));
    const timing::Result exact = timed(kind, part, true), sampled = timed(kind, part, false);
    const f64 off = us(sampled) / us(exact) - 1;
    INFO(fmt::format(
        "exact {:.2f} us, sampled {:.2f} us, {:+.2f} %, stated {:.2f} %, {} of {} played",
        us(exact), us(sampled), 100 * off, 100 * sampled.sampling_error, sampled.groups_timed,
        sampled.groups));
    CHECK(std::abs(off) <= sampled.sampling_error + 1e-9);
    CHECK(sampled.occupancy <= 16);
}

} // namespace

TEST_CASE("the stated error holds the time of all workgroups, for kernels of every kind" *
          all_tier()) {
    for (const Kind &kind : kinds())
        check_kind(kind, usual());
}

TEST_CASE("the same for some of them") {
    for (const Kind &kind : kinds())
        if (const std::string_view name = kind.name; name == "read of dwords" ||
                                                     name == "streamed fill" ||
                                                     name == "first reads, then writes")
            check_kind(kind, usual());
}

TEST_CASE("a sample is the same whether results are wanted or not") {
    for (const Kind &kind : {copy(48 * mib, "gfx1102"), fill(48 * mib)}) {
        const timing::Result part = timed(kind, usual(), false),
                             whole = timed(kind, usual(), false, false);
        CHECK(part.cycles == whole.cycles);
        CHECK(part.sampling_error == whole.sampling_error);
    }
}
