// SPDX-License-Identifier: MIT
// Rows of a bench: JSON objects, which are printed as tables and written as they are.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/types.h"
#include "runtime/catalogue.h"

namespace nw::bench {

using Json = nlohmann::json;

// A table on stdout, row by row: a row is out as soon as it is printed.
// Columns: "us {time_us:>9.2f}; bound {pct_of_bound:>5.1f}%; |". A column has a heading and fmt's
// format of the row's value at a key; the heading is aligned alike. A row without the key has "-".
// Without a format the text is repeated in all rows. Spaces at the beginning are kept in all. On a
// terminal headings are bold, and rows with a key _wrong are red.
class Table {
public:
    explicit Table(std::string_view columns);
    Table(Table &&) noexcept;
    ~Table();
    void print(const Json &row); // the headings before the first one
    void print_headings();

private:
    struct Column;
    template <class Text> std::string line(const Text &) const;
    std::vector<Column> columns_;
    bool begun_ = false;
};
void print_table(std::string_view columns, const Json &rows);

// Removes keys that begin with _, which are for tables alone.
Json without_labels(Json rows);

// Keys of a kernel: kernel, gfx, vgprs, lds_bytes, waves_per_simd.
Json kernel_facts(const Kernel &);
// "4096x2560"
std::string by(u64 a, u64 b);
void append(Json &rows, const Json &more);

// Adds of_m1 to rows: time relative to the row with m = 1 and the same values at these keys, whose
// of_m1 is 1. Rows without such a row have none.
class OfM1 {
public:
    explicit OfM1(std::vector<std::string> same) : same_(std::move(same)) {}
    void add(Json &row); // by the rows so far
    void add_all(Json &rows);

private:
    Json kind(const Json &row) const;
    std::vector<std::string> same_;
    std::map<Json, f64> one_; // time of the row with m 1, by kind
};

f64 geometric_mean(std::span<const f64>);

} // namespace nw::bench
