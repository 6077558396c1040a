// SPDX-License-Identifier: MIT
// When commands run in modelled time: what they wait for, gaps, and how they share the machine.
#include <doctest/doctest.h>

#include "sim/timing/timeline.h"

using namespace nw;
using namespace nw::sim::timing;

namespace {

using Ptr = std::shared_ptr<Command>;

// A kernel that takes `us` alone and a share of one unit.
Ptr kernel(u64 stream, f64 us, f64 share = 0.1, Shared unit = Shared::slots) {
    const Ptr command = std::make_shared<Command>();
    command->kind = Command::Kind::kernel;
    command->stream = stream;
    command->work.us = us;
    command->work.shares[static_cast<size_t>(unit)] = share;
    return command;
}

Ptr after(Ptr command, const Commands &earlier) {
    command->after = earlier;
    return command;
}

struct Run {
    explicit Run(const char *part = "7900 XTX") : part(*find_part(part)), timeline(this->part) {}
    const Part part;
    Timeline timeline;
    void operator()(const Commands &all) {
        timeline.submit(all);
        timeline.wait(all);
    }
};

f64 last_end(const Commands &all) {
    f64 end = 0;
    for (const auto &command : all)
        end = std::max(end, command->end);
    return end;
}

} // namespace

TEST_CASE("a kernel begins a gap after the one before it, and a launch after it was submitted") {
    Run run;
    const Ptr first = kernel(1, 5), second = after(kernel(1, 0.5), {first});
    const Ptr third = after(kernel(1, 1), {second});
    run({first, second});
    CHECK_EQ(first->begin, run.part.launch_overhead);
    CHECK_EQ(first->end, first->begin + 5);
    CHECK_EQ(second->begin, first->end + run.part.launch_gap);
    run({third}); // after the host has waited: the queue is empty
    CHECK_EQ(third->begin, second->end + run.part.launch_overhead);
}

TEST_CASE("an event between two kernels, or another stream's kernel, costs a whole launch") {
    Run run;
    const Ptr first = kernel(1, 5), event = after(std::make_shared<Command>(), {first});
    const Ptr second = after(kernel(1, 5), {event}), other = after(kernel(2, 5), {first});
    run({first, event, second, other});
    CHECK_EQ(event->end, first->end);
    CHECK_EQ(second->begin, event->end + run.part.launch_overhead);
    CHECK_EQ(other->begin, second->begin + run.part.packet_interval);
}

TEST_CASE("concurrent kernels begin one after the other") {
    Run run;
    Commands all;
    for (u64 stream = 1; stream <= 4; ++stream)
        all.push_back(kernel(stream, 10));
    run(all);
    for (size_t n = 1; n < all.size(); ++n)
        CHECK_EQ(all[n]->begin, doctest::Approx(all[n - 1]->begin + run.part.packet_interval));
    CHECK_EQ(all[3]->end, doctest::Approx(all[3]->begin + 10)); // with room for all
}

TEST_CASE("a unit that is asked for too much slows all its users down alike") {
    Run run;
    const Ptr a = kernel(1, 100, 0.8), b = kernel(2, 100, 0.8), c = kernel(3, 100, 1, Shared::dram);
    run({a, b, c});
    const f64 ahead = run.part.packet_interval; // of a, before b begins
    CHECK_EQ(a->end, doctest::Approx(a->begin + ahead + (100 - ahead) * 1.6));
    CHECK_EQ(b->end, doctest::Approx(a->end + ahead)); // what a was ahead, b does alone
    CHECK_EQ(c->end, c->begin + 100);                  // it asks for another unit
}

// Two kernels with the same number of workgroups of independent arithmetic, in two streams of a
// 9070 XT (T-083): how much faster than one after the other. 16 waves on a SIMD took 3.5 times as
// long as four, so they fill it from 4.6 on.
TEST_CASE("overlap of two kernels of a published sweep") {
    const auto speedup = [](f64 waves_per_simd, f64 us) {
        const f64 valu = std::min(1.0, waves_per_simd / 4.6);
        Run run("9070 XT");
        const Commands both = {kernel(1, us, valu, Shared::valu),
                               kernel(2, us, valu, Shared::valu)};
        for (const Ptr &command : both)
            command->work.shares[0] = std::min(1.0, waves_per_simd / 16);
        run(both);
        return 2 * us / (last_end(both) - both[0]->begin);
    };
    CHECK_EQ(speedup(0.5, 11475), doctest::Approx(1.94).epsilon(0.05));
    CHECK_EQ(speedup(1, 11480), doctest::Approx(1.93).epsilon(0.05));
    CHECK_EQ(speedup(2, 11470), doctest::Approx(1.92).epsilon(0.05));
    CHECK_EQ(speedup(4, 11520), doctest::Approx(1.23).epsilon(0.08));
    CHECK_EQ(speedup(16, 40210), doctest::Approx(1.10).epsilon(0.10));
}

TEST_CASE("nodes of a graph: a gap along edges, none but the packets' without") {
    Run run;
    const Ptr begin = std::make_shared<Command>(), end = std::make_shared<Command>();
    const Ptr a = after(kernel(1, 1), {begin}), b = after(kernel(1, 1), {a});
    const Ptr c = after(kernel(1, 1), {begin});
    for (const Ptr &node : {a, b, c})
        node->in_graph = true;
    run({begin, a, b, c, after(end, {b, c})});
    CHECK_EQ(a->begin, run.part.launch_overhead + run.part.graph_launch);
    CHECK_EQ(c->begin, a->begin + run.part.packet_interval);
    CHECK_EQ(b->begin, a->end + run.part.graph_gap);
    CHECK_EQ(end->end, b->end);
}

TEST_CASE(
    "a kernel that overtakes begins beside the one before it, and what follows waits for both") {
    Run run;
    const Ptr first = kernel(1, 50), second = kernel(1, 5), event = std::make_shared<Command>();
    second->overtakes = first;
    run({first, second, after(event, {second})});
    CHECK_EQ(second->begin, first->begin + run.part.launch_gap);
    CHECK_EQ(event->end, first->end);
}

TEST_CASE("what the host holds up doesn't hold up others") {
    Run run;
    const Ptr callback = std::make_shared<Command>(), behind = after(kernel(1, 1), {callback});
    const Ptr other = kernel(2, 7), event = after(std::make_shared<Command>(), {other});
    callback->waits_for_host = true;
    run.timeline.submit(Commands{callback, behind, other, event});
    run.timeline.wait(Commands{event});
    CHECK_EQ(event->end, other->begin + 7);
    CHECK_EQ(behind->end, 0);
    callback->executed();
    run.timeline.settle();
    CHECK_GE(behind->begin, event->end + run.part.launch_overhead);
}

TEST_CASE("copies between host and device share the link, not the shaders") {
    Run run;
    const Ptr in = std::make_shared<Command>(), busy = kernel(2, 400, 1);
    in->kind = Command::Kind::copy;
    in->work = transfer_work(run.part, Transfer::to_device, 1 << 20);
    run({in, busy});
    CHECK_EQ(in->begin, run.part.copy_overhead);
    CHECK_EQ(in->end - in->begin, doctest::Approx((1 << 20) / run.part.link_gb_per_s / 1000));
    CHECK_EQ(busy->end - busy->begin, doctest::Approx(400));
    CHECK_EQ(transfer_work(run.part, Transfer::within, 1000).us,
             2 * transfer_work(run.part, Transfer::fill, 1000).us);
    CHECK_EQ(transfer_work(run.part, Transfer::host, 1000).us, 0);
}
