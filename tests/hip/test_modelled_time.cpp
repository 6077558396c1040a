// SPDX-License-Identifier: MIT
// Modelled time of streams, copies and graphs, as hosts see it: by events and statistics. The rules
// themselves: tests/sim/timing/timeline.cpp.
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/hipsim.h"
#include "hip/graphs.h"

using namespace hip_test;

extern "C" hipError_t launch_items(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, std::size_t, hipStream_t, void **, void **, hipEvent_t,
                                   hipEvent_t, unsigned) asm("hipExtModuleLaunchKernel");

namespace {

// A constant of the part's model, in us or GB/s.
double constant(const std::string &name) {
    std::string text;
    const auto keep = [](const char *json, void *to) { *static_cast<std::string *>(to) = json; };
    REQUIRE_EQ(hipsimPartConstants("7900 XTX", keep, &text), hipSuccess);
    const nlohmann::json part = nlohmann::json::parse(text);
    for (const auto &row : part["constants"])
        if (row["name"] == name)
            return row["value"];
    FAIL("no constant " << name);
    return 0;
}

// A 7900 XTX of its own, current while the object lives.
struct Timed {
    const double overhead = constant("launch_overhead"), gap = constant("launch_gap");

    explicit Timed(const char *settings = "") {
        const std::string spec = std::string("gfx1100?timing=on&stats=on") + settings;
        REQUIRE_EQ(hipsimOpenDevice(spec.c_str(), nullptr, 1, &ordinal), hipSuccess);
        OK(hipSetDevice(ordinal));
    }
    ~Timed() {
        OK(hipSetDevice(0));
        CHECK_EQ(hipsimCloseDevice(ordinal), hipSuccess);
    }
    Timed(const Timed &) = delete;

    std::vector<nlohmann::json> stats() const {
        std::vector<nlohmann::json> lines;
        const auto add = [](const char *line, void *to) {
            static_cast<std::vector<nlohmann::json> *>(to)->push_back(nlohmann::json::parse(line));
        };
        CHECK_EQ(hipsimTakeStats(ordinal, add, &lines), hipSuccess);
        return lines;
    }
    int ordinal = -1;
};

double us_between(const OwnEvent &start, const OwnEvent &stop) {
    float ms = -1;
    OK(hipEventSynchronize(stop));
    OK(hipEventElapsedTime(&ms, start, stop));
    return 1000.0 * static_cast<double>(ms);
}

// From the stream's present to the end of what `queue` adds to it.
template <class Queue> double us_of(hipStream_t stream, const Queue &queue) {
    OwnEvent start, stop;
    OK(hipEventRecord(start, stream));
    queue();
    OK(hipEventRecord(stop, stream));
    return us_between(start, stop);
}

// Both streams' work together.
template <class Queue>
double us_of_both(hipStream_t first, hipStream_t second, const Queue &queue) {
    return us_of(first, [&] {
        OwnEvent begin, end;
        OK(hipEventRecord(begin, first));
        OK(hipStreamWaitEvent(second, begin, 0));
        queue();
        OK(hipEventRecord(end, second));
        OK(hipStreamWaitEvent(first, end, 0));
    });
}

hipError_t launch_groups(hipFunction_t function, unsigned groups, hipStream_t stream, int *words) {
    void *params[] = {&words};
    return hipModuleLaunchKernel(function, groups, 1, 1, 32, 1, 1, 0, stream, params, nullptr);
}

// Two launches were timed, the second after the first with a launch's overhead between them.
// Returns their lines of statistics.
std::vector<nlohmann::json> check_second_waits(const Timed &device) {
    std::vector<nlohmann::json> lines = device.stats();
    REQUIRE_EQ(lines.size(), 2);
    CHECK_GE(lines[1]["start_us"].get<double>(),
             lines[0]["end_us"].get<double>() + device.overhead);
    return lines;
}

} // namespace

