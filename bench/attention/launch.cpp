// SPDX-License-Identifier: MIT
#include "bench/attention/launch.h"

#include "base/rng.h"

namespace nw::bench {

hip::Buffer normal_values(const hip::Device &device, Dtype dtype, u64 elements, u64 seed) {
    const Rng rng(seed);
    std::vector<u16> words(elements);
    for (u64 i = 0; i < elements; ++i)
        words[i] = round_to(dtype, rng.normal_at(i));
    return upload(device, words);
}

Timed time_launch(const hip::Device &device, Modules &modules, const Kernel &kernel, const Op &op) {
    modules.function(kernel);
    const hip::Event start = device.event(), stop = device.event();
    LaunchCounts stats(device);
    stats.skip(); // of launches before
    device.record(start);
    launch(modules, kernel, op);
    device.record(stop);
    Timed out;
    out.us = 1000 * f64{device.elapsed_ms(start, stop)};
    out.launch = stats.next_launch(kernel.symbol).value_or(LaunchStats{});
    out.drawn = {out.us, out.launch.time.draws};
    return out;
}

} // namespace nw::bench
