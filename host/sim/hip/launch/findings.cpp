// SPDX-License-Identifier: MIT
#include "sim/hip/launch/findings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/demangle.h"
#include "base/error.h"
#include "sim/hip/error.h"
#include "sim/hip/launch/line_file.h"
#include "sim/hip/launch/report_file.h"

namespace nw::hipsim {

using Json = nlohmann::ordered_json;

namespace {

// Bounds the time of a launch that does something wrong in a loop.
constexpr u64 most_of_a_launch = 20'000;
constexpr int exit_stopped = 97;

std::string program_path() {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? std::string(path, static_cast<size_t>(length)) : "";
}

int create(const std::string &path, int flags) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
}

} // namespace

void LaunchFindings::add(const sim::Fault &fault) {
    const std::lock_guard lock(mutex_);
    ++taken_;
    if (fault.kind != sim::Fault::Kind::checker && !failure_)
        failure_ = fault.kind;
    if (!fault.report) {
        plain_ = fault.what();
        return;
    }
    const sim::Report &r = *fault.report;
    Kind &kind = kinds_[{r.check, r.rule, r.inst, r.other ? r.other->pc : 0}];
    if (++kind.count == 1 || r.group < kind.first->group) {
        kind.first = fault.report;
        kind.sequence = taken_;
    }
}

bool LaunchFindings::take(const sim::Fault &fault) {
    {
        const std::lock_guard lock(mutex_);
        if (taken_ >= most_of_a_launch)
            return false;
    }
    add(fault);
    return true;
}

void Findings::open(const std::string &folder) {
    if (folder.empty())
        return;
    folder_ = folder;
    for (unsigned n = 0; lines_ < 0; ++n) { // exec keeps a process's number
        stem_ = fmt::format("{}/{}.{}", folder, getpid(), n);
        lines_ = create(stem_ + ".findings", O_EXCL | O_APPEND);
        if (lines_ < 0 && errno != EEXIST)
            throw Error(fmt::format("HIPSIM_FINDINGS={}: {}; name a writable directory", folder,
                                    std::strerror(errno)));
    }
    counts_ = create(stem_ + ".launches", O_TRUNC);
    read_settings();
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    write(Json{{"process", getpid()}, {"program", program_path()}, {"started", now}});
}

// Written by nw check, which has validated them.
void Findings::read_settings() {
    std::ifstream in(folder_ + "/settings.json");
    if (!in)
        return;
    try {
        const Json settings = Json::parse(in);
        if (const auto at = settings.find("kernels"); at != settings.end())
            kernels_.emplace(at->get<std::string>(), std::regex::ECMAScript);
        first_ = settings.value("first_launch", first_);
        last_ = settings.value("last_launch", last_);
        stop_at_first_ = settings.value("stop_at_first", false);
        leaks_ = settings.value("leaks", false);
    } catch (const std::exception &error) {
        throw Error(fmt::format("HIPSIM_FINDINGS={}: settings.json: {}", folder_, error.what()));
    }
}

std::unique_ptr<LaunchFindings> Findings::begin(const std::string &kernel,
                                                std::shared_ptr<const HostTrace> host) {
    const std::lock_guard lock(mutex_);
    const u64 number = ++launches_;
    const bool checked = number >= first_ && number <= last_ &&
                         (!kernels_ || std::regex_search(kernel, *kernels_) ||
                          std::regex_search(demangled(kernel), *kernels_));
    checked_ += checked;
    write_launches();
    return checked ? std::make_unique<LaunchFindings>(number, std::move(host)) : nullptr;
}

