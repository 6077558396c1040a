// SPDX-License-Identifier: MIT
#include "isa/random/dual.h"

#include <bit>
#include <fmt/format.h>

namespace nw::oracle {

namespace {

constexpr const char *both[] = {
    "fmac_f32", "fmaak_f32",  "fmamk_f32",        "mul_f32",         "add_f32",
    "sub_f32",  "subrev_f32", "mul_dx9_zero_f32", "mov_b32",         "cndmask_b32",
    "max_f32",  "min_f32",    "dot2acc_f32_f16",  "dot2acc_f32_bf16"};
constexpr const char *only_y[] = {"add_nc_u32", "lshlrev_b32", "and_b32"};

// gfx12 calls v_max_f32 v_max_num_f32.
const Row &row_of(const std::string &name, bool gfx12) {
    bool renamed = gfx12 && (name == "max_f32" || name == "min_f32");
    return rows().at("v_" + (renamed ? name.substr(0, 3) + "_num_f32" : name));
}

bool has_second(const Row &r) { return r.b != T::none; }
T second_type(const Row &r) { return r.form == Form::fmamk ? r.c : r.b; }

std::string source_text(const DualSource &s) {
    return s.vgpr                          ? fmt::format("v{}", s.vgpr)
           : s.other.kind == Operand::sgpr ? "s38"
                                           : s.other.text;
}

std::string half_text(const DualHalf &h) {
    std::string text =
        fmt::format("v_dual_{} v{}, {}", h.row->name.substr(2), h.d, source_text(h.source[0]));
    if (h.row->form == Form::fmamk)
        text += ", 0x3fc90000";
    if (has_second(*h.row))
        text += ", " + source_text(h.source[1]);
    return h.row->form == Form::fmaak ? text + ", 0x3fc90000" : text;
}

// Where the sources come from; X's and Y's in different banks (H-001).
enum class Pattern : u8 {
    own,          // registers of its own
    x_reads_y,    // X's src0: Y's old destination
    y_reads_x,    // and the reverse
    first_other,  // both
    second_other, // src1: that
    scalar,       // X: an SGPR, Y: an inline constant
    inline_first, // X: an inline constant, Y: an SGPR
    literal,      // both the one literal
    count
};

Operand literal() { return {Operand::constant, "0x3fc90000", 0x3fc90000}; }
Operand inline_of(const Row &r) {
    if (r.name.starts_with("v_dot2"))
        return {Operand::constant, "-1", 0xffffffff}; // others are open (3.4)
    return r.a == T::s32 ? Operand{Operand::constant, "-4.0", 0xc0800000}
                         : Operand{Operand::constant, "37", 37};
}

void place(DualCase &c, Pattern p) {
    c.x.d = 8, c.y.d = 9;
    c.x.source = {DualSource{2, {}}, DualSource{4, {}}};
    c.y.source = {DualSource{3, {}}, DualSource{5, {}}};
    switch (p) {
    case Pattern::x_reads_y:
        c.x.source[0].vgpr = 9;
        break;
    case Pattern::y_reads_x:
        c.y.source[0].vgpr = 8, c.x.source[0].vgpr = 3; // banks
        break;
    case Pattern::first_other:
        c.x.source[0].vgpr = 9, c.y.source[0].vgpr = 8;
        break;
    case Pattern::second_other:
        c.x.source[1].vgpr = 9, c.y.source[1].vgpr = 8;
        break;
    case Pattern::scalar:
        c.x.source[0] = {0, {Operand::sgpr}};
        c.y.source[0] = {0, inline_of(*c.y.row)};
        break;
    case Pattern::inline_first:
        c.x.source[0] = {0, inline_of(*c.x.row)};
        c.y.source[0] = {0, {Operand::sgpr}};
        break;
    case Pattern::literal:
        c.x.source[0] = c.y.source[0] = {0, literal()};
        break;
    default:
        break;
    }
}

std::array<u32, 8> registers(const LaneIn &in) { return std::bit_cast<std::array<u32, 8>>(in); }

Expected half_result(const DualHalf &h, const LaneIn &in, const WaveIn &w, unsigned lane,
                     bool gfx12) {
    auto value = [&](const DualSource &s) -> u64 {
        return s.vgpr                          ? registers(in)[s.vgpr - 2]
               : s.other.kind == Operand::sgpr ? low(32, w.scalar)
                                               : s.other.bits;
    };
    LaneIn one{value(h.source[0]), 0, 0, registers(in)[h.d - 2]};
    (h.row->form == Form::fmamk ? one.c : one.b) = value(h.source[1]);
    return lane_result(*h.row, {}, one, w.vcc >> lane & 1, {w.mode, gfx12});
}

} // namespace

std::vector<DualCase> dual_cases(const std::string &gfx) {
    const bool gfx12 = gfx.starts_with("gfx12");
    std::vector<std::string> for_x(std::begin(both), std::end(both)), for_y = for_x;
    for_y.insert(for_y.end(), std::begin(only_y), std::end(only_y));
    std::vector<DualCase> cases;
    for (const std::string &x : for_x)
        for (const std::string &y : for_y)
            for (u8 p = 0; p < static_cast<u8>(Pattern::count); ++p) {
                DualCase c{{&row_of(x, gfx12), 8, {}}, {&row_of(y, gfx12), 9, {}}, ""};
                place(c, static_cast<Pattern>(p));
                c.text = half_text(c.x) + " :: " + half_text(c.y);
                cases.push_back(std::move(c));
            }
    return cases;
}

LaneIn dual_operands(const DualCase &c, Random &random) {
    auto any = [&](T t) {
        auto hard = hard_values(t);
        u64 value = random() % 2 ? hard[random() % hard.size()] : random_value(t, random);
        return static_cast<u32>(value);
    };
    auto of_either = [&](const Row &r) { return any(random() % 2 ? r.a : second_type(r)); };
    auto destination = [&](const Row &mine, const Row &other) {
        return mine.form == Form::accumulate && random() % 2 ? any(mine.c) : of_either(other);
    };
    const Row &x = *c.x.row, &y = *c.y.row;
    const std::array<u32, 8> words{any(x.a),
                                   any(y.a),
                                   any(second_type(x)),
                                   any(second_type(y)),
                                   static_cast<u32>(random()),
                                   static_cast<u32>(random()),
                                   destination(x, y),
                                   destination(y, x)};
    return std::bit_cast<LaneIn>(words);
}

std::array<Expected, 2> dual_result(const DualCase &c, const LaneIn &in, const WaveIn &w,
                                    unsigned lane, bool gfx12) {
    return {half_result(c.x, in, w, lane, gfx12), half_result(c.y, in, w, lane, gfx12)};
}

} // namespace nw::oracle
