// SPDX-License-Identifier: MIT
// Random variations of every instruction that runs: whatever LLVM accepts as one (modifiers, DPP,
// literals, special registers as operands) can be run, too, but for what the ISA forbids.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <thread>

#include "sim/func/executable/build.h"
#include "sim/func/launch/coverage.h"
#include "sim/isa/mnemonics.h"

using namespace nw;
using namespace nw::sim;

namespace {

constexpr unsigned variations = 48; // of each mnemonic

// Encodings that LLVM prints though no hardware takes them.
// Past the last VGPR; of other targets; apertures as destinations; not decoded; scalars in tuples
// of WMMA; VGPRs as lane masks. And forms of image instructions that are out of scope (S-081,
// S-082).
const std::regex forbidden(
    R"(\[25\d:(25[6-9]|2[6-9]\d)\])"
    R"(|src_(lds_direct|flat_scratch|pops|vccz|execz)|row_bcast|is not supported starting from)"
    R"(|'src_\w+' as a scalar destination|v_illegal|/\* ?Invalid)"
    R"(|v_(s?wmmac?|mqsad_u32).*(null|src_|exec|vcc|ttmp|s\[|m0))"
    R"(|operand 'v.*' where SGPRs are expected)"
    R"(|readfirstlane_b32 src_|image_.*: operand 'v25\d' where \d VGPRs are expected)"
    R"(|: (tfe|lwe|r128) of an image|: images of dimension|: 16-bit coordinates with|component in its dmask)"
    R"(|gds: GDS is out of scope|_block.* v\[2\d\d:2(5[6-9]|6\d|7\d|8\d)\])");

class Variations {
public:
    explicit Variations(u32 seed) : random_(seed) {}

    Encoding of(Encoding e) {
        for (unsigned flips = 1 + below(12); flips; --flips)
            e[below(2)] ^= 1u << below(32);
        if (below(2))
            special_source(e);
        for (unsigned n = 1; n < e.size(); ++n) // literals and DPP controls
            if (!e[n])
                e[n] = random_();
        return e;
    }

private:
    u32 below(u32 n) { return static_cast<u32>(random_() % n); }

    void special_source(Encoding &e) {
        // SDWA (gfx10), DPP16, DPP8, DPP8 with FI, literal, null, m0, vcc, exec, 0, 0.5, 1/(2 pi),
        // apertures, vccz, execz, scc, trap registers
        constexpr u32 codes[] = {0xfa, 0xe9, 0xea, 0xff, 0x7c, 0x7d, 0x6a, 0x7e, 0x80, 0xf0, 0xf8,
                                 0xf9, 0xeb, 0xec, 0xed, 0xee, 0xfb, 0xfc, 0xfd, 0x6b, 0x6c};
        u32 code = codes[below(std::size(codes))];
        unsigned shift = e[0] >> 30 == 3 ? 9 * below(3) : 0; // VOP3: src0, src1 or src2
        u32 &word = e[0] >> 30 == 3 ? e[1] : e[0];
        word = (word & ~(0x1ffu << shift)) | code << shift;
    }

    std::mt19937 random_;
};

struct Refusals {
    u32 decoded = 0;
    std::map<std::string, std::string> text; // why -> instruction
};

Refusals refusals(std::string_view gfx, u32 wave_size) {
    std::set<std::string, std::less<>> runs;
    for (const Coverage &c : coverage(gfx))
        if (c.state != Coverage::State::missing && c.state != Coverage::State::out_of_scope)
            runs.insert(c.mnemonic);
    Variations variations_of(20240917);
    std::vector<Encoding> encodings;
    for (const Sample &s : known_mnemonics(gfx))
        for (unsigned n = 0; n < variations && runs.contains(s.mnemonic); ++n)
            encodings.push_back(variations_of.of(s.encoding));
    Code code;
    code.wave_size = wave_size;
    code.instructions = disassemble_each(encodings, gfx, wave_size);
    Executable e;
    e.code = &code;
    e.insts.resize(code.instructions.size() + 1);
    Builder builder(e, target_of(gfx));
    Refusals r;
    for (u32 n = 0; n < code.instructions.size(); ++n) {
        const Instruction &inst = code.instructions[n];
        if (inst.text.empty() || !runs.contains(inst.x.mnemonic) ||
            (inst.y && !runs.contains(inst.y->mnemonic)))
            continue;
        ++r.decoded;
        builder.build(n);
        auto why = e.unsupported.find(n);
        if (why != e.unsupported.end() && !std::regex_search(why->second, forbidden))
            r.text[why->second] = inst.text;
    }
    return r;
}

} // namespace

TEST_CASE("what LLVM accepts runs, in every variation") {
    for (const char *gfx : {"gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"})
        for (u32 wave_size : {32u, 64u}) {
            Refusals r = refusals(gfx, wave_size);
            CHECK(r.decoded > 20000);
            for (auto &[why, text] : r.text)
                FAIL_CHECK(std::string(gfx), " wave", wave_size, ": ", why);
        }
}

// Texts are remembered from one program to the next (isa/code.cpp).
TEST_CASE("an instruction reads the same whatever was decoded before it") {
    for (const char *gfx : {"gfx1030", "gfx1100", "gfx1151", "gfx1201"}) {
        Variations variations_of(7);
        std::vector<Encoding> encodings;
        for (const Sample &s : known_mnemonics(gfx))
            for (unsigned n = 0; n < 8; ++n) {
                encodings.push_back(variations_of.of(s.encoding));
                Encoding other = encodings.back(); // begins with the same word
                other[1] = variations_of.of(other)[1];
                encodings.push_back(other);
            }
        std::vector<Instruction> one, two;
        std::thread([&] { one = disassemble_each(encodings, gfx, 32); }).join();
        std::ranges::reverse(encodings);
        std::thread([&] { two = disassemble_each(encodings, gfx, 32); }).join();
        std::ranges::reverse(two);
        size_t same = 0;
        for (size_t n = 0; n < one.size(); ++n)
            same += one[n].text == two[n].text && one[n].size == two[n].size;
        CHECK(same == one.size());
    }
}
