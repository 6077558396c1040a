// SPDX-License-Identifier: MIT
#include "sim/timing/files/trace_file.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "sim/timing/core/dispatcher.h"
#include "sim/timing/files/listing.h"
#include "sim/timing/sampling/series.h"
#include "sim/timing/timeline.h"

namespace nw::sim::timing {

namespace {

using Track = TraceEvents::Track;

// Process and thread ids: never 0, thread ids unique.
constexpr u64 processes_per_device = 10'000, threads_per_process = 100;
constexpr u64 arrows_per_launch = 1 << 20;

u64 launches_process(u32 device) { return device * processes_per_device + 1; }
u64 streams_process(u32 device) { return (device + 1) * processes_per_device; }
u64 simd_process(u32 device, u32 simd) { return launches_process(device) + 1 + simd; }
Track track_of(u64 process, u64 thread) {
    return {process, process * threads_per_process + thread};
}

std::string_view level_name(MemoryWatcher::Level level) {
    constexpr std::string_view names[] = {"L0", "GL1", "L2", "MALL", "DRAM"};
    return names[static_cast<size_t>(level)];
}

std::string stall_members(const Stalls &stalls) {
    std::string members;
    for (size_t n = 0; n < stalls.size(); ++n)
        if (stalls[n])
            members += fmt::format(",\"{}\":{}", name(static_cast<Stall>(n)), stalls[n]);
    return members;
}

} // namespace

class TraceFile::Launch : public Watcher {
public:
    Launch(TraceFile &file, const Dispatch &d, const Part &part, u32 device)
        : file_(file), dispatch_(d), part_(part), device_(device), listing_(d),
          kernel_(json_string(d.kernel->name)), texts_(listing_.size()) {}

    ~Launch() override { // after a fault: writes what came before
        if (!number_ || finished_)
            return;
        Result none;
        none.cycles = last_end_;
        none.limiter = "fault";
        finished(none);
    }

    void wave_started(u64 group, u32 wave, u32 simd, u64 at) override {
        if (!number_)
            begin();
        if (slots_.size() <= simd)
            slots_.resize(simd + 1);
        auto &slots = slots_[simd];
        auto slot =
            std::find_if(slots.begin(), slots.end(), [&](u64 until) { return until <= at; });
        if (slot == slots.end())
            slot = slots.insert(slot, 0);
        *slot = ~u64{0};
        waves_[{group, wave}] = {at, static_cast<u32>(slot - slots.begin())};
    }

    void issued(const IssueEvent &e) override {
        instructions_.push_back(e);
        if (!e.bytes)
            return;
        in_flight_.add(e.issue, e.done, e.bytes);
        if (e.dram_bytes)
            dram_.add(e.done, e.dram_bytes);
    }

    void wave_ended(u64 group, u32 wave, u32 simd, u64 at) override {
        const auto running = waves_.find({group, wave});
        const auto [start, slot] = running->second;
        waves_.erase(running);
        slots_[simd][slot] = at;
        last_end_ = std::max(last_end_, at);
        resident_.add(start, at, 1);
        draw(group, wave, simd, slot, start, at);
        instructions_.clear();
    }

    void answered(u64, u64, u32, Level) override {}

    void finished(const Result &r) override {
        finished_ = true;
        const std::lock_guard lock(file_.mutex_);
        draw_launch(r);
        draw_counters();
        if (left_out_)
            file_.left_out(left_out_, *number_, dispatch_.kernel->name);
        file_.add(events_);
        const u64 overhead = static_cast<u64>(part_.launch_overhead * part_.shader_mhz);
        file_.devices_[device_].free = base_ + std::max(r.cycles, last_end_) + overhead;
    }

private:
    struct Text {
        std::string name, args; // JSON
    };

    void begin() {
        const std::lock_guard lock(file_.mutex_);
        number_ = file_.launches_++;
        base_ = file_.devices_[device_].free;
        named_ = file_.devices_[device_].named;
        const TraceLimits &limits = file_.limits_;
        budget_ =
            std::min(limits.of_launch, limits.of_file - std::min(limits.of_file, file_.events_));
    }

