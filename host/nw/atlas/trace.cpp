// SPDX-License-Identifier: MIT
#include "nw/atlas/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "base/error.h"

namespace nw::cli {

namespace {

using Cells = std::vector<std::string>;

// Sanitizes text of the file to one line, for a message.
std::string shown(std::string_view text, size_t most) {
    std::string out(text.substr(0, most));
    for (char &c : out)
        c = c < ' ' || c > '~' ? '?' : c;
    return out;
}

// CSV reader. A quoted cell may contain commas, line breaks and doubled quotes.
class Csv {
public:
    Csv(std::string_view text, const std::string &file) : left_(text), file_(file) {
        constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
        if (left_.starts_with(byte_order_mark))
            left_.remove_prefix(byte_order_mark.size());
    }

    // False at the end. Skips empty lines.
    bool next(Cells &cells) {
        while (!left_.empty()) {
            line_ = next_line_;
            cells.clear();
            do
                cells.push_back(cell());
            while (take(','));
            if (!take('\n') && !left_.empty())
                fail(fmt::format("'{}' follows a quoted cell: must be a comma or the line's end",
                                 shown(left_, 1)));
            ++next_line_;
            if (cells.size() > 1 || !cells.front().empty())
                return true;
        }
        return false;
    }

    [[noreturn]] void fail(const std::string &what) const {
        throw Error(fmt::format("{}:{}: {}", file_, line_, what));
    }

private:
    bool take(char c) {
        if (c == '\n' && left_.starts_with("\r\n"))
            left_.remove_prefix(1);
        if (!left_.starts_with(c))
            return false;
        left_.remove_prefix(1);
        return true;
    }

    std::string cell() {
        if (take('"'))
            return quoted();
        std::string_view text = left_.substr(0, left_.find_first_of(",\n"));
        left_.remove_prefix(text.size());
        if (text.ends_with('\r') && (left_.empty() || left_.front() == '\n'))
            text.remove_suffix(1);
        return std::string(text);
    }

    std::string quoted() {
        std::string out;
        for (;;) {
            const u64 end = left_.find('"');
            if (end == left_.npos)
                fail("a quote is not closed: the file is truncated or not CSV");
            const std::string_view text = left_.substr(0, end);
            next_line_ += static_cast<u64>(std::ranges::count(text, '\n'));
            out += text;
            left_.remove_prefix(end + 1);
            if (!take('"'))
                return out;
            out += '"';
        }
    }

    std::string_view left_;
    const std::string &file_;
    u64 line_ = 0, next_line_ = 1;
};

// Column names: rocprofv3 since ROCm 7 and before, rocprofv2, rocprof.
constexpr std::array<std::string_view, 4>
    name_columns = {"Kernel_Name", "KernelName"},
    start_columns = {"Start_Timestamp", "BeginNs"}, end_columns = {"End_Timestamp", "EndNs"},
    kind_columns = {"Kind"}, vgprs_columns = {"VGPR_Count", "Arch_VGPR", "arch_vgpr", "vgpr"},
    sgprs_columns = {"SGPR_Count", "SGPR", "sgpr"},
    lds_columns = {"LDS_Block_Size", "Group_Segment_Size", "LDS_Per_Workgroup", "lds"},
    scratch_columns = {"Scratch_Size", "Private_Segment_Size", "Scratch_Per_Workitem", "scr"},
    grid_columns = {"Grid_Size_X", "Grid_Size", "grd"},
    workgroup_columns = {"Workgroup_Size_X", "Workgroup_Size", "wgr"};

class Columns {
public:
    Columns(const Csv &csv, Cells header) : csv_(csv), header_(std::move(header)) {
        if (at("TotalDurationNs") || at("AverageNs"))
            csv.fail("this is the summary that --stats writes: give the trace itself, "
                     "..._kernel_trace.csv");
        name_ = needed(name_columns), start_ = needed(start_columns), end_ = needed(end_columns);
        kind_ = find(kind_columns), vgprs_ = find(vgprs_columns), sgprs_ = find(sgprs_columns);
        lds_ = find(lds_columns), scratch_ = find(scratch_columns), grid_ = find(grid_columns);
        workgroup_ = find(workgroup_columns);
        grid_y_ = at("Grid_Size_Y"), grid_z_ = at("Grid_Size_Z");
    }

    void check(const Cells &row) const {
        if (row.size() != header_.size())
            csv_.fail(fmt::format("{} cells, the header has {}: the line is truncated, or a kernel "
                                  "name with commas is not quoted",
                                  row.size(), header_.size()));
    }
    bool is_dispatch(const Cells &row) const { return !kind_ || row[*kind_] == "KERNEL_DISPATCH"; }

