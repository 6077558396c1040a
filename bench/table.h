// SPDX-License-Identifier: MIT
// Rows of a bench: JSON objects, which are printed as tables and written as they are.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/types.h"
#include "runtime/catalogue.h"

namespace nw::bench {

using Json = nlohmann::json;

// Columns of a table: "us {time_us:>9.2f}; bound {pct_of_bound:>5.1f}%; |". A column has a heading
// and fmt's format of the row's value at a key; the heading is aligned alike. A row without the key
// has "-". Without a format, all rows have what stands there. Spaces at the beginning stand in all.
void print_table(std::string_view columns, const Json &rows);
void print_headings(std::string_view columns);
void print_row(std::string_view columns, const Json &row);

// Keys that begin with _ are for tables alone: takes them away.
Json without_labels(Json rows);

// What a row says of its kernel: kernel, gfx, vgprs, lds_bytes, waves_per_simd.
Json kernel_facts(const Kernel &);
// "4096x2560"
std::string by(u64 a, u64 b);
void append(Json &rows, const Json &more);

// Rows with m > 1 get of_m1: their time by that of the row with m 1 that has the same values at
// these keys; that row gets 1. Where there is none, of_m1 is left out.
void add_of_m1(Json &rows, const std::vector<std::string> &same);

f64 geometric_mean(std::span<const f64>);

} // namespace nw::bench
