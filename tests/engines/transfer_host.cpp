// SPDX-License-Identifier: MIT
// Copies, events and memory of libggml-nibblewave's devices, as ggml's scheduler uses them.
//     transfer_host BACKENDS   paths of backend libraries, with ':' between
// Prints a line for each case, and last `N passed, N failed`.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml.h>

#include <cstring>

#include "host.h"

namespace {

constexpr int64_t elements = 1 << 16;

// y = 2 x + 1, in the memory of a device, by a stream of it.
struct Doubling {
    explicit Doubling(ggml_backend_dev_t device) : backend(ggml_backend_dev_init(device, nullptr)) {
        x = ggml_new_tensor_1d(context.get(), GGML_TYPE_F32, elements);
        y = ggml_scale_bias(context.get(), x, 2, 1);
        graph = ggml_new_graph(context.get());
        ggml_build_forward_expand(graph, y);
        memory.reset(ggml_backend_alloc_ctx_tensors(context.get(), backend.get()));
        ggml_backend_buffer_clear(memory.get(), 0);
    }
    bool queue() {
        return ggml_backend_graph_compute_async(backend.get(), graph) == GGML_STATUS_SUCCESS;
    }
    // Whether all results are this number.
    bool gives(float value) {
        std::vector<float> out(elements);
        ggml_backend_tensor_get_async(backend.get(), y, out.data(), 0, ggml_nbytes(y));
        ggml_backend_synchronize(backend.get());
        return out == std::vector<float>(elements, value);
    }
    ggml_backend_ptr backend;
    ggml_context_ptr context{ggml_init({1 << 20, nullptr, true})};
    ggml_tensor *x, *y;
    ggml_cgraph *graph;
    ggml_backend_buffer_ptr memory;
};

std::string name(ggml_backend_dev_t device) { return ggml_backend_dev_name(device); }

// The second stream's copy waits for the first's result.
void copies_between(ggml_backend_dev_t from, ggml_backend_dev_t to) {
    Doubling first(from), second(to);
    bool good = first.queue();
    ggml_backend_tensor_copy_async(first.backend.get(), second.backend.get(), first.y, second.x);
    good = good && second.queue() && second.gives(3);
    ggml_backend_tensor_copy_async(second.backend.get(), first.backend.get(), second.y, first.x);
    good = good && first.queue() && first.gives(7);
    count("a copy from " + name(from) + " to " + name(to) + " and back", good);
}

// The CPU's tensor may change as soon as the copy is queued.
void copies_of_the_host(ggml_backend_dev_t device, ggml_backend_dev_t cpu) {
    Doubling here(cpu), there(device);
    const std::vector<float> fives(elements, 5);
    ggml_backend_tensor_set(here.x, fives.data(), 0, ggml_nbytes(here.x));
    ggml_backend_tensor_copy_async(here.backend.get(), there.backend.get(), here.x, there.x);
    ggml_backend_buffer_clear(here.memory.get(), 0);
    count("a copy from the host to " + name(device), there.queue() && there.gives(11));
}

void events(ggml_backend_dev_t device) {
    Doubling first(device), second(device);
    const ggml_backend_event_ptr event(ggml_backend_event_new(device));
    bool good = event && first.queue();
    if (event) {
        ggml_backend_event_record(event.get(), first.backend.get());
        ggml_backend_event_wait(second.backend.get(), event.get());
        good = good && second.queue() && second.gives(1);
        ggml_backend_event_record(event.get(), second.backend.get());
        ggml_backend_event_synchronize(event.get());
    }
    count("events of " + name(device), good && first.gives(1));
}

// Memory that the CPU computes on, and the device copies.
void pinned_memory(ggml_backend_dev_t device, ggml_backend_dev_t cpu) {
    ggml_backend_buffer_type_t const type = ggml_backend_dev_host_buffer_type(device);
    if (!type)
        return count("pinned memory of " + name(device), false);
    Doubling there(device);
    const ggml_context_ptr context(ggml_init({1 << 20, nullptr, true}));
    ggml_tensor *const x = ggml_new_tensor_1d(context.get(), GGML_TYPE_F32, elements);
    ggml_tensor *const y = ggml_scale_bias(context.get(), x, 3, 0);
    ggml_cgraph *const graph = ggml_new_graph(context.get());
    ggml_build_forward_expand(graph, y);
    const ggml_backend_buffer_ptr memory(
        ggml_backend_alloc_ctx_tensors_from_buft(context.get(), type));
    const std::vector<float> ones(elements, 1);
    ggml_backend_tensor_set(x, ones.data(), 0, ggml_nbytes(x));
    const ggml_backend_ptr here(ggml_backend_dev_init(cpu, nullptr));
    bool good = ggml_backend_buft_is_host(type) && ggml_backend_dev_supports_buft(cpu, type) &&
                !ggml_backend_dev_supports_buft(device, type) &&
                ggml_backend_graph_compute(here.get(), graph) == GGML_STATUS_SUCCESS;
    ggml_backend_tensor_copy_async(here.get(), there.backend.get(), y, there.x);
    count("pinned memory of " + name(device), good && there.queue() && there.gives(7));
}

// Products of weights that the CPU has: those of many rows are worth a copy.
void offload(ggml_backend_dev_t device, ggml_backend_dev_t cpu) {
    const ggml_backend_ptr there(ggml_backend_dev_init(device, nullptr)),
        here(ggml_backend_dev_init(cpu, nullptr));
    ggml_backend_t both[] = {there.get(), here.get()};
    bool good = true;
    for (const int64_t rows : {4, 40}) {
        const ggml_context_ptr weights(ggml_init({1 << 20, nullptr, true})),
            nodes(ggml_init({1 << 20, nullptr, true}));
        ggml_tensor *const w = ggml_new_tensor_2d(weights.get(), GGML_TYPE_Q8_0, 256, 64);
        const ggml_backend_buffer_ptr memory(ggml_backend_alloc_ctx_tensors_from_buft(
            weights.get(), ggml_backend_cpu_buffer_type()));
        ggml_backend_buffer_set_usage(memory.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        ggml_tensor *const x = ggml_new_tensor_2d(nodes.get(), GGML_TYPE_F32, 256, rows);
        ggml_set_input(x);
        ggml_tensor *const y = ggml_mul_mat(nodes.get(), w, x);
        ggml_cgraph *const graph = ggml_new_graph(nodes.get());
        ggml_build_forward_expand(graph, y);
        const ggml_backend_sched_ptr sched(
            ggml_backend_sched_new(both, nullptr, 2, 64, false, true));
        good = good && ggml_backend_sched_alloc_graph(sched.get(), graph) &&
               ggml_backend_sched_get_tensor_backend(sched.get(), y) ==
                   (rows < 32 ? here : there).get();
    }
    count("products of the CPU's weights on " + name(device), good);
}

void capabilities(ggml_backend_dev_t device) {
    ggml_backend_dev_props props;
    ggml_backend_dev_get_props(device, &props);
    count("what " + name(device) + " says", props.caps.async && props.caps.events &&
                                                props.caps.host_buffer && props.memory_total > 0 &&
                                                props.memory_free <= props.memory_total);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2)
        return std::fprintf(stderr, "usage: transfer_host BACKENDS\n"), 2;
    if (!load_backends(argv[1]))
        return 2;
    ggml_backend_dev_t const cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    std::vector<ggml_backend_dev_t> ours;
    for (std::size_t i = 0; i < ggml_backend_dev_count(); i++)
        if (ggml_backend_dev_t const device = ggml_backend_dev_get(i); device != cpu)
            ours.push_back(device);
    for (ggml_backend_dev_t device : ours) {
        capabilities(device);
        events(device);
        pinned_memory(device, cpu);
        offload(device, cpu);
        copies_of_the_host(device, cpu);
        for (ggml_backend_dev_t other : ours)
            copies_between(device, other);
    }
    return end_of_cases();
}