    const std::string &name(const Cells &row) const {
        if (row[*name_].empty())
            csv_.fail(fmt::format("{} is empty: every dispatch has a kernel", header_[*name_]));
        return row[*name_];
    }
    u64 ns(const Cells &row) const {
        const u64 start = time(row, *start_), end = time(row, *end_);
        if (end < start)
            csv_.fail(fmt::format("{} = {} is before {} = {}: a dispatch ends after it begins",
                                  header_[*end_], end, header_[*start_], start));
        return end - start;
    }
    std::string grid(const Cells &row) const {
        std::string out;
        for (const Column &column : {grid_, grid_y_, grid_z_, workgroup_})
            out += column ? row[*column] + " " : "";
        return out;
    }
    void describe(const Cells &row, TraceKernel &kernel) const {
        kernel.workgroup = number(row, workgroup_);
        kernel.vgprs = number(row, vgprs_), kernel.sgprs = number(row, sgprs_);
        kernel.lds_bytes = number(row, lds_), kernel.scratch_bytes = number(row, scratch_);
    }

private:
    using Column = std::optional<u64>;

    Column at(std::string_view name) const {
        const auto found = std::ranges::find(header_, name);
        return found == header_.end() || name.empty() ? Column() : found - header_.begin();
    }
    Column find(const std::array<std::string_view, 4> &names) const {
        for (std::string_view name : names)
            if (const Column column = at(name))
                return column;
        return {};
    }
    Column needed(const std::array<std::string_view, 4> &names) const {
        const Column column = find(names);
        if (!column)
            csv_.fail(fmt::format("no column {} (or {}): it has {}; a kernel trace is what "
                                  "`rocprofv3 --kernel-trace --output-format csv -- PROGRAM` "
                                  "writes as ..._kernel_trace.csv",
                                  names[0], names[1],
                                  shown(fmt::format("{}", fmt::join(header_, ", ")), 300)));
        return column;
    }

    static Column parse(std::string_view text) {
        u64 value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc{} && end == text.data() + text.size() ? Column(value) : Column();
    }
    Column number(const Cells &row, const Column &column) const {
        return column ? parse(row[*column]) : Column();
    }
    u64 time(const Cells &row, u64 column) const {
        const Column value = parse(row[column]);
        if (!value)
            csv_.fail(fmt::format("{} = '{}': must be a whole number of nanoseconds",
                                  header_[column], shown(row[column], 40)));
        return *value;
    }

    const Csv &csv_;
    const Cells header_;
    Column name_, start_, end_, kind_, vgprs_, sgprs_, lds_, scratch_, grid_, grid_y_, grid_z_,
        workgroup_;
};

// rocprof and --mangled-kernels report the descriptor's symbol.
std::string plain_name(std::string name) {
    for (std::string_view end : {" [clone .kd]", ".kd"})
        if (name.ends_with(end) && name.size() > end.size())
            name.erase(name.size() - end.size());
    return name;
}

} // namespace

Trace read_trace(std::string_view text, const std::string &file) {
    Csv csv(text, file);
    Cells cells;
    if (!csv.next(cells))
        throw Error(
            fmt::format("{}: is empty: a trace has a header and one line per dispatch", file));
    const Columns columns(csv, cells);
    std::map<std::string, TraceKernel> kernels; // by name as in the trace
    std::map<std::string, std::set<std::string>> grids;
    Trace out;
    while (csv.next(cells)) {
        columns.check(cells);
        if (!columns.is_dispatch(cells))
            continue;
        const std::string &name = columns.name(cells);
        TraceKernel &kernel = kernels[name];
        if (kernel.calls++ == 0)
            columns.describe(cells, kernel);
        const u64 ns = columns.ns(cells);
        if (__builtin_add_overflow(out.total_ns, ns, &out.total_ns))
            csv.fail(fmt::format("the times add up to more than 2^64 ns, this one is {} ns", ns));
        kernel.total_ns += ns;
        kernel.min_ns = std::min(kernel.min_ns, ns);
        kernel.max_ns = std::max(kernel.max_ns, ns);
        grids[name].insert(columns.grid(cells));
        ++out.calls;
    }
    if (out.calls == 0)
        throw Error(fmt::format(
            "{}: has no kernel dispatch: trace the whole program with --kernel-trace", file));
    for (auto &[name, kernel] : kernels) {
        kernel.name = plain_name(name);
        kernel.grids = grids[name].size();
        out.kernels.push_back(std::move(kernel));
    }
    std::ranges::stable_sort(out.kernels, std::greater{}, &TraceKernel::total_ns);
    return out;
}

} // namespace nw::cli
