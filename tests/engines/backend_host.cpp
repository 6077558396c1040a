// SPDX-License-Identifier: MIT
// A small ggml program: loads the CPU backend and libggml-nibblewave, and compares graphs of both.
//     backend_host BACKENDS CASE...   BACKENDS: paths of backend libraries, with ':' between
// Prints a line for each case and the last line `N passed, N failed`.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "host.h"

namespace {

struct Shape {
    int64_t k, n, rows, experts = 0, used = 0;
    bool each = false; // mul_mat_id: a row of activations for each expert in use
};

// One product, on weights in the memory of `device`.
struct Product {
    Product(ggml_backend_dev_t device, ggml_type type, const Shape &);
    std::vector<float> compute(ggml_backend_t, int times = 1);

    ggml_context_ptr weights{ggml_init({1 << 20, nullptr, true})};
    ggml_context_ptr inputs{ggml_init({1 << 20, nullptr, true})};
    ggml_context_ptr nodes{ggml_init({1 << 20, nullptr, true})};
    ggml_backend_buffer_ptr weight_memory, input_memory, node_memory;
    ggml_tensor *a, *b, *sorted = nullptr, *c;
    ggml_cgraph *graph;
};

std::vector<float> random_floats(std::size_t count, unsigned seed) {
    std::mt19937 bits(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<float> out(count);
    for (float &value : out)
        value = values(bits);
    return out;
}

void fill_weights(ggml_tensor *a) {
    const auto values = random_floats(static_cast<std::size_t>(ggml_nelements(a)), 1);
    std::vector<char> bytes(ggml_nbytes(a));
    ggml_quantize_chunk(a->type, values.data(), bytes.data(), 0, ggml_nrows(a), a->ne[0], nullptr);
    ggml_backend_tensor_set(a, bytes.data(), 0, bytes.size());
}

// Each row is a permutation of the experts, as an argsort gives it.
void fill_ids(ggml_tensor *sorted) {
    std::mt19937 bits(3);
    std::vector<int32_t> ids;
    for (int64_t row = 0; row < sorted->ne[1]; row++) {
        std::vector<int32_t> order(static_cast<std::size_t>(sorted->ne[0]));
        for (std::size_t i = 0; i < order.size(); i++)
            order[i] = static_cast<int32_t>(i);
        std::shuffle(order.begin(), order.end(), bits);
        ids.insert(ids.end(), order.begin(), order.end());
    }
    ggml_backend_tensor_set(sorted, ids.data(), 0, 4 * ids.size());
}

Product::Product(ggml_backend_dev_t device, ggml_type type, const Shape &s) {
    ggml_context *const in = inputs.get(), *const out = nodes.get();
    if (s.experts) {
        a = ggml_new_tensor_3d(weights.get(), type, s.k, s.n, s.experts);
        b = ggml_new_tensor_3d(in, GGML_TYPE_F32, s.k, s.each ? s.used : 1, s.rows);
        sorted = ggml_new_tensor_2d(in, GGML_TYPE_I32, s.experts, s.rows);
        ggml_tensor *const ids =
            ggml_view_2d(out, sorted, s.used, s.rows, sorted->nb[1], 0); // rows 4 * experts apart
        c = ggml_mul_mat_id(out, a, b, ids);
    } else {
        a = ggml_new_tensor_2d(weights.get(), type, s.k, s.n);
        b = ggml_new_tensor_2d(in, GGML_TYPE_F32, s.k, s.rows);
        c = ggml_mul_mat(out, a, b);
    }
    graph = ggml_new_graph(out);
    ggml_build_forward_expand(graph, c);
    ggml_backend_buffer_type_t memory = ggml_backend_dev_buffer_type(device);
    weight_memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(weights.get(), memory));
    input_memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(inputs.get(), memory));
    node_memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(nodes.get(), memory));
    ggml_backend_buffer_set_usage(weight_memory.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    fill_weights(a);
    const auto x = random_floats(static_cast<std::size_t>(ggml_nelements(b)), 2);
    ggml_backend_tensor_set(b, x.data(), 0, ggml_nbytes(b));
    if (sorted)
        fill_ids(sorted);
}

