// SPDX-License-Identifier: MIT
#include "sim/timing/files/trace_events.h"

#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace nw::sim::timing {

std::string json_string(std::string_view s) {
    return nlohmann::json(s).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

void TraceEvents::begin(std::string_view phase, Track track) {
    fmt::format_to(std::back_inserter(text_), "{}{{\"ph\":\"{}\",\"pid\":{},\"tid\":{}",
                   count_ ? ",\n" : "", phase, track.process, track.thread);
    ++count_;
}

void TraceEvents::time(std::string_view key, u64 cycles) {
    fmt::format_to(std::back_inserter(text_), ",\"{}\":{}.{:03}", key, cycles / 1000,
                   cycles % 1000);
}

void TraceEvents::member(std::string_view key, std::string_view json) {
    text_ += ",\"";
    text_ += key;
    text_ += "\":";
    text_ += json;
}

void TraceEvents::slice(Track track, u64 at, u64 cycles, std::string_view category,
                        std::string_view name, std::string_view args) {
    begin("X", track);
    time("ts", at);
    time("dur", cycles);
    fmt::format_to(std::back_inserter(text_), ",\"cat\":\"{}\"", category);
    member("name", name);
    text_ += ",\"args\":{";
    text_ += args;
    text_ += "}}";
}

// Both ends attach to the slice that contains their time.
void TraceEvents::arrow(u64 id, Track track, u64 from, u64 to, std::string_view name) {
    for (const auto &[phase, at] : {std::pair{"s", from}, std::pair{"f", to}}) {
        begin(phase, track);
        time("ts", at);
        fmt::format_to(std::back_inserter(text_), ",\"id\":{},\"cat\":\"memory\",\"bp\":\"e\"", id);
        member("name", name);
        text_ += '}';
    }
}

void TraceEvents::counter(u64 process, u64 at, std::string_view name, f64 value) {
    begin("C", {process, 0});
    time("ts", at);
    member("name", name);
    fmt::format_to(std::back_inserter(text_), ",\"args\":{{\"value\":{:.6g}}}}}", value);
}

void TraceEvents::name_process(u64 process, std::string_view name) {
    begin("M", {process, 0});
    fmt::format_to(std::back_inserter(text_),
                   ",\"name\":\"process_name\",\"args\":{{\"name\":{}}}}}", json_string(name));
    begin("M", {process, 0});
    fmt::format_to(std::back_inserter(text_),
                   ",\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{}}}}}", process);
}

void TraceEvents::name_thread(Track track, std::string_view name) {
    begin("M", track);
    fmt::format_to(std::back_inserter(text_),
                   ",\"name\":\"thread_name\",\"args\":{{\"name\":{}}}}}", json_string(name));
}

} // namespace nw::sim::timing
