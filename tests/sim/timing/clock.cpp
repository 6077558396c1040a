// SPDX-License-Identifier: MIT
// The shader clock under load (T-093), and what settings say of it.
#include <doctest/doctest.h>

#include "base/error.h"
#include "sim/timing/constants/part.h"

using namespace nw;
using namespace nw::sim::timing;

namespace {

Part part_at(std::string_view name, std::string_view clock, std::string_view power = "") {
    Part part = *find_part(name);
    set_power(part, power);
    set_clock(part, clock, !power.empty());
    return part;
}

std::string error_at(std::string_view name, std::string_view clock, std::string_view power = "") {
    try {
        part_at(name, clock, power);
    } catch (const Error &error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("the clock falls where WMMA takes more than the rated power") {
    const Part part = *find_part("8060S");
    CHECK(part.mhz_under(0) == part.shader_mhz);
    CHECK(part.mhz_under(0.5) == part.shader_mhz);
    CHECK(part.mhz_under(0.8) < 2620);
    CHECK(part.mhz_under(1) == doctest::Approx(part.wmma_mhz));
    CHECK(find_part("6900 XT")->mhz_under(1) == 2250); // it has no WMMA
    for (const Part &each : parts())
        CHECK(each.mhz_under(1) <= each.shader_mhz);
}

// llama.cpp's prefill on an 8060S with a held clock; the rated 120 W, at 2600 MHz, set wmma_mhz.
TEST_CASE("the 8060S' clock by power is the measured one within 6 %") {
    struct Row {
        std::string_view watts;
        f64 mhz;
    };
    for (const Row &row : {Row{"85", 2200}, Row{"100", 2400}, Row{"107", 2500}, Row{"180", 2900}}) {
        INFO(row.watts);
        const Part part = part_at("8060S", "", row.watts);
        CHECK(part.mhz_under(0.8) == doctest::Approx(row.mhz).epsilon(0.06));
    }
}

TEST_CASE("a clock that is held has no limit of power, unless one is set") {
    CHECK(part_at("8060S", "2200").mhz_under(1) == 2200);
    CHECK(part_at("8060S", "boost").mhz_under(1) == 2900);
    CHECK(part_at("8060S", "sustained") == *find_part("8060S"));
    CHECK(part_at("8060S", "boost", "60").mhz_under(1) ==
          doctest::Approx(2420 / 1.26).epsilon(0.001));
    CHECK(part_at("8060S", "1500", "120").mhz_under(1) == 1500);
}

TEST_CASE("a clock or a power outside the part's range is refused with the range") {
    const std::string clock =
                          "the 8060S's clock is sustained, boost, which is 2900 MHz, or a number "
                          "from 580 to 3625 MHz",
                      power = "the 8060S's power is a number from 24 to 180 W; it is rated for 120";
    for (const std::string_view bad : {"579", "3626", "fast", "2.4GHz", "-2400", "99999999999"})
        CHECK(error_at("8060S", bad) == clock);
    for (const std::string_view bad : {"23", "181", "much", "1e2"})
        CHECK(error_at("8060S", "", bad) == power);
    CHECK(error_at("6900 XT", "", "300") == "the model limits the clock of WMMA alone, which the "
                                            "6900 XT does not have: set the clock");
    CHECK(error_at("6900 XT", "1800") == "");
}
