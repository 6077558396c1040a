// SPDX-License-Identifier: MIT
// W4A16 products of a bench: selection, names and rows.
#pragma once
#include <functional>
#include <initializer_list>
#include <span>

#include "bench/options.h"
#include "bench/part.h"
#include "bench/table.h"
#include "bench/timing.h"
#include "formats/packed/linear_shapes.h"
#include "runtime/choose.h"

namespace nw::bench {

std::string zeros_label(Zeros);              // "sym", "zp": packed, "zt": typed, "carrier"
std::string type_name(const ProductShape &); // "bf16 sym m1"
std::string name(const ProductShape &);      // "2048x2048 g128 bf16 sym m1", K before N
// VALU issue slots per 8 weights and lane of a whole kernel; a wave instruction has 32 lanes.
f64 slots_per_8_weights(const Instructions &, const ProductShape &);

// The gfx that --device names, gfx1151 where it names none. Throws Usage for a card.
std::string simulated_gfx(const Options &);

// A layer's products for each type of the options, form of zero points and number of rows of
// activations, where --only matches the name: by the kernels that the library chooses.
struct Sweep {
    std::vector<Zeros> zeros;
    std::vector<u32> m;
    u32 group;
    std::function<std::string(const ProductShape &)> name = [](const ProductShape &p) {
        return bench::name(p);
    };
    std::function<const Kernel &(std::string_view gfx, const ProductShape &)> choose =
        chosen_kernel;
};
std::vector<DenseJob> dense_jobs(const Options &, const std::string &gfx, const LinearShape &,
                                 const Sweep &);

inline const std::string product_columns = "K x N {_size:>11}; group {group:>5}; type {_type:<11}";
// "; time us {time_us:>9.2f}", then the range.
std::string time_columns(const Options &, u32 width);
std::string range_column(const Options &); // "" without --uncertainty
// Adds _range, time_low_us, time_high_us and draws_us; nothing without draws.
void add_bounds(Json &row, const DrawnTime &);
// The geometric mean of a rate of these rows under each draw; empty without draws.
std::vector<f64> means_of_draws(std::span<const Json *const> rows, const char *rate);
Json to_json(const DenseJob &, const Timed &, const Bound &);

// Times them, each beside that of one row of activations, and prints a table.
Json time_by_m1(const Options &, const std::vector<DenseJob> &, const std::string &gfx);

} // namespace nw::bench
