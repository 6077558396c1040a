// SPDX-License-Identifier: MIT
#include "bench/published.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/half.h"

namespace nw::bench {

namespace {

// The rows of a CSV file: comments and the line of names left out, every field by its column.
class Csv {
public:
    Csv(const std::string &path, std::string_view header, char separator = ',')
        : path_(path), separator_(separator), in_(path) {
        if (!in_)
            throw Error(fmt::format("{}: can't be read", path));
        if (!next_line() || line_ != header)
            fail(fmt::format("the columns are '{}', not '{}'", line_, header));
    }

    bool next() {
        if (!next_line())
            return false;
        fields_.clear();
        std::istringstream line(line_);
        for (std::string field; std::getline(line, field, separator_);)
            fields_.push_back(field);
        return true;
    }

    const std::string &text(u64 column) const {
        if (column >= fields_.size())
            fail(fmt::format("has {} fields, needs {}", fields_.size(), column + 1));
        return fields_[column];
    }

    template <class T> T number(u64 column) const { return as_number<T>(text(column)); }

    template <class T> T as_number(const std::string &field) const {
        T value{};
        const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
        if (error != std::errc() || end != field.data() + field.size() || !(value > 0))
            fail(fmt::format("'{}' is no positive number", field));
        return value;
    }

    [[noreturn]] void fail(const std::string &what) const {
        throw Error(fmt::format("{}:{}: {}", path_, number_, what));
    }

private:
    bool next_line() {
        while (std::getline(in_, line_)) {
            ++number_;
            if (!line_.starts_with("#"))
                return true;
        }
        return false;
    }

