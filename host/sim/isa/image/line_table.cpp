// SPDX-License-Identifier: MIT
#include "sim/isa/image/line_table.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/isa/image/dwarf_cursor.h"

namespace nw::sim {

namespace {

// Values of the DWARF 5 standard, sections 6.2 and 7.5.
enum : u8 {
    lns_copy = 1,
    lns_advance_pc,
    lns_advance_line,
    lns_set_file,
    lns_set_column,
    lns_negate_stmt,
    lns_basic_block,
    lns_const_add_pc,
    lns_fixed_advance_pc
};
enum : u8 { lne_end_sequence = 1, lne_set_address = 2 };
enum : u16 { lnct_path = 1 };
std::string_view base_name(std::string_view path) {
    size_t slash = path.rfind('/');
    return slash == path.npos ? path : path.substr(slash + 1);
}

} // namespace

struct LineTable::Unit {
    Bytes lines, line_strings, strings;
    DwarfCursor c;
    u64 end = 0, program = 0;
    u16 version = 0;
    u8 min_inst = 1, line_range = 1, opcode_base = 1;
    i8 line_base = 0;
    std::vector<u8> operand_counts;
    u32 first_file = 0; // of this unit, in files_
};

LineTable::LineTable(const Elf &elf) {
    Bytes lines = elf.section(".debug_line");
    if (lines.empty())
        return;
    Unit unit{lines, elf.section(".debug_line_str"), elf.section(".debug_str"),
              DwarfCursor(lines, 0)};
    try {
        while (unit.c.at + 4 <= lines.size())
            read_unit(unit);
    } catch (const BadImage &) {
        files_.clear();
        rows_.clear();
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row &a, const Row &b) { return a.address < b.address; });
}

void LineTable::read_unit(Unit &unit) {
    DwarfCursor &c = unit.c;
    u64 length = c.take<u32>();
    if (length == 0xffffffff)
        throw BadImage("64-bit DWARF");
    unit.end = c.at + length;
    unit.lines.slice(c.at, length);
    unit.version = c.take<u16>();
    if (unit.version < 4 || unit.version > 5) {
        c.at = unit.end;
        return;
    }
    if (unit.version == 5)
        c.at += 2; // address size, segment selector size
    u64 header = c.take<u32>();
    unit.program = c.at + header;
    unit.min_inst = c.take<u8>();
    c.at += 2; // maximum operations per instruction, default is_stmt
    unit.line_base = c.take<i8>();
    unit.line_range = std::max<u8>(1, c.take<u8>());
    unit.opcode_base = std::max<u8>(1, c.take<u8>());
    unit.operand_counts.assign(unit.opcode_base, 0);
    for (u8 i = 1; i < unit.opcode_base; ++i)
        unit.operand_counts[i] = c.take<u8>();
    unit.first_file = static_cast<u32>(files_.size());
    read_files(unit);
    c.at = unit.program;
    run_program(unit);
    c.at = unit.end;
}

// Names may be shared, so their sum is not limited by the file's size.
void LineTable::add_file(std::string_view name) {
    constexpr u64 most = 64 << 20;
    name_bytes_ += name.size() + sizeof(std::string);
    if (name_bytes_ > most)
        throw BadImage("file names are not terminated");
    files_.emplace_back(name);
}

void LineTable::read_files(Unit &unit) {
    DwarfCursor &c = unit.c;
    if (unit.version == 4) {
        files_.emplace_back(); // file numbers start at 1
        while (!c.string().empty()) {
        }
        for (auto name = c.string(); !name.empty(); name = c.string()) {
            add_file(base_name(name));
            c.uleb(), c.uleb(), c.uleb();
        }
        return;
    }
    for (bool directories : {true, false}) {
        std::vector<std::pair<u64, u64>> format(c.take<u8>());
        for (auto &[content, form] : format)
            content = c.uleb(), form = c.uleb();
        u64 count = c.uleb();
        if (count > unit.lines.size())
            throw BadImage("more files than bytes");
        for (u64 i = 0; i < count; ++i) {
            std::string_view name;
            for (auto [content, form] : format) {
                std::string_view s;
                switch (form) {
                case form_string:
                    s = c.string();
                    break;
                case form_line_strp:
                    s = unit.line_strings.string(c.take<u32>());
                    break;
                case form_strp:
                    s = unit.strings.string(c.take<u32>());
                    break;
                case form_data1:
                    c.skip(1);
                    break;
                case form_data2:
                    c.skip(2);
                    break;
                case form_data4:
                    c.skip(4);
                    break;
                case form_data8:
                    c.skip(8);
                    break;
                case form_data16:
                    c.skip(16);
                    break;
                case form_udata:
                    c.uleb();
                    break;
                case form_block:
                    c.skip(c.uleb());
                    break;
                case form_block2:
                    c.skip(c.take<u16>());
                    break;
                default:
                    throw BadImage("unexpected DWARF form in a line table");
                }
                if (content == lnct_path)
                    name = base_name(s);
            }
            if (!directories)
                add_file(name);
        }
    }
}

void LineTable::run_program(Unit &unit) {
    DwarfCursor &c = unit.c;
    auto fresh = [&] { return Row{0, unit.first_file + 1, 1, false}; };
    Row row = fresh();
    auto advance = [&](u64 units) { row.address += units * unit.min_inst; };
    while (c.at < unit.end) {
        u8 op = c.take<u8>();
        if (op >= unit.opcode_base) {
            u8 adjusted = op - unit.opcode_base;
            advance(adjusted / unit.line_range);
            row.line += static_cast<u32>(unit.line_base + adjusted % unit.line_range);
            rows_.push_back(row);
            continue;
        }
        switch (op) {
        case 0: {
            u64 size = c.uleb(), next = c.at + size;
            unit.lines.slice(c.at, size);
            u8 extended = size ? c.take<u8>() : 0;
            if (extended == lne_set_address && size == 9)
                row.address = c.take<u64>();
            if (extended == lne_end_sequence) {
                row.end = true;
                rows_.push_back(row);
                row = fresh();
            }
            c.at = next;
            break;
        }
        case lns_copy:
            rows_.push_back(row);
            break;
        case lns_advance_pc:
            advance(c.uleb());
            break;
        case lns_advance_line:
            row.line += static_cast<u32>(c.sleb());
            break;
        case lns_set_file:
            row.file = unit.first_file + static_cast<u32>(c.uleb());
            break;
        case lns_const_add_pc:
            advance((255 - unit.opcode_base) / unit.line_range);
            break;
        case lns_fixed_advance_pc:
            row.address += c.take<u16>();
            break;
        default:
            for (u8 n = unit.operand_counts[op]; n > 0; --n)
                c.uleb();
        }
    }
}

std::string LineTable::find(u64 address) const {
    auto after = std::upper_bound(rows_.begin(), rows_.end(), address,
                                  [](u64 a, const Row &r) { return a < r.address; });
    if (after == rows_.begin())
        return {};
    const Row &row = *std::prev(after);
    if (row.end || row.file >= files_.size())
        return {};
    return fmt::format("{}:{}", files_[row.file], row.line);
}

} // namespace nw::sim
