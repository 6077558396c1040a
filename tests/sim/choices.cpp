// SPDX-License-Identifier: MIT
// HIPSIM_CHOICES: names, values, defaults, and messages for a bad list.
#include <doctest/doctest.h>

#include <filesystem>

#include "base/error.h"
#include "sim/assemble.h"
#include "sim/func/choices.h"

using namespace nw;
using namespace nw::sim;

namespace {

std::string error_of(std::string_view list) {
    try {
        parse_choices(list);
    } catch (const Error &e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST_CASE("a list of choices sets what it names and leaves the defaults") {
    CHECK(parse_choices("") == Choices{});
    CHECK(Choices{}.sr_carry == choice::sr_carry::carry);
    CHECK(parse_choices("sr_carry=wrap").sr_carry == choice::sr_carry::wrap);
    CHECK(parse_choices(",sr_carry=wrap,,sr_carry=carry,") == Choices{}); // the last one counts
}

TEST_CASE("an unknown name or value is an error that lists all choices") {
    for (const char *bad : {"sr", "sr_carry", "sr_carry=", "sr_carry=Wrap", "sr_carry=wrap=1",
                            "=wrap", "sr_carry=carry,x=y"}) {
        std::string text = error_of(bad);
        INFO(bad, ": ", text);
        CHECK(text.find(all_choices()) != text.npos);
    }
    CHECK(error_of("sr_carry=no").starts_with("sr_carry=no: 'no' is not one of carry, wrap;"));
    CHECK(error_of("carry=wrap").starts_with("carry=wrap: unknown choice;"));
}

TEST_CASE("every choice has at least two values, a question, and its note") {
    std::string notes;
    for (const auto &entry : std::filesystem::directory_iterator(NW_SOURCE_DIR "/isa_notes"))
        notes += entry.path().filename().string() + "\n";
#define CHOICE(name, note, question, ...)                                                          \
    CHECK(notes.find(note "-") != notes.npos);                                                     \
    CHECK(std::string_view(#__VA_ARGS__).find(", ") != std::string_view::npos);                    \
    CHECK(std::string_view(question).ends_with("?"));
#include "sim/func/choices.inc"
#undef CHOICE
}

TEST_CASE("a scope takes other choices and gives the old ones back") {
    CHECK(choices() == Choices{});
    {
        ChoicesScope scope("sr_carry=wrap");
        CHECK(choices().sr_carry == choice::sr_carry::wrap);
    }
    CHECK(choices() == Choices{});
}

TEST_CASE("a launch has the choices that it names, others those of the process") {
    test::KernelText kernel;
    kernel.body = "  s_mov_b32 s8, 1\n  s_max_u32 s9, s8, s8\n  s_cselect_b32 s10, 1, 0\n"
                  "  v_mov_b32 v1, 0\n  v_mov_b32 v2, s10\n  global_store_b32 v1, v2, s[2:3]";
    const Choices clear = parse_choices("max_scc=clear");
    test::Launch chosen;
    chosen.config.choices = &clear;
    CHECK(test::run(kernel, chosen)[0] == 0);
    CHECK(test::run(kernel)[0] == 1);
    chosen.cooperative = true;
    CHECK(test::run(kernel, chosen)[0] == 0);
    CHECK(choices() == Choices{});
}