std::vector<float> Product::compute(ggml_backend_t backend, int times) {
    std::vector<float> out(static_cast<std::size_t>(ggml_nelements(c)));
    for (int i = 0; i < times; i++)
        if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS)
            return {};
    ggml_backend_tensor_get(c, out.data(), 0, ggml_nbytes(c));
    return out;
}

std::vector<ggml_backend_dev_t> ours() {
    std::vector<ggml_backend_dev_t> out;
    for (std::size_t i = 0; i < ggml_backend_dev_count(); i++)
        if (std::strncmp(ggml_backend_dev_name(ggml_backend_dev_get(i)), "NW", 2) == 0)
            out.push_back(ggml_backend_dev_get(i));
    return out;
}

ggml_backend_dev_t cpu() { return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU); }

const std::vector<ggml_type> types = {GGML_TYPE_Q4_0, GGML_TYPE_Q8_0, GGML_TYPE_Q4_K,
                                      GGML_TYPE_Q6_K};

void compare(ggml_backend_dev_t device, ggml_type type, const Shape &s) {
    char name[160];
    std::snprintf(name, sizeof name, "%s %s k=%d n=%d rows=%d experts=%d used=%d%s",
                  ggml_backend_dev_name(device), ggml_type_name(type), int(s.k), int(s.n),
                  int(s.rows), int(s.experts), int(s.used), s.each ? " a row each" : "");
    const ggml_backend_ptr there(ggml_backend_dev_init(device, nullptr)),
        here(ggml_backend_dev_init(cpu(), nullptr));
    Product mine(device, type, s), theirs(cpu(), type, s);
    if (!ggml_backend_dev_supports_op(device, mine.c))
        return count(name, false, "not supported");
    const auto got = mine.compute(there.get(), 2), want = theirs.compute(here.get());
    if (got.size() != want.size())
        return count(name, false, "not computed");
    const double error = nmse(got, want);
    count(name, error <= most_nmse, "NMSE " + std::to_string(error));
}

void dense() {
    for (ggml_backend_dev_t device : ours())
        for (ggml_type type : types)
            for (const Shape &s : {Shape{256, 40, 1}, {512, 96, 5}, {256, 160, 20}, {512, 130, 80}})
                compare(device, type, s);
}

void experts() {
    for (ggml_backend_dev_t device : ours())
        for (ggml_type type : types)
            for (const Shape &s : {Shape{256, 40, 1, 8, 2},
                                   {256, 40, 3, 8, 2, true},
                                   {512, 64, 40, 8, 2},
                                   {256, 72, 130, 4, 2, true}})
                compare(device, type, s);
}

// Two backends of a device have streams and workspaces of their own.
void two_contexts() {
    ggml_backend_dev_t const device = ours().at(0);
    const ggml_backend_ptr one(ggml_backend_dev_init(device, nullptr)),
        two(ggml_backend_dev_init(device, nullptr));
    Product first(device, GGML_TYPE_Q4_K, {512, 96, 4}),
        second(device, GGML_TYPE_Q4_K, {512, 96, 4});
    const auto alone = first.compute(one.get());
    bool same = !alone.empty();
    for (int i = 0; i < 4; i++) {
        same = same &&
               ggml_backend_graph_compute_async(one.get(), first.graph) == GGML_STATUS_SUCCESS &&
               ggml_backend_graph_compute_async(two.get(), second.graph) == GGML_STATUS_SUCCESS;
        same = same && first.compute(one.get()) == alone && second.compute(two.get()) == alone;
    }
    count("two contexts", same);
}

