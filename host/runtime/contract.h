// SPDX-License-Identifier: MIT
// The contracts of kernel families, made by gen from asm/<family>/family.toml (gen/emit_cpp.py).
#pragma once
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "runtime/kernel.h"
#include "runtime/op.h"

namespace nw {

// A broken rule. what(): "carrier_w4a16: n = 0: must be 1..2^26; make more rows in parts".
class Refusal : public Error {
public:
    Refusal(const std::string &text, u32 rule) : Error(text), rule(rule) {}
    u32 rule; // its place among the family's rules
};

// text: {} stands for a number, {x} for one in hexadecimal, {w} for a word.
[[noreturn]] void refuse(std::string_view family, u32 rule, std::string_view text,
                         std::initializer_list<u64> values);

// What is chosen by: the least, the first number counting most.
struct Cost {
    std::array<u64, 4> of{};
    Cost(std::initializer_list<u64> values) {
        u64 at = 0;
        for (u64 value : values)
            of[at++] = value;
    }
    auto operator<=>(const Cost &) const = default;
};

struct ParameterName {
    std::string_view name;
    u32 Parameters::*at;
    bool text;
};

// A parameter of a kernel that equals a value of the op.
struct Match {
    std::string_view name; // the op's
    u64 Op::*op;
    u32 Parameters::*parameter;
};

// Whose tuned shapes a kind of product goes by that has none: those with other values. As many
// as the family has matches; automatic: its own.
struct Borrow {
    std::array<u64, 4> values;
};

// A pointer argument, and how many bytes an op has of it: 0 where it has to be null.
struct Operand {
    u64 Op::*argument;
    u64 (*bytes)(const Op &, const Kernel &, const Machine &);
    bool optional; // may be null
};

// A result of an earlier launch, which is an argument of this one: memory for so many bytes, or a
// number where there is no `bytes`.
struct Gives {
    u64 Op::*result;
    u64 Op::*argument;
    u64 (*bytes)(const Op &, const Kernel &, const Machine &);
};

// A launch that makes arguments for this one.
struct Before {
    std::string_view family;
    Op (*op)(const Op &, const Kernel &, const Machine &);
    std::span<const Gives> gives;
};

// Memory that only the launch itself uses. No bytes: the op's counters, which are 0 and become 0.
struct Scratch {
    u64 Op::*argument;
    u64 (*bytes)(const Op &, const Kernel &, const Machine &);
};

// A pointer whose first dimension are rows of activations, and bytes from one to the next.
struct RowPointer {
    u64 Op::*pointer;
    u64 (*stride)(const Op &);
};

using Number = u64 (*)(const Op &, const Kernel &, const Machine &);
using Condition = bool (*)(const Op &, const Kernel &, const Machine &);

struct Family {
    std::string_view name, tuning; // tuning: the name of its table of tuned shapes
    OpKind op;
    std::span<const KernelArg> arguments;
    u32 kernarg_bytes;

    // Throw Refusal. Sizes alone; then pointers, strides and what depends on the kernel.
    void (*check_shape)(const Op &);
    void (*check_operands)(const Op &, const Kernel &);
    // Chooses what a caller left to the contract. Checks nothing.
    void (*settle)(Op &, const Kernel &, const Machine &);
    // Fills in arguments that follow from others, checks those that a caller chose.
    void (*derive)(Op &, const Kernel &, const Machine &);
    void (*pack)(const Op &, std::byte *); // the kernarg segment, of an op that is derived
    Number grid;
    u32 (*dynamic_lds)(const Op &, const Kernel &, const Machine &);

    bool (*region)(const Op &);  // whether such ops are this family's, whatever kernels there are
    Condition takes;             // whether the kernel does it
    std::string_view takes_text; // the same as the contract has it
    Condition takes_rest;        // or what is left of it by slices
    Condition worth;             // whether it may be the fastest: what tuning times
    Cost (*cost)(const Op &, const Kernel &, const Machine &);
    Number slice_rows, slice_step; // at a time; steps by which its workspace grows
    std::span<const Match> match;
    std::span<const u32 Parameters::*const> alike; // of kernels that stand for each other
    std::span<const Borrow> borrow;
    std::span<const Operand> operands;
    std::span<const Before> before;
    std::span<const Scratch> scratch;
    std::span<const ParameterName> parameters;
};

// An op that takes several launches.
struct OpContract {
    OpKind op;
    std::string_view name;
    void (*check_shape)(const Op &);
    void (*check_operands)(const Op &);
    std::span<const Operand> operands;
    std::span<const RowPointer> rows;
    u64 counters, piece; // bytes at the start of the workspace; what its parts are a multiple of
};

std::span<const Family> families();
// Null where there is none.
const Family *find_family(std::string_view name);
const OpContract *contract_of(OpKind);

} // namespace nw
