// SPDX-License-Identifier: MIT
// prefill_w4a16 gives the same bits on any number of the simulated GPU's threads.
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "base/half.h"
#include "base/rng.h"
#include "runtime/prefill.h"

using namespace nw;

namespace {

constexpr u32 m = 600, n = 300, k = 512, group = 64;

template <class T> hip::Buffer upload(const hip::Device &device, const std::vector<T> &values) {
    hip::Buffer buffer = device.allocate(values.size() * sizeof(T));
    buffer.upload(values.data(), values.size() * sizeof(T));
    return buffer;
}

std::vector<u16> halves(Dtype dtype, u64 count, Rng rng) {
    std::vector<u16> out(count);
    for (u16 &x : out)
        x = round_to(dtype, rng.normal());
    return out;
}

// A hash of C.
u64 result_on(const char *threads, Dtype dtype) {
    const hip::Device device(std::string("sim:gfx1151?threads=") + threads);
    Rng rng(5);
    std::vector<u8> weights(u64{n} * k / 2);
    for (u8 &x : weights)
        x = static_cast<u8>(rng.below(256));
    const hip::Buffer a = upload(device, halves(dtype, u64{m} * k, rng.fork(1))),
                      w = upload(device, weights),
                      s = upload(device, halves(dtype, n * (k / group), rng.fork(2))),
                      c = upload(device, std::vector<u16>(u64{m} * n, nan_poison));
    Modules modules(device);
    launch_prefill(modules, {dtype, m, n, k, group, a.data(), w.data(), s.data(), nullptr, c.data(),
                             k / 2, k / group * 2});
    device.synchronize();
    std::vector<u16> got(u64{m} * n);
    c.download(got.data(), got.size() * sizeof got[0]);
    u64 hash = 0;
    for (u16 x : got)
        hash = mix(hash + x + 1);
    return hash;
}

} // namespace

TEST_CASE("the same bits on any number of threads") {
    for (Dtype dtype : {Dtype::f16, Dtype::bf16}) {
        constexpr const char *threads[] = {"1", "2", "3", "8"};
        for (const char *count : threads)
            CHECK(result_on(count, dtype) == result_on(threads[0], dtype));
    }
}