// A graph that is computed again has the data and the memory that its tensors have by then.
void graph_reuse() {
    ggml_backend_dev_t const device = ours().at(0);
    const ggml_backend_ptr backend(ggml_backend_dev_init(device, nullptr)),
        fresh(ggml_backend_dev_init(device, nullptr));
    const Shape shape{512, 96, 4};
    Product kept(device, GGML_TYPE_Q4_K, shape), other(device, GGML_TYPE_Q4_K, shape);
    const auto first = kept.compute(backend.get());
    const auto x = random_floats(static_cast<std::size_t>(ggml_nelements(other.b)), 5);
    ggml_backend_tensor_set(other.b, x.data(), 0, ggml_nbytes(other.b));
    const auto want = other.compute(fresh.get());
    void *const before = kept.b->data;
    kept.b->data = other.b->data; // memory of another buffer
    const bool moved = kept.compute(backend.get()) == want;
    kept.b->data = before;
    const bool back = kept.compute(backend.get()) == first;
    ggml_backend_tensor_set(kept.b, x.data(), 0, ggml_nbytes(kept.b));
    const bool changed = kept.compute(backend.get()) == want;
    count("a graph again, with other data and memory",
          first.size() == want.size() && first != want && moved && back && changed);
}

// An op that no device computes.
void silu(ggml_tensor *y, const ggml_tensor *x, int part, int, void *) {
    if (part != 0)
        return;
    const float *const from = static_cast<const float *>(x->data);
    float *const to = static_cast<float *>(y->data);
    for (int64_t i = 0; i < ggml_nelements(y); i++)
        to[i] = from[i] / (1 + std::exp(-from[i]));
}

// w2 * silu(w1 * x): products on the device, silu on the CPU, by ggml's scheduler. The CPU's
// activations are int8 in blocks of 32 for q4_0, and of 256 for q4_K; most_nmse is that of one
// product.
struct Layers {
    Layers(ggml_backend_dev_t device, ggml_type type, int64_t rows) {
        ggml_context *const in = weights.get(), *const out = nodes.get();
        w1 = ggml_new_tensor_2d(in, type, 512, 768);
        w2 = ggml_new_tensor_2d(in, type, 768, 256);
        memory.reset(
            ggml_backend_alloc_ctx_tensors_from_buft(in, ggml_backend_dev_buffer_type(device)));
        ggml_backend_buffer_set_usage(memory.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        fill_weights(w1);
        fill_weights(w2);
        x = ggml_new_tensor_2d(out, GGML_TYPE_F32, 512, rows);
        ggml_set_input(x);
        y = ggml_mul_mat(out, w2,
                         ggml_map_custom1(out, ggml_mul_mat(out, w1, x), silu, 1, nullptr));
        ggml_set_output(y);
        graph = ggml_new_graph(out);
        ggml_build_forward_expand(graph, y);
    }
    std::vector<float> compute(ggml_backend_sched_t sched, unsigned seed) {
        const auto values = random_floats(static_cast<std::size_t>(ggml_nelements(x)), seed);
        std::vector<float> result(static_cast<std::size_t>(ggml_nelements(y)));
        ggml_backend_tensor_set(x, values.data(), 0, ggml_nbytes(x));
        if (ggml_backend_sched_graph_compute(sched, graph) != GGML_STATUS_SUCCESS)
            return {};
        ggml_backend_tensor_get(y, result.data(), 0, ggml_nbytes(y));
        return result;
    }
    ggml_context_ptr weights{ggml_init({1 << 20, nullptr, true})};
    ggml_context_ptr nodes{ggml_init({1 << 20, nullptr, true})};
    ggml_backend_buffer_ptr memory;
    ggml_tensor *w1, *w2, *x, *y;
    ggml_cgraph *graph;
};

// The scheduler's allocation is kept for further inputs, as llama.cpp keeps it from token to token.
void by_scheduler(ggml_backend_dev_t device, ggml_type type, int64_t rows) {
    const ggml_backend_ptr there(ggml_backend_dev_init(device, nullptr)),
        here(ggml_backend_dev_init(cpu(), nullptr));
    ggml_backend_t both[] = {there.get(), here.get()};
    const ggml_backend_sched_ptr mixed(ggml_backend_sched_new(both, nullptr, 2, 64, false, true)),
        plain(ggml_backend_sched_new(both + 1, nullptr, 1, 64, false, true));
    Layers mine(device, type, rows), theirs(cpu(), type, rows);
    bool good = ggml_backend_sched_alloc_graph(mixed.get(), mine.graph) &&
                ggml_backend_sched_alloc_graph(plain.get(), theirs.graph);
    double worst = 0;
    for (unsigned seed = 10; good && seed < 14; seed++) {
        const auto got = mine.compute(mixed.get(), seed), want = theirs.compute(plain.get(), seed);
        good = got.size() == want.size();
        worst = std::max(worst, good ? nmse(got, want) : 1);
    }
    const bool split = ggml_backend_sched_get_n_splits(mixed.get()) == 3;
    count(std::string(ggml_backend_dev_name(device)) + " " + ggml_type_name(type) +
              " by the scheduler, " + std::to_string(rows) + " rows",
          good && split && worst <= most_nmse, "NMSE " + std::to_string(worst));
}

void scheduler() {
    for (ggml_backend_dev_t device : ours())
        for (ggml_type type : {GGML_TYPE_Q4_0, GGML_TYPE_Q4_K})
            for (int64_t rows : {1, 24})
                by_scheduler(device, type, rows);
}

// MiB of this process that are not a file's pages: its own copies, and the simulated GPU's memory.
double mebibytes() {
    std::ifstream file("/proc/self/status");
    std::string word;
    double kib = 0, all = 0;
    while (file >> word)
        if ((word == "RssAnon:" || word == "RssShmem:") && file >> kib)
            all += kib;
    return all / 1024;
}

struct File {
    explicit File(std::size_t bytes) : bytes(bytes) {
        std::FILE *const file = std::tmpfile();
        std::vector<char> matrix(bytes);
        const auto row = random_floats(1 << 15, 1);
        const std::size_t step =
            ggml_quantize_chunk(GGML_TYPE_Q4_K, row.data(), matrix.data(), 0, 1, 1 << 15, nullptr);
        for (std::size_t at = step; at < bytes; at++) // one random piece, over and over
            matrix[at] = matrix[at - step];
        if (std::fwrite(matrix.data(), 1, bytes, file) != bytes || std::fflush(file) != 0)
            std::abort();
        data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fileno(file), 0);
        std::fclose(file);
    }
    ~File() { munmap(data, bytes); }
    void *data;
    std::size_t bytes;
};