    const Text &text_of(u32 index) {
        Text &t = texts_[index];
        if (t.name.empty()) {
            t.name = json_string(listing_.mnemonic(index));
            t.args = fmt::format("\"pc\":\"{}\",\"text\":{},\"line\":{}", listing_.pc_text(index),
                                 json_string(listing_.text(index)),
                                 json_string(listing_.source_line(index)));
        }
        return t;
    }

    bool full() const { return events_.count() >= budget_; }

    void draw(u64 group, u32 wave, u32 simd, u32 slot, u64 start, u64 end) {
        if (full()) {
            left_out_ += instructions_.size();
            return;
        }
        const u64 process = simd_process(device_, simd);
        const Track track = track_of(process, slot + 1);
        if (named_.insert(process).second)
            events_.name_process(process, fmt::format("{} WGP {} CU {} SIMD {}", part_.name,
                                                      simd / simds_per_wgp, simd / 2, simd));
        if (named_.insert(track.thread).second)
            events_.name_thread(track, fmt::format("slot {}", slot));
        Stalls stalls{};
        for (const IssueEvent &e : instructions_)
            stalls[static_cast<size_t>(e.why)] += e.lost;
        events_.slice(track, base_ + start, end - start, "wave",
                      fmt::format("\"workgroup {} wave {}\"", group, wave),
                      fmt::format("\"launch\":{},\"kernel\":{},\"instructions\":{}{}", *number_,
                                  kernel_, instructions_.size(), stall_members(stalls)));
        size_t drawn = 0;
        for (; drawn < instructions_.size() && !full(); ++drawn)
            draw(instructions_[drawn], track);
        left_out_ += instructions_.size() - drawn;
        // After the slices: an arrow attaches to the innermost slice that begins at its time.
        for (size_t n = 0; n < drawn; ++n)
            if (const IssueEvent &e = instructions_[n]; e.bytes)
                events_.arrow(*number_ * arrows_per_launch + arrows_++, track, base_ + e.issue,
                              base_ + std::min(e.done, end - 1),
                              fmt::format("\"{}\"", level_name(e.level)));
    }

    void draw(const IssueEvent &e, Track track) {
        const Text &text = text_of(e.index);
        std::string args = text.args;
        auto add = std::back_inserter(args);
        fmt::format_to(add, ",\"issue\":{},\"done\":{}", e.issue, e.done);
        if (e.lost)
            fmt::format_to(add, ",\"stall\":\"{}\",\"stalled\":{}", name(e.why), e.lost);
        if (e.bytes)
            fmt::format_to(add, ",\"answered_by\":\"{}\",\"bytes\":{}", level_name(e.level),
                           e.bytes);
        events_.slice(track, base_ + e.issue - e.lost, e.lost + 1, "instruction", text.name, args);
        if (e.lost)
            events_.slice(track, base_ + e.issue - e.lost, e.lost, "stall",
                          fmt::format("\"{}\"", name(e.why)), "");
    }

    void draw_launch(const Result &r) {
        const u64 process = launches_process(device_);
        const Track track = track_of(process, 1);
        if (file_.devices_[device_].named.insert(process).second) {
            events_.name_process(process, fmt::format("{} {} (sim)", part_.name, part_.gfx));
            events_.name_thread(track, "launches");
        }
        const auto dim = [](const Dim3 &d) { return fmt::format("[{},{},{}]", d.x, d.y, d.z); };
        events_.slice(
            track, base_, r.cycles, "launch", kernel_,
            fmt::format("\"launch\":{},\"label\":\"sim\",\"grid\":{},\"block\":{},\"cycles\":{},"
                        "\"time_us\":{:.3f},\"limiter\":\"{}\",\"occupancy\":{:.2f},"
                        "\"workgroups\":{},\"workgroups_timed\":{},\"sampling_error\":{:.4f}",
                        *number_, dim(dispatch_.grid), dim(dispatch_.block), r.cycles, r.time_us,
                        r.limiter, r.occupancy, r.groups, r.groups_timed, r.sampling_error));
        if (r.groups > r.groups_timed)
            events_.slice(track, base_ + last_end_, r.cycles - last_end_, "launch",
                          "\"extrapolated\"",
                          fmt::format("\"workgroups\":{}", r.groups - r.groups_timed));
        file_.devices_[device_].named.merge(named_);
    }

