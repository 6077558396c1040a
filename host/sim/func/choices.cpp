// SPDX-License-Identifier: MIT
#include "sim/func/choices.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <vector>

#include "base/error.h"

namespace nw::sim {

namespace {

struct Question {
    std::string_view name, note, question;
    std::string_view values; // "first, second"
    void (*set)(Choices &, u8);
};

constexpr Question questions[] = {
#define CHOICE(name, note, question, ...)                                                          \
    {#name, note, question, #__VA_ARGS__,                                                          \
     [](Choices &c, u8 v) { c.name = static_cast<choice::name>(v); }},
#include "sim/func/choices.inc"
#undef CHOICE
};

// Removes from `list` the text up to `separator` and returns it.
std::string_view take(std::string_view &list, std::string_view separator) {
    size_t end = std::min(list.find(separator), list.size());
    std::string_view part = list.substr(0, end);
    list.remove_prefix(std::min(end + separator.size(), list.size()));
    return part;
}

void apply(std::string_view setting, Choices &c) {
    std::string_view value = setting, name = take(value, "=");
    for (const Question &q : questions) {
        if (q.name != name)
            continue;
        std::string_view values = q.values;
        for (u8 n = 0; !values.empty(); ++n)
            if (take(values, ", ") == value)
                return q.set(c, n);
        throw Error(fmt::format("{}: '{}' is not one of {}; the choices are\n{}", setting, value,
                                q.values, all_choices()));
    }
    throw Error(fmt::format("{}: unknown choice; the choices are\n{}", setting, all_choices()));
}

Choices from_environment() {
    const char *list = std::getenv("HIPSIM_CHOICES");
    try {
        return parse_choices(list ? list : "");
    } catch (const Error &error) {
        throw Error(fmt::format("HIPSIM_CHOICES={}: {}", list, error.what()));
    }
}

Choices &current() {
    static Choices c = from_environment();
    return c;
}

// Read by executing instructions: avoids __tls_get_addr.
[[gnu::tls_model("initial-exec")]] thread_local const Choices *in_use = nullptr;

} // namespace

Choices parse_choices(std::string_view list) {
    Choices c;
    while (!list.empty())
        if (std::string_view setting = take(list, ","); !setting.empty())
            apply(setting, c);
    return c;
}

std::string all_choices() {
    std::string text;
    for (const Question &q : questions)
        text += fmt::format("  {}={}  ({}: {})\n", q.name, q.values, q.note, q.question);
    return text;
}

const Choices &choices() { return in_use ? *in_use : current(); }

u32 choices_id() {
    static std::mutex &mutex = *new std::mutex;
    static auto &seen = *new std::vector<Choices>;
    const std::lock_guard lock(mutex);
    const auto at = std::find(seen.begin(), seen.end(), choices());
    const auto id = static_cast<u32>(at - seen.begin());
    if (at == seen.end())
        seen.push_back(choices());
    return id;
}

UseChoices::UseChoices(const Choices *use) : before_(in_use) { in_use = use; }
UseChoices::~UseChoices() { in_use = before_; }

ChoicesScope::ChoicesScope(std::string_view list) : saved_(current()) {
    current() = parse_choices(list);
}
ChoicesScope::~ChoicesScope() { current() = saved_; }

} // namespace nw::sim