// How much memory the weights of a mapped file take: as a loader of models would place them.
void weights_of_a_file() {
    constexpr int64_t k = 2048, n = 16384;
    ggml_backend_dev_t const device = ours().at(0);
    const ggml_backend_ptr there(ggml_backend_dev_init(device, nullptr)),
        here(ggml_backend_dev_init(cpu(), nullptr));
    ggml_backend_dev_props props;
    ggml_backend_dev_get_props(device, &props);
    const ggml_context_ptr context(ggml_init({1 << 20, nullptr, true}));
    ggml_tensor *const a = ggml_new_tensor_2d(context.get(), GGML_TYPE_Q4_K, k, n);
    const File file(ggml_nbytes(a));
    Product small(device, GGML_TYPE_Q4_K, {k, 256, 1}), inputs(device, GGML_TYPE_Q4_K, {k, n, 1});
    const std::size_t output = ggml_nbytes(inputs.c);
    small.compute(there.get()); // what all products need, such as threads
    const double before = mebibytes();
    ggml_backend_buffer_ptr memory;
    if (props.caps.buffer_from_host_ptr) {
        memory.reset(
            ggml_backend_dev_buffer_from_host_ptr(device, file.data, file.bytes, file.bytes));
        if (!memory || ggml_backend_tensor_alloc(memory.get(), a, file.data) != GGML_STATUS_SUCCESS)
            return count("weights of a file", false, "not mapped");
    } else {
        memory.reset(ggml_backend_alloc_ctx_tensors(context.get(), there.get()));
        ggml_backend_tensor_set(a, file.data, 0, file.bytes);
    }
    inputs.c->src[0] = a;
    const auto got = inputs.compute(there.get());
    const double more = mebibytes() - before, size = double(file.bytes) / (1 << 20);
    // The same bytes, by the CPU.
    Product theirs(cpu(), GGML_TYPE_Q4_K, {k, n, 1});
    ggml_backend_tensor_set(theirs.a, file.data, 0, file.bytes);
    const auto want = theirs.compute(here.get());
    const bool right = got.size() == want.size() && nmse(got, want) <= most_nmse;
    char note[96];
    std::snprintf(note, sizeof note,
                  "%s: %.1f MiB more for weights of %.1f MiB and a result of %.1f",
                  props.caps.buffer_from_host_ptr ? "mapped" : "copied", more, size,
                  double(output) / (1 << 20));
    count("weights of a file", right && more < 1.5 * size, note);
}