    void draw_counters() {
        const f64 gb_per_s = part_.shader_mhz / 1000.0; // of a byte per cycle
        draw(resident_, "waves resident", 1);
        draw(in_flight_, "bytes in flight", 1);
        draw(dram_, "DRAM GB/s, by arrival", gb_per_s);
    }

    void draw(const Series &series, std::string_view what, f64 unit) {
        const u64 process = launches_process(device_);
        const std::string quoted = json_string(what);
        for (size_t n = 0; n < series.size(); ++n)
            events_.counter(process, base_ + n * series.step(), quoted, series.at(n) * unit);
        events_.counter(process, base_ + series.size() * series.step(), quoted, 0);
    }

    TraceFile &file_;
    const Dispatch dispatch_;
    const Part &part_;
    const u32 device_;
    const Listing listing_;
    const std::string kernel_; // JSON

    std::optional<u64> number_; // of the launch, once it is being timed
    bool finished_ = false;
    u64 base_ = 0, budget_ = 0, left_out_ = 0, arrows_ = 0, last_end_ = 0;
    std::set<u64> named_; // processes and threads already named
    TraceEvents events_;
    std::vector<Text> texts_;                                  // by instruction index
    std::vector<IssueEvent> instructions_;                     // of the ending wave
    std::vector<std::vector<u64>> slots_;                      // of each SIMD: busy until
    std::map<std::pair<u64, u32>, std::pair<u64, u32>> waves_; // running waves: start and slot
    Series resident_, in_flight_, dram_;
};

TraceFile::TraceFile(const std::string &path, Complain complain, TraceLimits limits)
    : file_(path, complain), complain_(std::move(complain)), limits_(limits) {
    file_.append("{\"traceEvents\":[\n");
    add({});
}

std::unique_ptr<Watcher> TraceFile::watch(const Dispatch &d, const Part &part, u32 device) {
    return std::make_unique<Launch>(*this, d, part, device);
}

// A stream has a second lane where its commands overlap: nodes of a graph, any-order launches.
// They come in the order of their ends.
void TraceFile::ended(const Command &command, std::string_view name, const Part &part, u32 device) {
    const auto cycles = [&](f64 us) { return static_cast<u64>(us * part.shader_mhz); };
    const u64 begin = cycles(command.begin), end = cycles(command.end);
    const std::lock_guard lock(mutex_);
    if (events_ >= limits_.of_file)
        return;
    TraceEvents events;
    DeviceTracks &tracks = devices_[device];
    const u64 process = streams_process(device);
    if (tracks.named.insert(process).second)
        events.name_process(process, fmt::format("{} {} (sim) streams", part.name, part.gfx));
    auto &lanes = tracks.lanes[command.stream];
    auto lane = std::ranges::find_if(lanes, [&](const Lane &l) { return l.until <= begin; });
    if (lane == lanes.end()) {
        lane = lanes.insert(lane, {track_of(process, ++tracks.lanes_drawn), 0});
        events.name_thread(lane->track, fmt::format("stream {}", command.stream));
    }
    lane->until = end;
    events.slice(lane->track, begin, end - begin, "command", json_string(name),
                 fmt::format("\"start_us\":{:.3f},\"end_us\":{:.3f}", command.begin, command.end));
    add(events);
}

void TraceFile::add(const TraceEvents &events) {
    if (events_ && events.count())
        file_.append(",\n");
    file_.append(events.text());
    events_ += events.count();
    file_.close_with(fmt::format("\n],\"displayTimeUnit\":\"ns\",\"otherData\":{{\"label\":\"sim\","
                                 "\"time_unit\":\"1 ns is 1 cycle of the shader clock\","
                                 "\"launches\":{},\"instructions_left_out\":{}}}}}\n",
                                 launches_, left_out_));
}

void TraceFile::left_out(u64 instructions, u64 launch, std::string_view kernel) {
    if (left_out_ == 0)
        complain_(fmt::format(
            "{}: launch {} ({}): {} instructions are left out: the limit is {} events of a launch "
            "and {} in all. Launch fewer workgroups, or use HIPSIM_ISSUE_LOG, which has no limit",
            file_.path(), launch, kernel, instructions, limits_.of_launch, limits_.of_file));
    left_out_ += instructions;
}

} // namespace nw::sim::timing