// In place, so that the numbers outlive a crash.
void Findings::write_launches() {
    const std::string text = fmt::format("{:20} {:20}\n", launches_, checked_);
    if (pwrite(counts_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
        say(fmt::format("HIPSIM_FINDINGS: can't count launches: {}", std::strerror(errno)));
}

void Findings::end(LaunchFindings &launch, const sim::Dispatch &dispatch) {
    std::vector<const LaunchFindings::Kind *> kinds;
    for (const auto &[key, kind] : launch.kinds_)
        kinds.push_back(&kind);
    std::ranges::sort(kinds, {}, [](const LaunchFindings::Kind *kind) {
        return std::pair(kind->first->group, kind->sequence);
    });
    const std::lock_guard lock(mutex_);
    for (const LaunchFindings::Kind *kind : kinds)
        write(launch, dispatch, *kind);
    if (!launch.plain_.empty())
        write(Json{{"count", 1},
                   {"launch", launch.number},
                   {"check", "fault"},
                   {"rule", sim::rule_of(*launch.failure_)},
                   {"kernel", dispatch.kernel->name},
                   {"message", launch.plain_}});
    if (stop_at_first_ && launch.taken_) {
        say("stopped at the first finding");
        std::fflush(nullptr);
        std::_Exit(exit_stopped);
    }
}

void Findings::end(LaunchFindings &launch, const sim::Dispatch &dispatch, const sim::Fault &fault) {
    launch.add(fault);
    end(launch, dispatch);
}

void Findings::write(const LaunchFindings &launch, const sim::Dispatch &dispatch,
                     const LaunchFindings::Kind &kind) {
    const sim::Report &r = *kind.first;
    const sim::Program &program = *dispatch.program;
    const std::string key = fmt::format("{} {} {} {} {}", r.check, r.rule, r.site.kernel,
                                        r.site.place, r.other ? r.other->place : "");
    const auto [at, fresh] = known_.try_emplace(key, known_.size());
    Json line = {{"kind", at->second}, {"count", kind.count}, {"launch", launch.number}};
    if (launch.taken_ > most_of_a_launch)
        line["ended"] = true;
    if (!fresh)
        return write(line);
    const u64 image = reinterpret_cast<u64>(program.image().data());
    line.update(json_of(r));
    line["gfx"] = program.gfx();
    line["grid"] = {dispatch.grid.x, dispatch.grid.y, dispatch.grid.z};
    line["block"] = {dispatch.block.x, dispatch.block.y, dispatch.block.z};
    line["code"] = save_code(program);
    line["linked_pc"] = r.site.pc - image;
    if (r.other)
        line["other"]["linked_pc"] = r.other->pc - image;
    if (launch.host)
        line["host"] = json_of(*launch.host);
    line["made"] = made_json(r.maker);
    write(line);
}

void Findings::made(const std::string &maker) {
    constexpr size_t most = 1 << 17; // of a program that allocates for ever, the latest are lost
    HostTrace host = host_trace();
    const std::lock_guard lock(mutex_);
    if (made_.size() < most)
        made_[maker] = {launches_, std::move(host)};
}

Json Findings::made_json(const std::string &maker) const {
    const auto at = made_.find(maker);
    if (at == made_.end())
        return {};
    return {{"by", maker}, {"launches", at->second.launches}, {"host", json_of(at->second.host)}};
}

void Findings::leaked(const std::string &what, u64 bytes, const std::string &maker) {
    const std::lock_guard lock(mutex_);
    write(Json{{"kind", known_.size() + ++leaked_},
               {"count", 1},
               {"check", "leak"},
               {"rule", what},
               {"bytes", bytes},
               {"maker", maker},
               {"made", made_json(maker)}});
}

void Findings::write(const Json &line) {
    const std::string text = text_of(line) + "\n";
    if (::write(lines_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        say(fmt::format("HIPSIM_FINDINGS: can't write a line: {}", std::strerror(errno)));
}

// Code objects with debug information are kept for nw check, which looks up lines in them.
std::string Findings::save_code(const sim::Program &program) {
    const auto file = program.debug_file();
    if (file.empty())
        return "";
    const std::string_view text(reinterpret_cast<const char *>(file.data()), file.size());
    std::string &name = saved_[std::hash<std::string_view>()(text)];
    if (name.empty()) {
        name = fmt::format("{}.{}.code", stem_, saved_.size());
        std::ofstream(name, std::ios::binary) << text;
    }
    return name;
}

void mark_process(const char *what) noexcept {
    const char *const folder = std::getenv("HIPSIM_FINDINGS");
    if (!folder || !*folder)
        return;
    try {
        const int file = create(fmt::format("{}/{}.{}", folder, getpid(), what), O_TRUNC);
        const std::string text = program_path();
        if (file >= 0 && ::write(file, text.data(), text.size()) >= 0)
            close(file);
    } catch (...) { // the findings say so when they are opened
    }
}

__attribute__((constructor)) static void at_load() { mark_process("loaded"); }

} // namespace nw::hipsim
