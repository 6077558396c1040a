// SPDX-License-Identifier: MIT
// Named choices between behaviours where the hardware is undocumented (choices.inc), so that a
// kernel can be run under each.
#pragma once
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw::sim {

namespace choice {
#define CHOICE(name, note, question, ...) enum class name : u8 { __VA_ARGS__ };
#include "sim/func/choices.inc"
#undef CHOICE
} // namespace choice

struct Choices {
#define CHOICE(name, note, question, ...) choice::name name{};
#include "sim/func/choices.inc"
#undef CHOICE
    bool operator==(const Choices &) const = default;
};

// `name=value,...` over the defaults. Throws nw::Error, with all_choices(), at an unknown name or
// value.
Choices parse_choices(std::string_view list);

// A line for each: name, values (the default first), note, question.
std::string all_choices();

// Choices of the launch that this thread runs. Without any in RunConfig: HIPSIM_CHOICES, read at
// first use. Throws nw::Error for an invalid list.
const Choices &choices();
u32 choices_id(); // equal choices have equal ids within a process

// Sets this thread's choices for the lifetime of the object; null: those of the process.
class UseChoices {
public:
    explicit UseChoices(const Choices *);
    ~UseChoices();
    UseChoices(const UseChoices &) = delete;
    UseChoices &operator=(const UseChoices &) = delete;

private:
    const Choices *before_;
};

// Overrides the process's choices for its lifetime. For tests: no wave may be running.
class ChoicesScope {
public:
    explicit ChoicesScope(std::string_view list);
    ~ChoicesScope();
    ChoicesScope(const ChoicesScope &) = delete;
    ChoicesScope &operator=(const ChoicesScope &) = delete;

private:
    Choices saved_;
};

} // namespace nw::sim
