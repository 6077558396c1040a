// SPDX-License-Identifier: MIT
// Prints the CPU seconds of work that never changes, about 0.01: a test's cost is compared by
// its ratio to this (budget.toml). It resembles the simulator's work: arithmetic on 32 lanes by
// an instruction's kind, of registers in the first caches.

#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { LANES = 32, REGISTERS = 256, INSTRUCTIONS = 1000000 };

static uint32_t registers[REGISTERS][LANES];

static void execute(uint32_t code) {
    uint32_t *d = registers[code >> 24];
    const uint32_t *a = registers[code >> 16 & 255], *b = registers[code >> 8 & 255];
    switch (code & 3) {
    case 0:
        for (int i = 0; i < LANES; i++)
            d[i] = a[i] * 5 + b[i];
        break;
    case 1:
        for (int i = 0; i < LANES; i++)
            d[i] = a[i] > b[i] ? a[i] - b[i] : a[i] ^ b[i];
        break;
    case 2:
        for (int i = 0; i < LANES; i++)
            d[i] = (uint32_t)(((float)(a[i] >> 8) + 1.0f) * 0.75f) + b[i];
        break;
    default:
        for (int i = 0; i < LANES; i++)
            d[i] = a[b[i] % LANES] + (uint32_t)i;
    }
}

int main(void) {
    const clock_t start = clock();
    uint32_t state = 1;
    for (int i = 0; i < INSTRUCTIONS; i++) {
        state = state * 1664525u + 1013904223u;
        execute(state ^ state >> 15);
    }
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    volatile uint32_t used = registers[state >> 24][0]; // so that the work is done
    (void)used;
    printf("%.6f\n", seconds);
    return 0;
}