TEST_CASE("a lone launch takes its own time") {
    Timed device;
    Code code;
    Ints word(1);
    const double us = us_of(nullptr, [&] { OK(launch(code["increment"], 1, nullptr, word.data)); });
    const auto lines = device.stats();
    REQUIRE_EQ(lines.size(), 1);
    const double cycles = lines[0]["cycles"], own = lines[0]["time_us"];
    CHECK_EQ(static_cast<float>(own / 1000), static_cast<float>(us / 1000));
    CHECK_EQ(own, cycles / 2500 + device.overhead);
    CHECK_EQ(lines[0]["end_us"].get<double>() - lines[0]["start_us"].get<double>(),
             doctest::Approx(cycles / 2500));
}

TEST_CASE("copies and fills take their bytes' time") {
    Timed device;
    constexpr std::size_t bytes = 8 << 20;
    constexpr double mb = bytes / 1e3; // us at 1 GB/s
    Ints a(bytes / 4), b(bytes / 4);
    int *host = nullptr;
    OK(hipHostMalloc(reinterpret_cast<void **>(&host), bytes, 0));
    const auto copy = [&](void *to, void *from) {
        return us_of(nullptr,
                     [&] { OK(hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, nullptr)); });
    };
    const double over_link = constant("copy_overhead") + mb / constant("link_gb_per_s");
    const double written = mb / constant("copy_gb_per_s");
    CHECK_EQ(copy(a.data, host), doctest::Approx(over_link));
    CHECK_EQ(copy(host, a.data), doctest::Approx(over_link));
    CHECK_EQ(copy(b.data, a.data), doctest::Approx(device.overhead + 2 * written));
    const double fill = us_of(nullptr, [&] { OK(hipMemsetAsync(a.data, 0, bytes, nullptr)); });
    CHECK_EQ(fill, doctest::Approx(device.overhead + written));
    // Pageable memory, and calls that return when it is done.
    std::vector<int> pageable(bytes / 4);
    CHECK_EQ(copy(a.data, pageable.data()), doctest::Approx(over_link));
    const double now = us_of(nullptr, [&] { OK(hipMemset(a.data, 0, bytes)); });
    CHECK_EQ(now, doctest::Approx(fill));
    OK(hipHostFree(host));
}

TEST_CASE("copies in both directions overlap, as the link allows") {
    Timed device;
    constexpr std::size_t bytes = 8 << 20;
    Ints a(bytes / 4), b(bytes / 4);
    int *host = nullptr;
    OK(hipHostMalloc(reinterpret_cast<void **>(&host), 2 * bytes, 0));
    OwnStream in(hipStreamNonBlocking), out(hipStreamNonBlocking);
    const auto copy = [&](void *to, void *from, hipStream_t stream) {
        OK(hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, stream));
    };
    const double before = constant("copy_overhead"), link = constant("link_gb_per_s");
    const double one = us_of(in, [&] { copy(a.data, host, in); }) - before;
    const double duplex = us_of_both(in, out, [&] {
        copy(a.data, host, in);
        copy(host + bytes / 4, b.data, out);
    });
    const double same = us_of_both(in, out, [&] {
        copy(a.data, host, in);
        copy(b.data, host + bytes / 4, out);
    });
    CHECK_EQ((duplex - before) / one, doctest::Approx(2 * link / constant("link_both_gb_per_s")));
    CHECK_EQ((same - before) / one, doctest::Approx(2));
    OK(hipHostFree(host));
}

TEST_CASE("small kernels of two streams overlap, those of one stream don't") {
    Timed device;
    Code code;
    Ints words(64);
    const hipFunction_t increment = code["increment"];
    OwnStream first(hipStreamNonBlocking), second(hipStreamNonBlocking);
    constexpr int times = 8;
    const auto queue = [&](hipStream_t stream, int *word) {
        for (int i = 0; i < times; ++i)
            OK(launch(increment, 1, stream, word));
    };
    queue(first, words.data); // its code and data are in the caches from here
    queue(first, words.data + 32);
    const double one = us_of(first, [&] { queue(first, words.data); });
    const double serial = us_of(first, [&] {
        queue(first, words.data);
        queue(first, words.data + 32);
    });
    const double both = us_of_both(first, second, [&] {
        queue(first, words.data);
        queue(second, words.data + 32);
    });
    CHECK_EQ(both, doctest::Approx(one).epsilon(0.1));
    CHECK_EQ(serial, doctest::Approx(2 * one).epsilon(0.1));
    CHECK_GT(one, device.overhead + (times - 1) * device.gap);
    CHECK_EQ(words.get()[0], 4 * times);
}

