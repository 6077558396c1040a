// SPDX-License-Identifier: MIT
#include "sim/isa/gfx10_names.h"

#include <array>
#include <map>
#include <string>
#include <utility>

namespace nw::sim {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;
using Names = std::map<std::string, std::string, std::less<>>;

constexpr std::array<Pair, 19> loaded{{{"dword", "b32"},
                                       {"dwordx2", "b64"},
                                       {"dwordx3", "b96"},
                                       {"dwordx4", "b128"},
                                       {"dwordx8", "b256"},
                                       {"dwordx16", "b512"},
                                       {"ubyte", "u8"},
                                       {"sbyte", "i8"},
                                       {"ushort", "u16"},
                                       {"sshort", "i16"},
                                       {"ubyte_d16", "d16_u8"},
                                       {"sbyte_d16", "d16_i8"},
                                       {"short_d16", "d16_b16"},
                                       {"ubyte_d16_hi", "d16_hi_u8"},
                                       {"sbyte_d16_hi", "d16_hi_i8"},
                                       {"short_d16_hi", "d16_hi_b16"},
                                       {"format_d16_x", "d16_format_x"},
                                       {"format_d16_xy", "d16_format_xy"},
                                       {"format_d16_hi_x", "d16_hi_format_x"}}};
constexpr std::array<Pair, 8> stored{{{"dword", "b32"},
                                      {"dwordx2", "b64"},
                                      {"dwordx3", "b96"},
                                      {"dwordx4", "b128"},
                                      {"byte", "b8"},
                                      {"short", "b16"},
                                      {"byte_d16_hi", "d16_hi_b8"},
                                      {"short_d16_hi", "d16_hi_b16"}}};
constexpr std::array<Pair, 12> atomics{{{"swap", "swap_b32"},
                                        {"cmpswap", "cmpswap_b32"},
                                        {"add", "add_u32"},
                                        {"sub", "sub_u32"},
                                        {"smin", "min_i32"},
                                        {"umin", "min_u32"},
                                        {"smax", "max_i32"},
                                        {"umax", "max_u32"},
                                        {"and", "and_b32"},
                                        {"or", "or_b32"},
                                        {"xor", "xor_b32"},
                                        {"inc", "inc_u32"}}};
// For LDS: `read` and `write` where gfx11 has `load` and `store`.
constexpr std::array<std::string_view, 12> ds_reads{"b32",    "b64",    "b96",     "b128",
                                                    "u8",     "i8",     "u16",     "i16",
                                                    "u8_d16", "i8_d16", "u16_d16", "addtid_b32"};
constexpr std::array<std::string_view, 7> ds_writes{"b8",  "b16",  "b32",       "b64",
                                                    "b96", "b128", "addtid_b32"};
constexpr std::array<Pair, 18> scalar{{{"s_andn2_b32", "s_and_not1_b32"},
                                       {"s_andn2_b64", "s_and_not1_b64"},
                                       {"s_orn2_b32", "s_or_not1_b32"},
                                       {"s_orn2_b64", "s_or_not1_b64"},
                                       {"s_andn2_saveexec_b32", "s_and_not1_saveexec_b32"},
                                       {"s_andn2_saveexec_b64", "s_and_not1_saveexec_b64"},
                                       {"s_orn2_saveexec_b32", "s_or_not1_saveexec_b32"},
                                       {"s_orn2_saveexec_b64", "s_or_not1_saveexec_b64"},
                                       {"s_andn1_saveexec_b32", "s_and_not0_saveexec_b32"},
                                       {"s_andn1_saveexec_b64", "s_and_not0_saveexec_b64"},
                                       {"s_orn1_saveexec_b32", "s_or_not0_saveexec_b32"},
                                       {"s_orn1_saveexec_b64", "s_or_not0_saveexec_b64"},
                                       {"s_andn1_wrexec_b32", "s_and_not0_wrexec_b32"},
                                       {"s_andn1_wrexec_b64", "s_and_not0_wrexec_b64"},
                                       {"s_andn2_wrexec_b32", "s_and_not1_wrexec_b32"},
                                       {"s_andn2_wrexec_b64", "s_and_not1_wrexec_b64"},
                                       {"s_ff1_i32_b32", "s_ctz_i32_b32"},
                                       {"s_ff1_i32_b64", "s_ctz_i32_b64"}}};

Names all_names() {
    Names names;
    const auto add = [&](std::string old, std::string now) {
        names.emplace(std::move(old), std::move(now));
    };
    const auto text = [](std::string_view a, std::string_view b, std::string_view c = "") {
        return std::string(a) + std::string(b) + std::string(c);
    };
    for (std::string_view unit : {"global_", "flat_", "scratch_", "buffer_", "s_", "s_buffer_"}) {
        for (const auto &[old, now] : loaded)
            add(text(unit, "load_", old), text(unit, "load_", now));
        for (const auto &[old, now] : stored)
            add(text(unit, "store_", old), text(unit, "store_", now));
        for (const auto &[old, now] : atomics) {
            add(text(unit, "atomic_", old), text(unit, "atomic_", now));
            std::string wide(now.substr(0, now.size() - 2));
            add(text(unit, "atomic_", text(old, "_x2")), text(unit, "atomic_", wide + "64"));
        }
        add(text(unit, "atomic_dec"), text(unit, "atomic_dec_u32"));
        add(text(unit, "atomic_dec_x2"), text(unit, "atomic_dec_u64"));
    }
    for (std::string_view kind : ds_reads)
        add(text("ds_read_", kind), text("ds_load_", kind));
    for (std::string_view kind : ds_writes)
        add(text("ds_write_", kind), text("ds_store_", kind));
    for (std::string_view kind : {"2_b32", "2_b64", "2st64_b32", "2st64_b64"}) {
        const std::string now = kind.starts_with("2st64") ? text("2addr_stride64_", kind.substr(6))
                                                          : text("2addr_", kind.substr(2));
        add(text("ds_read", kind), text("ds_load_", now));
        add(text("ds_write", kind), text("ds_store_", now));
    }
    for (std::string_view kind : {"b32", "b64", "rtn_b32", "rtn_b64"}) {
        add(text("ds_wrxchg_", kind), text("ds_storexchg_", kind));
        add(text("ds_cmpst_", kind), text("ds_cmpstore_", kind));
    }
    for (std::string_view kind : {"f32", "f64", "rtn_f32", "rtn_f64"})
        add(text("ds_cmpst_", kind), text("ds_cmpstore_", kind));
    for (std::string_view kind : {"b8_d16_hi", "b16_d16_hi"})
        add(text("ds_write_", kind), text("ds_store_", kind));
    for (std::string_view kind : {"u8_d16_hi", "i8_d16_hi", "u16_d16_hi"})
        add(text("ds_read_", kind), text("ds_load_", kind));
    for (const auto &[old, now] : scalar)
        add(std::string(old), std::string(now));
    return names;
}

} // namespace

std::string_view name_since_gfx11(std::string_view mnemonic) {
    static const Names &names = *new Names(all_names());
    const auto at = names.find(mnemonic);
    return at == names.end() ? mnemonic : std::string_view(at->second);
}

} // namespace nw::sim
