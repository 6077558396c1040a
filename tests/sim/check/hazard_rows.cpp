// SPDX-License-Identifier: MIT
#include "sim/check/hazard_rows.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace nw::sim::test {

namespace {

// Replaces wait placeholders by the target's instructions.
std::string spelled(std::string text, bool gfx12) {
    const std::pair<const char *, const char *> names[] = {
        {"loads 0", gfx12 ? "s_wait_loadcnt 0" : "s_waitcnt vmcnt(0)"},
        {"stores 0", gfx12 ? "s_wait_storecnt 0" : "s_waitcnt_vscnt null, 0"},
        {"lds 0", gfx12 ? "s_wait_dscnt 0" : "s_waitcnt lgkmcnt(0)"}};
    for (const auto &[word, name] : names)
        if (const size_t at = text.find(word); at != text.npos)
            text.replace(at, std::string(word).size(), name);
    return text;
}

// Lines in a row.
std::string lines(std::initializer_list<const char *> parts) {
    std::string out;
    for (const char *part : parts)
        out += std::string(part) + "\n";
    return out;
}

// The second half stands before the first, and is reached by a branch.
std::string across(const char *first, const char *between, const char *second) {
    return lines({"s_branch .Lfirst\n.Lsecond:", between, second, "s_branch .Lout\n.Lfirst:", first,
                  "s_branch .Lsecond\n.Lout:"});
}

// s4 is 0, which the lint can't know.
std::string first_on_one_way(const Row &r) {
    return lines({"s_cmp_eq_u32 s4, 0\n s_cbranch_scc1 .Lfirst\n s_branch .Ljoin\n.Lfirst:",
                  r.first, ".Ljoin:", r.second});
}
std::string remedy_on_one_way(const Row &r) {
    return lines(
        {"s_cmp_eq_u32 s4, 0", r.first, "s_cbranch_scc1 .Ljoin", r.remedy, ".Ljoin:", r.second});
}

// The text where it has the note, or all of it where nothing is to be found.
void look(const Row &r, Finder find, const std::string &gfx, const char *name, std::string body,
          bool found) {
    body = spelled(std::move(body), gfx.starts_with("gfx12"));
    const std::string text = find(r, gfx, body);
    INFO(fmt::format("{} {}, {}:\n{}\nfinds: {}", r.note, gfx, name, body, text));
    if (found)
        CHECK(text.find(r.note) != text.npos);
    else
        CHECK(text == "");
}

void five_cases(const Row &r, Finder find, const std::string &gfx) {
    const std::string hazard = lines({r.first, r.second});
    look(r, find, gfx, "hazard", hazard, true);
    look(r, find, gfx, "none", r.apart, false);
    look(r, find, gfx, "wrong counter", lines({r.first, r.wrong, r.second}), true);
    look(r, find, gfx, "across a branch", across(r.first, "", r.second), true);
    if (*r.first)
        look(r, find, gfx, "across a branch, first half on one way", first_on_one_way(r), true);
    if (!r.remedy)
        return;
    look(r, find, gfx, "mitigated", lines({r.first, r.remedy, r.second}), false);
    look(r, find, gfx, "mitigated across a branch", across(r.first, r.remedy, r.second), false);
    look(r, find, gfx, "across a branch, remedy on one way", remedy_on_one_way(r), true);
}

} // namespace

void check_five_cases(std::span<const Row> rows, Finder find) {
    for (const Row &r : rows) {
        for (const std::string &gfx : r.targets)
            five_cases(r, find, gfx);
        for (const std::string &gfx : r.others) {
            const std::string text = find(r, gfx, lines({r.first, r.second}));
            INFO(fmt::format("{} on {}: {}", r.note, gfx, text));
            CHECK(text.find(r.note) == text.npos);
        }
    }
}

} // namespace nw::sim::test