TEST_CASE("two kernels that fill the machine are no faster together") {
    Timed device;
    Code code;
    Ints words(64);
    const hipFunction_t increment = code["increment"];
    OwnStream first(hipStreamNonBlocking), second(hipStreamNonBlocking);
    constexpr unsigned groups = 48 * 64; // a wave in each slot
    OK(launch_groups(increment, groups, first, words.data));
    OK(launch_groups(increment, groups, first, words.data + 32));
    const double one =
        us_of(first, [&] { OK(launch_groups(increment, groups, first, words.data)); });
    const double both = us_of_both(first, second, [&] {
        OK(launch_groups(increment, groups, first, words.data));
        OK(launch_groups(increment, groups, second, words.data + 32));
    });
    CHECK_GE(both - device.overhead, 1.95 * (one - device.overhead));
}

TEST_CASE("any-order launches overlap within their stream") {
    Timed device;
    Code code;
    Ints words(64);
    const hipFunction_t increment = code["increment"];
    OwnStream stream(hipStreamNonBlocking);
    constexpr unsigned groups = 16384; // a kernel of more than 1 us
    const auto queue = [&](unsigned flags) {
        for (int *word : {words.data, words.data + 32}) {
            void *params[] = {&word};
            OK(launch_items(increment, groups * 32, 1, 1, 32, 1, 1, 0, stream, params, nullptr,
                            nullptr, nullptr, flags));
        }
    };
    queue(0);
    const double in_order = us_of(stream, [&] { queue(0); });
    const double any_order = us_of(stream, [&] { queue(1); });
    CHECK_LT(any_order, in_order - 1);
    CHECK_GE(any_order, device.overhead + device.gap);
}

TEST_CASE("an event orders two streams in modelled time") {
    Timed device;
    Code code;
    Ints word(1);
    OwnStream first(hipStreamNonBlocking), second(hipStreamNonBlocking);
    OwnEvent start, made, stop;
    OK(hipEventRecord(start, first));
    OK(launch(code["increment"], 1, first, word.data));
    OK(hipEventRecord(made, first));
    OK(hipStreamWaitEvent(second, made, 0));
    OK(launch(code["increment"], 1, second, word.data));
    OK(hipEventRecord(stop, second));
    const double all = us_between(start, stop), before = us_between(start, made);
    CHECK_GE(all, before + device.overhead);
    const auto lines = check_second_waits(device);
    CHECK_NE(lines[0]["stream"], lines[1]["stream"]);
}

TEST_CASE("the null stream orders blocking streams, not others") {
    Timed device;
    Code code;
    Ints words(96);
    OwnStream blocking, other(hipStreamNonBlocking);
    OK(launch(code["increment"], 1, blocking, words.data));
    OK(launch(code["increment"], 1, nullptr, words.data + 32));
    OK(launch(code["increment"], 1, other, words.data + 64));
    const auto lines = device.stats(); // in the order of their ends
    REQUIRE_EQ(lines.size(), 3);
    std::vector<double> starts;
    for (const auto &line : lines)
        starts.push_back(line["start_us"]);
    CHECK_EQ(starts[1],
             doctest::Approx(starts[0] + constant("packet_interval"))); // the non-blocking one
    CHECK_GE(starts[2], lines[0]["end_us"].get<double>() + device.overhead);
}

