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

// text: {} stands for a number, {x} for one in hexadecimal, {f} for the f32 of its bits, {w} for a
// word.
[[noreturn]] void refuse(std::string_view family, u32 rule, std::string_view text,
                         std::initializer_list<u64> values);

// Lexicographic cost; the smallest wins.
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

// A kernel parameter that must equal a value of the op.
struct Match {
    std::string_view name; // the op's
    u64 Op::*op;
    u32 Parameters::*parameter;
};

// Match values whose tuned shapes serve a kind of op without any of its own. One for each match of
// the family; automatic: the kind's own value.
struct Borrow {
    std::array<u64, 4> values;
};

// A pointer argument, and how many bytes an op has of it: 0 where it has to be null.
struct Operand {
    u64 Op::*argument;
    u64 (*bytes)(const Op &, const Kernel &, const Machine &);
    bool optional; // may be null
};

// A result of an earlier launch that is an argument of this one: memory of bytes(), or a number if
// `bytes` is null.
struct Gives {
    u64 Op::*result;
    u64 Op::*argument;
    u64 (*bytes)(const Op &, const Kernel &, const Machine &);
};

// A launch whose results are arguments of this one; `when` null: always.
struct Before {
    std::string_view family;
    bool (*when)(const Op &, const Kernel &, const Machine &);
    Op (*op)(const Op &, const Kernel &, const Machine &);
    std::span<const Gives> gives;
};

// Scratch memory of one launch. bytes null: the op's counters, 0 before and after.
struct Scratch {
    u64 Op::*argument;
    u64 (*bytes)(const Op &, const Kernel &, const Machine &);
};

// A pointer whose first dimension is rows of activations, and its row stride in bytes.
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

    // Throw Refusal: sizes only; then pointers, strides and kernel-dependent rules.
    void (*check_shape)(const Op &);
    void (*check_operands)(const Op &, const Kernel &);
    // Sets arguments that the caller left automatic. Checks nothing.
    void (*settle)(Op &, const Kernel &, const Machine &);
    // Computes derived arguments; checks those that the caller chose. Throws Refusal.
    void (*derive)(Op &, const Kernel &, const Machine &);
    // Strides that are 0 become the least that the contract takes.
    void (*contiguous)(Op &);
    void (*pack)(const Op &, std::byte *); // the kernarg segment, of an op that is derived
    Number grid;
    u32 (*dynamic_lds)(const Op &, const Kernel &, const Machine &);

    bool (*region)(const Op &);  // true if the family serves such ops, whatever the build has
    Condition takes;             // true if the kernel supports the op
    std::string_view takes_text; // its source in the contract
    Condition takes_rest;        // true if it supports the op as a last slice
    Condition worth;             // true if it may be the fastest: `nw tune` times it
    Cost (*cost)(const Op &, const Kernel &, const Machine &);
    Number slice_rows, slice_step; // rows per launch; granularity of its workspace
    std::span<const Match> match;
    std::span<const u32 Parameters::*const> alike; // equal in interchangeable kernels
    std::span<const Borrow> borrow;
    std::span<const Operand> operands;
    std::span<const Before> before;
    std::span<const Scratch> scratch;
    std::span<const ParameterName> parameters;
};

// Rows of an operand with gaps between them: where `when`, they are copied next to each other into
// the workspace first. `row` and `stride` in bytes.
struct Copied {
    u64 Op::*argument;
    bool (*when)(const Op &);
    u64 (*rows)(const Op &), (*row)(const Op &), (*stride)(const Op &);
};

// A launch that precedes the op `of`, where that one serves another op. then(op): sets what that op
// op has beside its results.
struct OpBefore {
    OpKind of;
    Before before;
    void (*then)(Op &);
};

// An op that takes several launches.
struct OpContract {
    OpKind op;
    std::string_view name;
    void (*check_shape)(const Op &);
    void (*check_operands)(const Op &);
    void (*contiguous)(Op &); // as Family's
    std::span<const Operand> operands;
    std::span<const RowPointer> rows;
    std::span<const Copied> copied;
    std::span<const OpBefore> before;
    std::span<const OpKind> served_by; // ops, of which the first that has kernels is taken; or none
    u64 counters, piece; // bytes: counters at the start of the workspace; alignment of its parts
};

std::span<const Family> families();
// Null where there is none.
const Family *find_family(std::string_view name);
const OpContract *contract_of(OpKind);

} // namespace nw
