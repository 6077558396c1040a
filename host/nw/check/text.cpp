// SPDX-License-Identifier: MIT
// Findings as text, in the form of compute-sanitizer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nw/check/check.h"

namespace nw::cli {

namespace {

constexpr std::string_view margin = "=========     ";

std::string coordinates(const std::vector<u32> &d) {
    return fmt::format("({})", fmt::join(d, ","));
}

// "at f(float*) + 0x40 in f.hip:12", then the functions that it was inlined into.
std::string place_text(const CheckPlace &p, std::string_view before) {
    std::string out = fmt::format("{}{} {}", margin, before, p.place);
    if (!p.frames.empty())
        out += fmt::format(" in {}", p.source());
    out += "\n";
    for (size_t n = 0; n + 1 < p.frames.size(); ++n)
        out += fmt::format("{}  {}, inlined into {} in {}:{}\n", margin, p.frames[n].function,
                           p.frames[n + 1].function, p.frames[n + 1].file, p.frames[n + 1].line);
    if (!p.instruction.empty())
        out += fmt::format("{}  {}\n", margin, p.instruction);
    return out;
}

std::string thread_text(const CheckFinding &f) {
    const std::string block = coordinates(f.at.workgroup);
    if (f.thread.empty())
        return fmt::format("{}by wave {} in block {}\n", margin, f.at.wave, block);
    return fmt::format("{}by thread {} in block {}, lane {} of wave {}\n", margin,
                       coordinates(f.thread), block, f.lane, f.at.wave);
}

// The checker's name is in the title already.
std::string message_text(const CheckFinding &f) {
    const size_t colon = f.message.find(": ");
    std::string text = colon == f.message.npos ? f.message : f.message.substr(colon + 2);
    for (size_t at = 0; (at = text.find('\n', at)) != text.npos; at += margin.size() + 1)
        text.insert(at + 1, margin);
    return text;
}

std::string host_text(const std::string &what, const HostFrames &frames) {
    std::string out = frames.empty() ? "" : fmt::format("{}{}:\n", margin, what);
    for (const SourceFrame &f : frames)
        out += f.line ? fmt::format("{}  {} in {}:{}\n", margin, f.function, f.file, f.line)
                      : fmt::format("{}  {} in {}\n", margin, f.function, f.file);
    return out;
}

std::string leak_text(const CheckFinding &f) {
    std::string out = fmt::format("========= {} [{}]\n", f.title, rule_id(f));
    out += host_text(fmt::format("{} was called by", f.maker), f.made);
    return out + fmt::format("{}{} in process {} ({})\n=========\n", margin,
                             f.count == 1 ? "once" : fmt::format("{} times", f.count), f.process,
                             f.program);
}

} // namespace

std::string check_text(const CheckFinding &f) {
    if (f.check == "leak")
        return leak_text(f);
    std::string out = fmt::format("========= {} [{}]\n", f.title, rule_id(f));
    if (!f.at.place.empty())
        out += place_text(f.at, "at");
    if (!f.at.workgroup.empty())
        out += thread_text(f);
    out += fmt::format("{}{}\n", margin, message_text(f));
    if (f.other)
        out += place_text(*f.other, fmt::format("the other access: wave {} in block {}, at",
                                                f.other->wave, coordinates(f.other->workgroup)));
    if (f.at.frames.empty() && !f.listing.empty())
        for (size_t at = 0, end; (end = f.listing.find('\n', at)) != f.listing.npos; at = end + 1)
            out += fmt::format("{}{}\n", margin, f.listing.substr(at, end - at));
    out += host_text("launched by", f.launched);
    out +=
        host_text(fmt::format("{} was called after {} launches by", f.maker, f.made_after), f.made);
    out += fmt::format("{}{} in {} of {}, first in launch {} of process {} ({})", margin,
                       f.ended        ? fmt::format("at least {} times", f.count)
                       : f.count == 1 ? "once"
                                      : fmt::format("{} times", f.count),
                       f.launches == 1 ? "a launch" : fmt::format("{} launches", f.launches),
                       f.kernel, f.first_launch, f.process, f.program);
    if (!f.grid.empty())
        out += fmt::format(": grid {}, block {}, {}", coordinates(f.grid), coordinates(f.block),
                           f.gfx);
    return out + "\n=========\n";
}

} // namespace nw::cli