TEST_CASE("what is launched after the host waited begins after that") {
    Timed device;
    Code code;
    Ints words(64);
    OwnStream first(hipStreamNonBlocking), second(hipStreamNonBlocking);
    OK(launch(code["increment"], 1, first, words.data));
    SUBCASE("for a stream") { OK(hipStreamSynchronize(first)); }
    SUBCASE("for an event") {
        OwnEvent event;
        OK(hipEventRecord(event, first));
        OK(hipEventSynchronize(event));
    }
    SUBCASE("in a loop of queries") {
        while (hipStreamQuery(first) == hipErrorNotReady)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    OK(launch(code["increment"], 1, second, words.data + 32));
    check_second_waits(device);
}

TEST_CASE("nodes of a graph are closer than launches; the graph's launch costs more") {
    Timed device;
    Code code;
    Ints words(64);
    const hipFunction_t increment = code["increment"];
    OwnStream stream(hipStreamNonBlocking);
    const auto launches = [&](int count) {
        return us_of(stream, [&] {
            for (int i = 0; i < count; ++i)
                OK(launch(increment, 1, stream, words.data));
        });
    };
    const auto nodes = [&](int count, bool chain) {
        OwnGraph graph;
        std::vector<hipGraphNode_t> before;
        for (int i = 0; i < count; ++i) {
            const hipGraphNode_t node = graph.kernel(increment, before, words.data);
            before = chain ? std::vector<hipGraphNode_t>{node} : std::vector<hipGraphNode_t>{};
        }
        OwnExec exec(graph);
        return us_of(stream, [&] { OK(hipGraphLaunch(exec, stream)); });
    };
    launches(128); // the caches' contents don't change from here
    CHECK_EQ(nodes(1, true) - launches(1), doctest::Approx(constant("graph_launch")).epsilon(0.02));
    const double chain = nodes(64, true);
    CHECK_LT(chain, launches(64));
    CHECK_EQ(launches(64) - chain,
             doctest::Approx(63 * (device.gap - constant("graph_gap")) - constant("graph_launch"))
                 .epsilon(0.05));
    const double apart = nodes(64, false); // without edges they overlap
    CHECK_LT(apart, chain / 2);
    CHECK_GE(apart, 63 * constant("packet_interval"));
}

TEST_CASE("modelled times don't depend on the host's threads") {
    std::vector<std::string> runs;
    for (const char *threads : {"&threads=1", "&threads=4"})
        for (int run = 0; run < 5; ++run) {
            Timed device(threads);
            Code code;
            Ints words(256);
            std::string seen;
            {
                OwnStream streams[] = {OwnStream(hipStreamNonBlocking), OwnStream(),
                                       OwnStream(hipStreamNonBlocking)};
                for (int i = 0; i < 24; ++i) {
                    hipStream_t stream = streams[i * i % 3];
                    OK(launch_groups(code["increment"], 1u << i % 9, stream,
                                     words.data + 32 * (i % 8)));
                    if (i % 5 == 0)
                        OK(hipMemsetAsync(words.data, 0, 1024, stream));
                    if (i % 7 == 0)
                        OK(launch(code["increment"], 1, nullptr, words.data));
                }
                OK(hipStreamSynchronize(streams[1]));
                OK(launch(code["increment"], 1, streams[2], words.data));
            }
            double first = -1;
            for (const auto &line : device.stats()) {
                const double at = line["start_us"], end = line["end_us"];
                first = first < 0 ? at : first;
                seen += std::to_string(at) + " " + std::to_string(end) + " " +
                        std::to_string(line["cycles"].get<int>()) + "\n";
            }
            runs.push_back(seen);
        }
    for (const std::string &run : runs)
        CHECK_EQ(run, runs[0]);
}

TEST_CASE("a callback that waits for a later kernel of another stream doesn't hang") {
    Timed device;
    Code code;
    Ints words(64);
    OwnStream first(hipStreamNonBlocking), second(hipStreamNonBlocking);
    std::atomic<bool> go = false;
    const auto wait = [](void *flag) {
        while (!*static_cast<std::atomic<bool> *>(flag))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    OK(hipLaunchHostFunc(first, wait, &go));
    OK(launch(code["increment"], 1, first, words.data));
    const double us = us_of(second, [&] { OK(launch(code["increment"], 1, second, words.data)); });
    CHECK_GT(us, device.overhead);
    go = true;
    OK(hipDeviceSynchronize());
    CHECK_EQ(words.get()[0], 2);
}
