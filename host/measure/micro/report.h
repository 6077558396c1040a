// SPDX-License-Identifier: MIT
// The file that `nw micro --json` writes and --fit reads.
//   {"schema": "nibblewave.micro.v1", "device": "sim gfx1151", "gfx": "gfx1151", "simulated": true,
//    "bytes": 67108864, "rows": [{"name": "v_add_f32 dependent", "unit": "cycles", "value": 5,
//    "low": 5, "high": 5,
//              "offset": 1, "from": "...", "clocks": {"0": [...], "8": [...], "40": [...]}}]}
#pragma once
#include <string>
#include <vector>

#include "measure/micro/row.h"

namespace nw::micro {

struct Report {
    std::string device; // label: "sim gfx1151", or the card's name
    std::string gfx;
    bool simulated = false;
    u64 bytes = 0; // that a stream read (Settings)
    std::vector<Row> rows;

    const Row *find(std::string_view name) const; // null when it was not measured
};

// Both throw nw::Error, which names the file and the mistake.
void write_report(const std::string &path, const Report &);
Report read_report(const std::string &path);

} // namespace nw::micro
