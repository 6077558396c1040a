// SPDX-License-Identifier: MIT
// DWARF .debug_line (versions 4 and 5) -> "file:line" by address.
#pragma once
#include <string>
#include <vector>

#include "sim/isa/image/elf.h"

namespace nw::sim {

class LineTable {
public:
    LineTable() = default;
    // An unreadable table is treated as empty: line numbers are optional.
    explicit LineTable(const Elf &elf);

    std::string find(u64 address) const; // as linked; "" when unknown

private:
    struct Row {
        u64 address = 0;
        u32 file = 0, line = 0;
        bool end = false; // one past a sequence
    };
    struct Unit;
    void read_unit(Unit &unit);
    void read_files(Unit &unit);
    void add_file(std::string_view name);
    void run_program(Unit &unit);

    std::vector<std::string> files_;
    u64 name_bytes_ = 0;
    std::vector<Row> rows_; // ascending addresses
};

} // namespace nw::sim