void too_large() {
    ggml_backend_dev_t const device = ours().at(0);
    std::size_t available = 0, total = 0;
    ggml_backend_dev_memory(device, &available, &total);
    const ggml_backend_buffer_ptr buffer(
        ggml_backend_buft_alloc_buffer(ggml_backend_dev_buffer_type(device), 2 * total));
    count("a buffer larger than the device", !buffer && total > 0);
    ggml_backend_dev_props props;
    ggml_backend_dev_get_props(device, &props);
    if (!props.caps.buffer_from_host_ptr)
        return;
    char page[4096]; // its other pages are not looked at
    const ggml_backend_buffer_ptr mapped(
        ggml_backend_dev_buffer_from_host_ptr(device, page, 2 * total, 2 * total));
    count("a file larger than the device", !mapped);
}

// The backend in a child of fork(): it prints a message and fails, as HIP does not work there.
void after_fork() {
    ggml_backend_dev_t const device = ours().at(0);
    const ggml_backend_ptr backend(ggml_backend_dev_init(device, nullptr));
    Product product(device, GGML_TYPE_Q4_0, {256, 40, 1});
    const bool before = !product.compute(backend.get()).empty();
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(product.compute(backend.get()).empty() ? 17 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    count("fork", before && WIFEXITED(status) && WEXITSTATUS(status) == 17 &&
                      !product.compute(backend.get()).empty());
}

// A kernel of q4_0 is missing: a model's weight of it is refused, with a reason; others are not.
void q4_0_alone_is_refused() {
    ggml_backend_dev_t const device = ours().at(0);
    bool right = true;
    for (ggml_type type : types) {
        const Product product(device, type, {256, 40, 1});
        right =
            right && ggml_backend_dev_supports_op(device, product.c) == (type != GGML_TYPE_Q4_0);
    }
    count("q4_0 alone is refused", right);
}

void no_device() { count("no device", ours().empty()); }

const std::map<std::string, std::function<void()>> cases = {
    {"dense", dense},
    {"experts", experts},
    {"two_contexts", two_contexts},
    {"graph_reuse", graph_reuse},
    {"scheduler", scheduler},
    {"weights_of_a_file", weights_of_a_file},
    {"too_large", too_large},
    {"fork", after_fork},
    {"no_device", no_device},
    {"q4_0_alone_is_refused", q4_0_alone_is_refused}};

} // namespace

int main(int arguments, char **values) {
    if (arguments < 3)
        return std::fprintf(stderr, "backend_host BACKENDS CASE...\n"), 2;
    load_backends(values[1]); // cases tell what is missing
    for (int i = 2; i < arguments; i++) {
        const auto found = cases.find(values[i]);
        if (found == cases.end())
            return std::fprintf(stderr, "no case %s\n", values[i]), 2;
        if (found->first != "no_device" && ours().empty())
            count(found->first, false, "no device of nibblewave");
        else
            found->second();
    }
    return end_of_cases();
}
