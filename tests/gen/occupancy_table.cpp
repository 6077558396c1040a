// SPDX-License-Identifier: MIT
// Waves of a SIMD by host/base/occupancy.h, for test_occupancy.py: one line for each target and
// each workgroup of its input, "vgprs lds waves".
#include <iostream>

#include "base/occupancy.h"

int main() {
    nw::u32 vgprs = 0, lds = 0, waves = 0;
    while (std::cin >> vgprs >> lds >> waves)
        for (const nw::Target &target : nw::targets()) {
            const nw::Residency of(target, waves);
            std::cout << target.name << ' ' << vgprs << ' ' << lds << ' ' << waves << ' '
                      << static_cast<nw::u32>(of.waves(of.groups(vgprs, lds))) << '\n';
        }
}
