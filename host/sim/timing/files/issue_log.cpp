// SPDX-License-Identifier: MIT
#include "sim/timing/files/issue_log.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sim/timing/files/listing.h"

namespace nw::sim::timing {

namespace {

constexpr size_t rows_held = 1 << 18;
constexpr size_t text_held = 1 << 20;

struct Row {
    u64 issue;
    u32 latency, group, index;
    u16 wave, simd;
    Stall why;

    auto order() const { return std::tuple(issue, group, wave); }
};

} // namespace

class IssueLog::Launch : public Watcher {
public:
    Launch(IssueLog &log, const Dispatch &d) : log_(log) {
        const Listing listing(d);
        for (u32 n = 0; n < listing.size(); ++n) {
            pcs_.push_back(listing.pc_text(n));
            mnemonics_.push_back(listing.mnemonic(n));
        }
    }
    ~Launch() override { write(rows_.size()); } // also after a fault

    void wave_started(u64 group, u32 wave, u32, u64 at) override {
        if (!number_) {
            const std::lock_guard lock(log_.mutex_);
            number_ = log_.launches_++;
        }
        starts_.insert(at);
        running_[{group, wave}] = at;
        if (wave == 0)
            latest_group_ = at;
    }

    void issued(const IssueEvent &e) override {
        rows_.push_back({e.issue, static_cast<u32>(e.done - e.issue), static_cast<u32>(e.group),
                         e.index, static_cast<u16>(e.wave), static_cast<u16>(e.simd), e.why});
    }

    void wave_ended(u64 group, u32 wave, u32, u64) override {
        const auto running = running_.find({group, wave});
        starts_.erase(starts_.find(running->second));
        running_.erase(running);
        if (rows_.size() < hold_)
            return;
        // Rows before this cycle are final: running waves issue nothing earlier, and new workgroups
        // start in order.
        const u64 final =
            starts_.empty() ? latest_group_ : std::min(latest_group_, *starts_.begin());
        const auto end = std::partition(rows_.begin(), rows_.end(),
                                        [&](const Row &row) { return row.issue < final; });
        write(static_cast<size_t>(end - rows_.begin()));
        hold_ = std::max(rows_held, rows_.size() * 2);
    }

    void answered(u64, u64, u32, Level) override {}

private:
    // The first `count` rows.
    void write(size_t count) {
        if (count == 0)
            return;
        const auto end = rows_.begin() + static_cast<long>(count);
        std::sort(rows_.begin(), end,
                  [](const Row &a, const Row &b) { return a.order() < b.order(); });
        const std::lock_guard lock(log_.mutex_);
        fmt::memory_buffer text;
        for (auto row = rows_.begin(); row != end; ++row) {
            append(text, *row);
            if (text.size() > text_held) {
                log_.file_.append({text.data(), text.size()});
                text.clear();
            }
        }
        log_.file_.append({text.data(), text.size()});
        rows_.erase(rows_.begin(), end);
    }

    void append(fmt::memory_buffer &text, const Row &row) const {
        const auto number = [&](u64 value) {
            const fmt::format_int digits(value);
            text.append(digits.data(), digits.data() + digits.size());
            text.push_back(',');
        };
        const auto word = [&](std::string_view s, char end) {
            text.append(s);
            text.push_back(end);
        };
        number(*number_);
        number(row.group);
        number(row.wave);
        number(row.simd);
        word(pcs_[row.index], ',');
        number(row.issue);
        number(row.issue + row.latency);
        word(name(row.why), ',');
        word(mnemonics_[row.index], '\n');
    }

    IssueLog &log_;
    std::optional<u64> number_;
    std::vector<std::string> pcs_, mnemonics_; // by instruction index
    std::vector<Row> rows_;
    size_t hold_ = rows_held;
    std::map<std::pair<u64, u32>, u64> running_; // waves, by when they started
    std::multiset<u64> starts_;
    u64 latest_group_ = 0; // when its first wave started
};

IssueLog::IssueLog(const std::string &path, Complain complain) : file_(path, std::move(complain)) {
    file_.append("dispatch,workgroup,wave,simd,pc,issue_cycle,done_cycle,stall_reason,mnemonic\n");
}

std::unique_ptr<Watcher> IssueLog::watch(const Dispatch &d) {
    return std::make_unique<Launch>(*this, d);
}

} // namespace nw::sim::timing
