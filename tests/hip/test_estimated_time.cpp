// SPDX-License-Identifier: MIT
// hipEventElapsedTime where launches aren't timed: positive, and more for more work.
#include "hip/common.h"

using namespace hip_test;

namespace {

// Milliseconds of what `work` queues in the stream.
template <class Work> float time_of(hipStream_t stream, Work &&work) {
    OwnEvent start, stop;
    OK(hipEventRecord(start, stream));
    work();
    OK(hipEventRecord(stop, stream));
    OK(hipEventSynchronize(stop));
    float ms = -1;
    OK(hipEventElapsedTime(&ms, start, stop));
    return ms;
}

} // namespace

TEST_CASE("estimated time: launches, copies, fills, nothing") {
    Code code;
    OwnStream stream;
    Ints data(1 << 20);
    const auto once = [&] { OK(launch(code["increment"], 64, stream, data.data)); };
    const float nothing = time_of(stream, [] {}), one = time_of(stream, once);
    const float ten = time_of(stream, [&] {
        for (int n = 0; n < 10; ++n)
            once();
    });
    CHECK_GT(nothing, 0);
    CHECK_LT(nothing, one);
    CHECK_GT(one, 0.001f); // a launch takes microseconds
    CHECK_LT(one, 1);
    CHECK_GT(ten - nothing, 5 * (one - nothing));
    const auto fill = [&](std::size_t bytes) {
        return time_of(stream, [&] { OK(hipMemsetAsync(data.data, 1, bytes, stream)); });
    };
    CHECK_GT(fill(4 << 20), fill(4));
    std::vector<int> host(1 << 20);
    const float copied = time_of(stream, [&] {
        OK(hipMemcpyAsync(host.data(), data.data, host.size() * 4, hipMemcpyDeviceToHost, stream));
    });
    CHECK_GT(copied, 0.01f); // 4 MB at less than 400 GB/s
    CHECK_LT(copied, 10);
}

TEST_CASE("estimated time: what the host waited for lies before what it submits") {
    Code code;
    OwnStream first, second;
    Ints data(64);
    OwnEvent start, stop;
    OK(hipEventRecord(start, first));
    for (int n = 0; n < 100; ++n)
        OK(launch(code["increment"], 64, first, data.data));
    OK(hipStreamSynchronize(first));
    OK(hipEventRecord(stop, second));
    OK(hipEventSynchronize(stop));
    float ms = -1;
    OK(hipEventElapsedTime(&ms, start, stop));
    CHECK_GT(ms, 0.05f);
}