    std::string path_, line_;
    char separator_;
    std::ifstream in_;
    std::vector<std::string> fields_;
    u32 number_ = 0;
};

// Two sizes, two figures and a model.
template <class Row> std::vector<Row> read_pairs(const std::string &path, std::string_view header) {
    Csv csv(path, header);
    std::vector<Row> out;
    while (csv.next())
        out.push_back({csv.number<u32>(0), csv.number<u32>(1), csv.number<f64>(2),
                       csv.number<f64>(3), csv.text(4)});
    return out;
}

constexpr std::string_view trace_kinds[] = {"alu", "memory", "loop"};

PublishedTrace::Kind trace_kind(const Csv &csv, const std::string &word) {
    for (size_t n = 0; n < std::size(trace_kinds); ++n)
        if (word == trace_kinds[n])
            return static_cast<PublishedTrace::Kind>(n);
    csv.fail(fmt::format("kind '{}' is none of {}", word, fmt::join(trace_kinds, ", ")));
}

// "1 5 15..16 -"
std::vector<PublishedTrace::Interval> trace_intervals(const Csv &csv, const std::string &words) {
    std::vector<PublishedTrace::Interval> out;
    std::istringstream in(words);
    for (std::string word; in >> word;) {
        PublishedTrace::Interval i;
        const size_t dots = word.find("..");
        if (word != "-") {
            i.low = csv.as_number<f64>(word.substr(0, dots));
            i.high = dots == word.npos ? i.low : csv.as_number<f64>(word.substr(dots + 2));
        }
        if (i.high < i.low)
            csv.fail(fmt::format("interval '{}' ends before it begins", word));
        out.push_back(i);
    }
    if (out.empty())
        csv.fail("has no intervals");
    return out;
}

// "v_mov_b32 v1, 0 | s_nop 0"
std::string trace_lines(std::string text) {
    std::ranges::replace(text, '|', '\n');
    return text + "\n";
}

} // namespace

std::string PublishedDecode::type() const {
    return fmt::format("{} {} m{}", nw::name(dtype), zeros ? "zp" : "sym", m);
}

std::string PublishedDecode::name() const {
    return fmt::format("{}x{} g{} {}", k, n, group, type());
}

std::map<std::string, Line> lines_by_type(const std::vector<PublishedDecode> &rows) {
    std::map<std::string, std::vector<Point>> points;
    for (const PublishedDecode &p : rows)
        if (!p.fell_back())
            points[p.type()].push_back({static_cast<f64>(p.bytes()), p.us});
    std::map<std::string, Line> out;
    for (const auto &[type, of_type] : points)
        out.emplace(type, fit_line(of_type));
    return out;
}

std::vector<PublishedDecode> read_published_decode(const std::string &path) {
    Csv csv(path, "k,n,group,dtype,zeros,m,us,kernel,model");
    std::vector<PublishedDecode> out;
    while (csv.next()) {
        const bool bf16 = csv.text(3) == "bf16", zeros = csv.text(4) == "zp";
        if (!bf16 && csv.text(3) != "f16")
            csv.fail(fmt::format("dtype '{}' is neither f16 nor bf16", csv.text(3)));
        if (!zeros && csv.text(4) != "sym")
            csv.fail(fmt::format("zeros '{}' is neither sym nor zp", csv.text(4)));
        if (csv.text(7) != "wvsplitk_int4" && csv.text(7) != "triton")
            csv.fail(fmt::format("kernel '{}' is neither wvsplitk_int4 nor triton", csv.text(7)));
        out.push_back({csv.number<u32>(0), csv.number<u32>(1), csv.number<u32>(2),
                       bf16 ? Dtype::bf16 : Dtype::f16, zeros, csv.number<u32>(5),
                       csv.number<f64>(6), csv.text(7), csv.text(8)});
    }
    return out;
}

std::vector<PublishedStride> read_published_stride(const std::string &path) {
    return read_pairs<PublishedStride>(path, "n,k,unpadded_gib_s,padded_gib_s,model");
}

std::vector<PublishedPrefill> read_published_prefill(const std::string &path) {
    return read_pairs<PublishedPrefill>(path, "k,n,base_tflops,tuned_tflops,model");
}

std::vector<PublishedCycles> read_published_cycles(const std::string &path) {
    Csv csv(path, "gfx;measurement;low;high;beyond;source", ';');
    std::vector<PublishedCycles> out;
    while (csv.next())
        out.push_back({csv.text(0), csv.text(1), csv.number<f64>(2), csv.number<f64>(3),
                       csv.text(4), csv.text(5)});
    return out;
}

std::string_view name(PublishedTrace::Kind kind) { return trace_kinds[static_cast<size_t>(kind)]; }

u32 PublishedTrace::setup_instructions() const {
    return setup == "\n" ? 0 : static_cast<u32>(std::ranges::count(setup, '\n'));
}

std::vector<PublishedTrace> read_published_traces(const std::string &path) {
    Csv csv(path, "gfx;sequence;kind;threads;wave;setup;code;intervals;source", ';');
    std::vector<PublishedTrace> out;
    while (csv.next()) {
        PublishedTrace row = {csv.text(0),
                              csv.text(1),
                              trace_kind(csv, csv.text(2)),
                              csv.number<u32>(3),
                              csv.number<u32>(4),
                              trace_lines(csv.text(5)),
                              trace_lines(csv.text(6)),
                              trace_intervals(csv, csv.text(7)),
                              csv.text(8)};
        if (row.wave > ceil_div(row.threads, 32u))
            csv.fail(fmt::format("wave {} of {} threads", row.wave, row.threads));
        --row.wave; // the file counts from 1
        if (csv.text(6).empty()) {
            if (out.empty())
                csv.fail("has no code, and no row is above");
            row.setup = out.back().setup;
            row.code = out.back().code;
        }
        out.push_back(std::move(row));
    }
    return out;
}

std::vector<PublishedDispatch> read_published_dispatch(const std::string &path) {
    Csv csv(path, "gfx;groups;threads;low;high;source", ';');
    std::vector<PublishedDispatch> out;
    while (csv.next())
        out.push_back({csv.text(0), csv.number<u32>(1), csv.number<u32>(2), csv.number<f64>(3),
                       csv.number<f64>(4), csv.text(5)});
    return out;
}

} // namespace nw::bench
