// SPDX-License-Identifier: MIT
// Every compute instruction that LLVM knows for a gfx runs, except those listed in missing.txt.
// That list may only shrink: a name on it that is implemented is a failure, too.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/func/launch/coverage.h"
#include "sim/func/machine.h"
#include "sim/isa/mnemonics.h"

using namespace nw;
using namespace nw::sim;

namespace {

std::set<std::string> listed_as_missing() {
    std::ifstream in(NW_SOURCE_DIR "/tests/isa/missing.txt");
    REQUIRE_MESSAGE(in, "tests/isa/missing.txt can't be read");
    std::set<std::string> names;
    for (std::string line; std::getline(in, line);)
        if (!line.empty() && line[0] != '#')
            names.insert(line);
    return names;
}

std::string joined(const std::set<std::string> &names) {
    std::string all;
    for (const std::string &n : names)
        all += "\n  " + n;
    return all;
}

bool knows(const std::vector<Sample> &samples, const std::string &name) {
    return std::any_of(samples.begin(), samples.end(),
                       [&](const Sample &s) { return s.mnemonic == name; });
}

} // namespace

TEST_CASE("missing instructions are those of the list") {
    std::set<std::string> listed = listed_as_missing(), unlisted, still;
    for (const Device &d : devices())
        for (const Coverage &c : coverage(d.gfx)) {
            if (c.state != Coverage::State::missing)
                continue;
            still.insert(c.mnemonic);
            if (!listed.contains(c.mnemonic))
                unlisted.insert(std::string(d.gfx) + " " + c.mnemonic + ": " + c.remark);
        }
    std::set<std::string> implemented;
    std::set_difference(listed.begin(), listed.end(), still.begin(), still.end(),
                        std::inserter(implemented, implemented.end()));
    CHECK_MESSAGE(unlisted.empty(), "missing and not on the list:", joined(unlisted));
    CHECK_MESSAGE(implemented.empty(), "on the list, but no gfx lacks them:", joined(implemented));
}

// The sweep is only as good as its fillings: landmarks of every format, newest members included.
TEST_CASE("the sweep finds every format of gfx11") {
    std::vector<Sample> s = known_mnemonics("gfx1151");
    for (const char *name : {"s_add_u32",
                             "s_movk_i32",
                             "s_mov_b64",
                             "s_cmp_eq_u64",
                             "s_endpgm",
                             "s_load_b512",
                             "v_add_f32",
                             "v_mov_b16",
                             "v_cmpx_class_f64",
                             "v_mad_u64_u32",
                             "v_permlane16_b32",
                             "v_wmma_i32_16x16x16_iu4",
                             "v_dual_dot2acc_f32_bf16",
                             "v_dual_lshlrev_b32",
                             "v_interp_p2_f32",
                             "ds_store_addtid_b32",
                             "flat_atomic_inc_u64",
                             "scratch_load_b96",
                             "global_atomic_cmpswap_f32",
                             "buffer_load_d16_format_xyzw",
                             "tbuffer_store_format_x",
                             "image_sample",
                             "exp",
                             "s_sendmsg_rtn_b64",
                             "s_barrier"})
        CHECK_MESSAGE(knows(s, name), name);
    CHECK(s.size() > 1200);
}

TEST_CASE("the sweep finds every format of gfx12") {
    std::vector<Sample> s = known_mnemonics("gfx1201");
    for (const char *name :
         {"s_add_f32", "s_barrier_signal_isfirst", "s_prefetch_data", "s_load_u16", "v_s_rcp_f32",
          "v_swmmac_f32_16x16x32_fp8_bf8", "v_wmma_f16_16x16x16_f16", "v_cvt_sr_bf8_f32",
          "global_load_tr_b128", "global_load_block", "ds_condxchg32_rtn_b64",
          "scratch_store_block", "flat_atomic_pk_add_bf16", "buffer_atomic_cond_sub_u32",
          "tbuffer_load_d16_format_xyz", "v_dual_dot2acc_f32_f16", "s_sendmsg_rtn_b32", "export"})
        CHECK_MESSAGE(knows(s, name), name);
    CHECK(s.size() > 1250);
}

TEST_CASE("what only gfx11's captures show is open on gfx10 (S-070)") {
    for (const auto &[gfx, state] : {std::pair{"gfx1010", Coverage::State::open},
                                     {"gfx1030", Coverage::State::open},
                                     {"gfx1100", Coverage::State::exact}}) {
        CAPTURE(gfx);
        u32 norms = 0;
        for (const Coverage &c : coverage(gfx))
            if (c.mnemonic.starts_with("v_cvt_pk_norm_") || c.mnemonic == "v_rcp_f32") {
                ++norms;
                CHECK_MESSAGE(c.state == state, c.mnemonic);
            }
        CHECK(norms == 5);
    }
}
