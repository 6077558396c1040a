// SPDX-License-Identifier: MIT
// Lanes that go different ways: EXEC masks, loops with different counts, early ends.
#include "prelude.h"

KERNEL(if_else, words, 128) {
    ITEM;
    uint result;
    if (a & 1)
        result = b * 3 + c;
    else
        result = c - d * 5;
    if (b > 0x1000)
        result ^= 0xabcdef;
    out[i] = result;
}

KERNEL(nested_ifs, words, 100) {
    ITEM;
    uint result = 0;
    if (a < b) {
        if (c & 2) {
            result = a + 1;
            if (d & 4)
                result *= 7;
            else if (d & 8)
                result -= 9;
        } else {
            result = b;
        }
    } else if (a == b) {
        result = 0x5555;
    } else {
        for (uint k = 0; k < (c & 3); ++k)
            result += d >> k;
    }
    out[i] = result;
}

KERNEL(loop_of_different_lengths, words, 128) {
    ITEM;
    uint sum = 0;
    for (uint k = 0; k < (a & 63); ++k)
        sum = sum * 31 + (b ^ k);
    out[i] = sum;
}

KERNEL(collatz, words, 128) {
    ITEM;
    uint value = (a & 0x3ff) + 1, steps = 0;
    while (value != 1 && steps < 300) {
        value = value & 1 ? 3 * value + 1 : value >> 1;
        ++steps;
    }
    out[i] = steps;
    out[n + i] = value;
}

KERNEL(greatest_common_divisor, words, 128) {
    ITEM;
    uint x = (a & 0xffff) | 1, y = (b & 0xffff) | 1, rounds = 0;
    while (x != y) { // binary: no division
        const uint larger = x > y ? x : y, smaller = x > y ? y : x;
        x = larger - smaller;
        while (!(x & 1))
            x >>= 1;
        y = smaller;
        ++rounds;
    }
    out[i] = x;
    out[n + i] = rounds;
}

KERNEL(break_and_continue, words, 128) {
    ITEM;
    uint sum = 0, k;
    for (k = 0; k < 40; ++k) {
        if ((a >> (k & 31) & 1) == 0)
            continue;
        sum += b >> (k & 15);
        if (sum > 0x40000000)
            break;
        if ((c + k) % 11 == 0)
            sum ^= d;
    }
    out[i] = sum;
    out[n + i] = k;
}

KERNEL(early_return, words, 128) {
    ITEM;
    out[i] = 1;
    if (a & 4)
        return;
    out[n + i] = 2;
    if (b < c)
        return;
    out[2 * n + i] = 3;
}

KERNEL(waves_that_end_early, words, 256) {
    ITEM;
    if (local_id() / 64 == (group_id() & 3))
        return;
    out[i] = a ^ b;
}

KERNEL(switch_on_data, words, 128) {
    ITEM;
    uint result = 0;
    switch (a & 7) {
    case 0: result = b + c; break;
    case 1: result = b - c; break;
    case 2: result = b * c; // falls through
    case 3: result += d; break;
    case 4: result = b << 3; break;
    case 6: result = ~c; break;
    default: result = 0xdead;
    }
    out[i] = result;
}

KERNEL(sparse_switch, words, 128) {
    ITEM;
    uint result = 7;
    switch (a) {
    case 0: result = b; break;
    case 1: case 2: case 3: result = c; break;
    case 0xffff: result = d; break;
    case 0x80000000: result = b ^ c; break;
    case 0xffffffff: result = c ^ d; break;
    }
    out[i] = result;
}

KERNEL(state_machine, words, 128) {
    ITEM;
    uint state = a & 3, tape = b, steps = 0;
    while (state != 4 && steps < 64) {
        const uint bit = tape & 1;
        tape = tape >> 1 | tape << 31;
        if (state == 0)
            state = bit ? 1 : 2;
        else if (state == 1)
            state = bit ? 3 : 0, tape ^= c;
        else if (state == 2)
            state = bit ? 0 : 3, tape += d;
        else
            state = bit && steps > 9 ? 4 : 1;
        ++steps;
    }
    out[i] = state << 16 | steps;
    out[n + i] = tape;
}

KERNEL(nested_loops, words, 64) {
    ITEM;
    uint sum = 0;
    for (uint j = 0; j < (a & 7) + 1; ++j)
        for (uint k = j; k < (b & 7) + 2; ++k) {
            sum += j * k + (c >> k);
            if (sum & 0x100)
                for (uint m = 0; m < (d & 3); ++m)
                    sum ^= m << j;
        }
    out[i] = sum;
}

KERNEL(loop_with_two_exits, words, 128) {
    ITEM;
    uint x = a, found = 99;
    for (uint k = 0; k < 32; ++k) {
        if (x == b) {
            found = k;
            break;
        }
        x = x << 1 | x >> 31;
        if ((x & 0xff) == 0xfe) {
            found = 1000 + k;
            break;
        }
    }
    out[i] = found;
    out[n + i] = x;
}

KERNEL(goto_out_of_loops, words, 64) {
    ITEM;
    uint sum = 0;
    for (uint j = 0; j < 6; ++j)
        for (uint k = 0; k < 6; ++k) {
            sum += (a >> j) ^ (b >> k);
            if ((sum & 0x3f) == 5)
                goto finish;
        }
    sum += 77;
finish:
    out[i] = sum;
}

KERNEL(uniform_branches, words, 128) { // the same way for all lanes: SCC, not EXEC
    ITEM;
    const uint key = in[group_id()];
    uint result = a;
    for (uint k = 0; k < (key & 15) + 1; ++k) {
        if (key >> k & 1)
            result = result * 5 + k;
        else
            result ^= b >> k;
    }
    if ((int)key < 0)
        result = ~result;
    out[i] = result;
}

KERNEL(short_circuits, words, 128) {
    ITEM;
    uint evaluations = 0;
    const int truth = (++evaluations, a < b) && ((++evaluations, c > d) || (++evaluations, (a ^ c) & 1));
    out[i] = evaluations;
    out[n + i] = truth ? 1 : 2;
}

KERNEL(select_chain, words, 128) {
    ITEM;
    uint best = a, index = 0;
    if (b > best)
        best = b, index = 1;
    if (c > best)
        best = c, index = 2;
    if (d > best)
        best = d, index = 3;
    out[i] = best;
    out[n + i] = index;
}

KERNEL(selected_registers, words, 128) { // elements of arrays by numbers of which nothing is known
    ITEM;
    uint v[12], sum = 0;
    for (uint k = 0; k < 12; ++k)
        v[k] = a * k + b;
#pragma clang loop unroll(disable)
    for (uint k = 0; k < 12; ++k)
        v[11 - k] ^= v[(k * 5 + 3) % 12] + k;
    for (uint k = 0; k < 12; ++k)
        sum = sum * 3 + v[k];
    out[i] = sum;
    out[n + i] = v[c % 12];
}
