// SPDX-License-Identifier: MIT
// Text of Chrome trace events. Times are cycles, written as nanoseconds; the format's unit is
// microseconds.
#pragma once
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw::sim::timing {

std::string json_string(std::string_view); // quoted; what is no UTF-8 is replaced

class TraceEvents {
public:
    struct Track {
        u64 process = 0, thread = 0;
    };
    // `name` is a JSON string, `args` an object's members.
    void slice(Track, u64 at, u64 cycles, std::string_view category, std::string_view name,
               std::string_view args);
    void arrow(u64 id, Track, u64 from, u64 to, std::string_view name);
    void counter(u64 process, u64 at, std::string_view name, f64 value);
    void name_process(u64 process, std::string_view name);
    void name_thread(Track, std::string_view name);

    const std::string &text() const { return text_; }
    u64 count() const { return count_; }

private:
    void begin(std::string_view phase, Track); // an event up to its track
    void time(std::string_view key, u64 cycles);
    void member(std::string_view key, std::string_view json);

    std::string text_;
    u64 count_ = 0;
};

} // namespace nw::sim::timing
