// SPDX-License-Identifier: MIT
#include "isa/random/lanes.h"

#include <bit>
#include <fmt/format.h>

#include "isa/random/dpp.h"

namespace nw::oracle {

namespace {

bool active(const WaveState &w, int lane) { return w.exec >> lane & 1; }

// Active lanes get f(lane), the others keep what they had.
template <class F> Lanes each_active(const WaveState &w, F f) {
    Lanes d = w.old;
    for (int l = 0; l < 32; ++l)
        if (active(w, l))
            d[static_cast<size_t>(l)] = f(l);
    return d;
}
u32 at(const Lanes &x, int lane) { return x[static_cast<size_t>(lane)]; }

// ---- DPP ----------------------------------------------------------------------------------------

// `f` of the fetched source and src1.
template <class F> Lanes moved(const WaveState &w, const Dpp &d, F f) {
    return each_active(w, [&](int l) {
        Dpp::Fetch fetch = d.fetch(l, w.exec);
        if (fetch == Dpp::Fetch::nothing)
            return at(w.old, l);
        return f(fetch == Dpp::Fetch::lane ? at(w.a, d.from(l)) : 0, at(w.b, l));
    });
}

void add_dpp(std::vector<LaneCase> &cases) {
    auto add = [&](const char *name, const Dpp &d, u32 (*f)(u32, u32)) {
        cases.push_back({fmt::format("{} {}", name, d.text()),
                         [=](const WaveState &w) { return moved(w, d, f); }});
    };
    for (Dpp d : dpp_controls())
        for (unsigned bits = 0; bits < 4; ++bits)
            for (auto [rows, banks] : {std::pair{15u, 15u}, {2u, 15u}, {13u, 6u}}) {
                d.bound_ctrl = bits & 1, d.fi = bits & 2;
                d.row_mask = rows, d.bank_mask = banks;
                add("v_mov_b32_dpp v8, v2", d, [](u32 a, u32) { return a; });
                add("v_sub_nc_u32_dpp v8, v2, v4", d, [](u32 a, u32 b) { return a - b; });
                // For `rev` shifts it is the count that comes from elsewhere (3.12).
                add("v_lshlrev_b32_dpp v8, v2, v4", d, [](u32 a, u32 b) { return b << (a & 31); });
            }
    for (bool fi : {false, true}) { // 3.17
        Dpp d = dpp8();
        d.fi = fi;
        add("v_xor_b32_dpp v8, v2, v4", d, [](u32 a, u32 b) { return a ^ b; });
    }
}

// ---- v_permlane (3.20, 3.21)
// ----------------------------------------------------------------------

void add_permlane(std::vector<LaneCase> &cases, bool gfx12) {
    for (bool other_row : {false, true})
        for (unsigned sel = 0; sel < 4; ++sel) {
            auto result = [=](const WaveState &w, auto nibble) {
                return each_active(w, [&](int l) {
                    int from = ((l & 16) ^ (other_row ? 16 : 0)) | nibble(l);
                    if (active(w, from) || (sel & 1))
                        return at(w.a, from);
                    return sel & 2 ? 0 : at(w.old, l);
                });
            };
            std::string name = other_row ? "v_permlanex16" : "v_permlane16";
            std::string list = sel ? fmt::format(" op_sel:[{},{}]", sel & 1, sel >> 1) : "";
            cases.push_back({name + "_b32 v8, v2, s14, s15" + list, [=](const WaveState &w) {
                                 u64 selectors = w.c[0] | u64{w.c[1]} << 32;
                                 return result(w, [=](int l) {
                                     return static_cast<int>(selectors >> 4 * (l & 15) & 15);
                                 });
                             }});
            if (gfx12)
                cases.push_back(
                    {name + "_var_b32 v8, v2, v4" + list, [=](const WaveState &w) {
                         return result(w, [&](int l) { return static_cast<int>(at(w.b, l) & 15); });
                     }});
        }
}

// ---- through the LDS unit (5.12 to 5.14)
// ----------------------------------------------------------

u32 pulled(const WaveState &w, const Lanes &x, int from) {
    return active(w, from) ? at(x, from) : 0;
}

void add_ds(std::vector<LaneCase> &cases) {
    for (int offset : {0, 4, 36}) {
        std::string text = offset ? fmt::format(" offset:{}", offset) : "";
        auto lane = [offset](u32 address) {
            return static_cast<int>((address + static_cast<u32>(offset)) >> 2 & 31);
        };
        cases.push_back({"ds_bpermute_b32 v8, v2, v4" + text, [=](const WaveState &w) {
                             return each_active(
                                 w, [&](int l) { return pulled(w, w.b, lane(at(w.a, l))); });
                         }});
        cases.push_back({"ds_permute_b32 v8, v2, v4" + text, [=](const WaveState &w) {
                             Lanes pushed{};
                             for (int l = 0; l < 32; ++l) // the highest source lane wins
                                 if (active(w, l))
                                     pushed[static_cast<size_t>(lane(at(w.a, l)))] = at(w.b, l);
                             return each_active(w, [&](int l) { return at(pushed, l); });
                         }});
    }
    auto swizzle = [&](unsigned offset, std::function<int(int)> from) {
        cases.push_back(
            {fmt::format("ds_swizzle_b32 v8, v2 offset:{:#x}", offset), [=](const WaveState &w) {
                 return each_active(w, [&](int l) { return pulled(w, w.a, from(l)); });
             }});
    };
    for (unsigned offset : {0x001fu, 0x041fu, 0x7c1fu, 0x0010u, 0x12a6u, 0x7fffu})
        swizzle(offset, [offset](int l) {
            int keep = offset & 31, set = offset >> 5 & 31, flip = offset >> 10 & 31;
            return ((l & keep) | set) ^ flip;
        });
    for (unsigned quad : {0xe4u, 0x1bu, 0x00u, 0x93u})
        swizzle(0x8000 | quad,
                [quad](int l) { return (l & ~3) | static_cast<int>(quad >> 2 * (l & 3) & 3); });
    for (unsigned offset : {0xc020u, 0xc420u, 0xc0e3u, 0xc5f0u}) // rotate
        swizzle(offset, [offset](int l) {
            int mask = offset & 31, n = offset >> 5 & 31;
            int turned = offset & 0x400 ? l - n : l + n;
            return (l & mask) | (turned & ~mask & 31);
        });
    for (unsigned mask : {0x00u, 0x1fu, 0x10u, 0x18u, 0x1cu}) // FFT
        swizzle(0xe000 | mask, [mask](int l) {
            int reversed = 0;
            for (int n = 0; n < 5; ++n)
                reversed |= (l >> n & 1) << (4 - n);
            return reversed >> std::popcount(mask) | (l & static_cast<int>(mask));
        });
}

// ---- single lanes (3.19), mbcnt (2.65)
// ------------------------------------------------------------

void add_single(std::vector<LaneCase> &cases) {
    std::string spread = "\n  s_mov_b32 exec_lo, -1\n  v_mov_b32 v8, s16";
    auto all = [](u32 x) {
        Lanes d;
        d.fill(x);
        return d;
    };
    cases.push_back({"v_readlane_b32 s16, v2, s14" + spread,
                     [=](const WaveState &w) { return all(w.a[w.c[0] & 31]); }});
    cases.push_back({"v_readfirstlane_b32 s16, v2" + spread, [=](const WaveState &w) {
                         return all(w.a[w.exec ? std::countr_zero(w.exec) & 31 : 0]);
                     }});
    cases.push_back({"v_writelane_b32 v8, s14, s15", [](const WaveState &w) {
                         Lanes d = w.old;
                         d[w.c[1] & 31] = w.c[0];
                         return d;
                     }});
    cases.push_back({"v_mbcnt_lo_u32_b32 v8, v2, v4", [](const WaveState &w) {
                         return each_active(w, [&](int l) {
                             u32 below = at(w.a, l) & ((1u << l) - 1);
                             return at(w.b, l) + static_cast<u32>(std::popcount(below));
                         });
                     }});
    cases.push_back({"v_mbcnt_hi_u32_b32 v8, v2, v4", [](const WaveState &w) {
                         return each_active(w, [&](int l) { return at(w.b, l); });
                     }});
}

} // namespace

std::vector<LaneCase> lane_cases(const std::string &gfx) {
    std::vector<LaneCase> cases;
    add_dpp(cases);
    add_permlane(cases, gfx.starts_with("gfx12"));
    add_ds(cases);
    add_single(cases);
    return cases;
}

} // namespace nw::oracle
