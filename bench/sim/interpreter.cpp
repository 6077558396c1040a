// SPDX-License-Identifier: MIT
#include "bench/sim/interpreter.h"

#include <array>
#include <vector>

namespace nw::bench {

namespace {

enum class Code : u8 { add, sub, mul, xor_, and_, or_, shift_left, shift_right, branch, end };

struct Instruction {
    Code code;
    u8 d, a, b;
};

// r0 counts down by r1; the rest is arithmetic that depends on itself.
const std::vector<Instruction> program = {
    {Code::add, 2, 2, 3},         {Code::xor_, 4, 2, 5}, {Code::shift_left, 5, 4, 6},
    {Code::mul, 7, 5, 2},         {Code::or_, 8, 7, 4},  {Code::and_, 3, 8, 9},
    {Code::shift_right, 9, 7, 6}, {Code::sub, 0, 0, 1},  {Code::branch, 0, 0, 0},
    {Code::end, 0, 0, 0},
};

} // namespace

u64 interpret(u32 loops) {
    std::array<u32, 16> r = {loops, 1, 3, 5, 7, 11, 13, 17, 19, 23};
    u64 executed = 0;
    for (const Instruction *i = program.data();; ++i) {
        ++executed;
        const u32 a = r[i->a], b = r[i->b];
        switch (i->code) {
        case Code::add:
            r[i->d] = a + b;
            break;
        case Code::sub:
            r[i->d] = a - b;
            break;
        case Code::mul:
            r[i->d] = a * b;
            break;
        case Code::xor_:
            r[i->d] = a ^ b;
            break;
        case Code::and_:
            r[i->d] = a & b;
            break;
        case Code::or_:
            r[i->d] = a | b;
            break;
        case Code::shift_left:
            r[i->d] = a << (b & 31);
            break;
        case Code::shift_right:
            r[i->d] = a >> (b & 31);
            break;
        case Code::branch:
            if (a)
                i = program.data() - 1;
            break;
        case Code::end:
            return executed;
        }
    }
}

} // namespace nw::bench
