// SPDX-License-Identifier: MIT
// One named choice for each question that public sources leave open (choices.inc), so that a kernel
// can be run under every answer.
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

// What the launch runs by that this thread works for. Where its RunConfig names none:
// HIPSIM_CHOICES when the process first asks. A bad list is told on stderr, and the defaults hold.
const Choices &choices();
u32 choices_id(); // the same for equal ones, in this process

// From a RunConfig, for this thread, as long as this lives; null: those of the process.
class UseChoices {
public:
    explicit UseChoices(const Choices *);
    ~UseChoices();
    UseChoices(const UseChoices &) = delete;
    UseChoices &operator=(const UseChoices &) = delete;

private:
    const Choices *before_;
};

// Other choices of the process for as long as this lives. For tests: no wave may be running.
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
