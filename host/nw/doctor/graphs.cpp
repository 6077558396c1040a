// SPDX-License-Identifier: MIT
// Graphs with the number of kernels of a model's token, replayed with new inputs.
#include <fmt/format.h>
#include <utility>

#include "hip/library.h"
#include "nw/doctor/doctor.h"

namespace nw::cli {

namespace {

constexpr u32 nodes = 512;
constexpr u64 bytes = 2 * row_words;

hipStream_t handle(const hip::Stream &stream) { return static_cast<hipStream_t>(stream.handle()); }

std::vector<u16> pattern(u32 round) {
    std::vector<u16> out(row_words);
    for (u32 i = 0; i < row_words; ++i)
        out[i] = static_cast<u16>(i * (2 * round + 1) + round + 1);
    return out;
}

// Each kernel copies the output of the one before.
class Chain {
public:
    explicit Chain(Examination &e)
        : e_(e), stream_(e.device.stream()), slots_(e.device.allocate((nodes + 1) * bytes)),
          input_(e.device.allocate_host(bytes)), graph_(e.device.capture(stream_, [&] {
              for (u32 i = 0; i < nodes; ++i)
                  e.copy_by_kernel(slot(i), slot(i + 1), row_words, stream_);
          })) {}

    // Replays of which the last kernel's result is not the new input.
    template <class Queue> u32 wrong(const Queue &copy_and_launch) {
        u32 out = 0;
        std::vector<u16> got(row_words);
        for (u32 round = 0; round < e_.rounds; ++round) {
            const std::vector<u16> want = pattern(round);
            std::memcpy(input_.data(), want.data(), bytes);
            copy_and_launch();
            stream_.synchronize();
            slots_.download(got.data(), bytes, nodes * bytes);
            out += got != want;
        }
        return out;
    }
    void as_nibblewave() {
        e_.device.copy(slots_, input_, bytes, stream_);
        e_.device.launch(graph_, stream_);
    }
    void without_a_wait() {
        const auto &library = *e_.device.library();
        e_.device.copy(slots_, input_, bytes, stream_);
        library.check(library.on_device().hipGraphLaunch(
                          static_cast<hipGraphExec_t>(graph_.handle()), handle(stream_)),
                      "hipGraphLaunch");
    }

private:
    u8 *slot(u32 i) const { return static_cast<u8 *>(slots_.data()) + i * bytes; }

    Examination &e_;
    hip::Stream stream_;
    hip::Buffer slots_;
    hip::HostBuffer input_;
    hip::Graph graph_;
};

std::string of_replays(u32 wrong, u32 rounds) {
    return wrong ? fmt::format("{} of {} replays are wrong", wrong, rounds)
                 : fmt::format("{} replays are right", rounds);
}

void try_replays(Examination &e) {
    Chain chain(e);
    const u32 own = chain.wrong([&] { chain.as_nibblewave(); });
    e.judge("graphs", own == 0,
            fmt::format("{} kernels, new inputs that the host waits for: {}", nodes,
                        of_replays(own, e.rounds)));
    const u32 raw = chain.wrong([&] { chain.without_a_wait(); });
    e.judge("hip_graphs", raw == 0,
            fmt::format("{} kernels, new inputs without a wait: {}{}", nodes,
                        of_replays(raw, e.rounds),
                        raw ? "; nibblewave waits, other programs may not (A-032)" : ""));
}

// A captured graph, not instantiated.
struct Captured {
    Captured(Examination &e, const hip::Stream &stream, const void *from, void *to)
        : library(*e.device.library()) {
        library.check(library.on_device().hipStreamBeginCapture(handle(stream),
                                                                hipStreamCaptureModeThreadLocal),
                      "hipStreamBeginCapture");
        e.copy_by_kernel(from, to, row_words, stream);
        library.check(library.call().hipStreamEndCapture(handle(stream), &graph),
                      "hipStreamEndCapture");
    }
    ~Captured() { static_cast<void>(library.call().hipGraphDestroy(graph)); }
    Captured(const Captured &) = delete;

    const hip::Library &library;
    hipGraph_t graph = nullptr;
};

void try_update(Examination &e) {
    const auto &library = *e.device.library();
    const auto update = library.loaded->optional.hipGraphExecUpdate;
    if (!update)
        return e.add("graph_updates", State::warn, "this HIP has no hipGraphExecUpdate");
    const hip::Stream stream = e.device.stream();
    hip::Buffer from = e.device.allocate(bytes),
                outs[] = {e.device.allocate(bytes), e.device.allocate(bytes)};
    const Captured graphs[] = {{e, stream, from.data(), outs[0].data()},
                               {e, stream, from.data(), outs[1].data()}};
    hipGraphExec_t exec = nullptr;
    library.check(
        library.on_device().hipGraphInstantiate(&exec, graphs[0].graph, nullptr, nullptr, 0),
        "hipGraphInstantiate");
    u32 wrong = 0;
    std::vector<u16> got(row_words);
    for (u32 round = 0; round < e.rounds; ++round) { // to the other result, and back
        const std::vector<u16> want = pattern(round);
        hip::Buffer &out = outs[(round + 1) % 2];
        from.upload(want.data(), bytes);
        out.fill(0);
        hipGraphNode_t node = nullptr;
        hipGraphExecUpdateResult result{};
        library.check(update(exec, graphs[(round + 1) % 2].graph, &node, &result),
                      "hipGraphExecUpdate");
        library.check(library.on_device().hipGraphLaunch(exec, handle(stream)), "hipGraphLaunch");
        stream.synchronize();
        out.download(got.data(), bytes);
        wrong += got != want;
    }
    static_cast<void>(library.call().hipGraphExecDestroy(exec));
    e.judge("graph_updates", wrong == 0,
            fmt::format("after hipGraphExecUpdate {}{}", of_replays(wrong, e.rounds),
                        wrong ? "; nibblewave updates no graphs, other programs do (A-028)" : ""));
}

} // namespace

void try_graphs(Examination &e) {
    const hip::Buffer first = e.device.allocate(2 * bytes); // a capture loads no kernel
    e.copy_by_kernel(first.data(), static_cast<u8 *>(first.data()) + bytes, row_words);
    e.device.synchronize();
    try_replays(e);
    try_update(e);
}

} // namespace nw::cli
