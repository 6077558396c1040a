// SPDX-License-Identifier: MIT
// The gated delta rule of a layer with all that stands between its products, as two launches: the
// short convolution, and the rule with its gates and norms. Both read and write their states in the
// cache. One sequence; the nodes are those of llama.cpp's build_layer_attn_linear.
#include <ggml-impl.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "engines/ggml/fusion.h"
#include "engines/ggml/maps.h"
#include "engines/ggml/moves.h"
#include "engines/ggml/ops.h"
#include "engines/ggml/rehearsal.h"

namespace nw::engine {

namespace {

constexpr int near = 64;                    // nodes of the layer's part, and of products before it
constexpr uint64_t counters = 65536 * 4ull; // nibblewave.h: nw_gguf, workspace
constexpr uint64_t line = memory_alignment;

using Nodes = std::vector<const ggml_tensor *>;

bool is_unary(const ggml_tensor *t, ggml_unary_op op) {
    return t && t->op == GGML_OP_UNARY && ggml_get_unary_op(t) == op;
}

bool has(const Nodes &nodes, const ggml_tensor *t) {
    return std::find(nodes.begin(), nodes.end(), t) != nodes.end();
}

// The first node behind `at` for which this holds; null if none is near.
template <class Is> const ggml_tensor *behind(const ggml_cgraph *graph, int at, const Is &is) {
    for (int i = at + 1; i < std::min(graph->n_nodes, at + near); i++)
        if (is(graph->nodes[i]))
            return graph->nodes[i];
    return nullptr;
}

bool is_before(const ggml_cgraph *graph, int at, const ggml_tensor *node) {
    for (int i = at - 1; i >= std::max(0, at - near); i--)
        if (graph->nodes[i] == node)
            return true;
    return false;
}

// A state of one sequence as a row of a cache, and where its successor goes.
struct State {
    const ggml_tensor *rows = nullptr, *copy = nullptr; // GET_ROWS, CPY

    bool is_of_one() const {
        return rows && copy && rows->op == GGML_OP_GET_ROWS && is_f32(rows) &&
               is_f32(rows->src[0]) && rows->ne[1] * rows->ne[2] * rows->ne[3] == 1 &&
               ggml_is_contiguous(copy->src[1]) && ggml_nelements(copy->src[1]) == rows->ne[0] &&
               is_f32(copy);
    }
    const float *before() const { return static_cast<const float *>(rows->src[0]->data); }
    float *after() const { return static_cast<float *>(copy->src[1]->data); }
};

// Queries or keys of one length: x / sqrt(sum of x^2 + eps).
struct Unit {
    const ggml_tensor *scaled = nullptr, *norm = nullptr;

    explicit Unit(const ggml_tensor *of) : scaled(of), norm(of->src[0]) {}
    bool is() const {
        return scaled->op == GGML_OP_SCALE && norm->op == GGML_OP_RMS_NORM &&
               std::fabs(parameter<float>(scaled, 0) * std::sqrt(float(norm->ne[0])) - 1) < 1e-6f &&
               parameter<float>(scaled, 1) == 0;
    }
    float eps() const { return parameter<float>(norm, 0) * static_cast<float>(norm->ne[0]); }
    const ggml_tensor *x() const { return norm->src[0]; }
};

struct Layer {
    const ggml_tensor *inputs = nullptr, *conv = nullptr, *mixed = nullptr, *rule = nullptr;
    const ggml_tensor *decay = nullptr, *softplus = nullptr, *sum = nullptr, *beta = nullptr;
    const ggml_tensor *norm = nullptr, *weighted = nullptr, *gate = nullptr, *result = nullptr;
    const ggml_tensor *q = nullptr, *q_norm = nullptr, *k = nullptr, *k_norm = nullptr;
    State convs, states;

    const ggml_tensor *x() const { return inputs->src[1]; }
    Nodes all() const {
        return {inputs, conv,   mixed,      rule,       decay,       softplus,   sum,
                beta,   norm,   weighted,   gate,       result,      q,          q_norm,
                k,      k_norm, convs.rows, convs.copy, states.rows, states.copy};
    }
    // That the launches read, beside states and weights.
    Nodes read() const { return {x(), sum->src[0], beta->src[0], gate->src[0]}; }
};

bool find_convolution(const ggml_cgraph *graph, int at, Layer &out) {
    out.inputs = graph->nodes[at];
    if (out.inputs->op != GGML_OP_CONCAT || parameter<int32_t>(out.inputs, 0) != 0 ||
        !is_f32(out.inputs) || out.inputs->ne[2] * out.inputs->ne[3] != 1)
        return false;
    out.convs.rows = root_of(out.inputs->src[0]);
    out.convs.copy = behind(graph, at, [&](const ggml_tensor *t) {
        return t->op == GGML_OP_CPY && root_of(t->src[0]) == out.inputs;
    });
    out.conv = behind(graph, at, [&](const ggml_tensor *t) {
        return t->op == GGML_OP_SSM_CONV && t->src[0] == out.inputs;
    });
    out.mixed = behind(graph, at, [&](const ggml_tensor *t) {
        return is_unary(t, GGML_UNARY_OP_SILU) && t->src[0] == out.conv;
    });
    if (!out.conv || !out.mixed || !out.convs.is_of_one() ||
        !ggml_is_contiguous(out.conv->src[1]) || out.x()->nb[1] != sizeof(float))
        return false;
    const ggml_tensor *const last = out.convs.copy->src[0]; // the last inputs of each channel
    return last->view_offs == sizeof(float) * static_cast<std::size_t>(out.x()->ne[0]) &&
           last->nb[1] == out.inputs->nb[1] && last->ne[0] == out.inputs->src[0]->ne[0];
}

bool find_gates(Layer &out) {
    out.decay = root_of(out.rule->src[3]);
    if (out.decay->op != GGML_OP_MUL || !is_unary(out.decay->src[0], GGML_UNARY_OP_SOFTPLUS))
        return false;
    out.softplus = out.decay->src[0];
    out.sum = out.softplus->src[0];
    out.beta = root_of(out.rule->src[4]);
    const auto has_one_each = [&](const ggml_tensor *w) {
        return is_f32(w) && ggml_is_contiguous(w) && ggml_nelements(w) == out.rule->src[2]->ne[1];
    };
    return out.sum->op == GGML_OP_ADD && has_one_each(out.sum->src[1]) &&
           has_one_each(out.decay->src[1]) && is_f32(out.sum->src[0]) &&
           ggml_is_contiguous(out.sum->src[0]) && is_unary(out.beta, GGML_UNARY_OP_SIGMOID) &&
           is_f32(out.beta->src[0]) && ggml_is_contiguous(out.beta->src[0]);
}

bool find_rule(const ggml_cgraph *graph, int at, Layer &out) {
    out.rule = behind(graph, at, [&](const ggml_tensor *t) {
        return t->op == GGML_OP_GATED_DELTA_NET && root_of(t->src[2]) == out.mixed;
    });
    if (!out.rule || parameter<int32_t>(out.rule, 0) != 1 || out.rule->src[2]->ne[3] != 1)
        return false;
    out.states.rows = root_of(out.rule->src[5]);
    out.states.copy = behind(graph, at, [&](const ggml_tensor *t) {
        return t->op == GGML_OP_CPY && root_of(t->src[0]) == out.rule;
    });
    const Unit q(out.rule->src[0]), k(out.rule->src[1]);
    if (!out.states.is_of_one() || !q.is() || !k.is() || q.eps() != k.eps() ||
        root_of(q.x()) != out.mixed || root_of(k.x()) != out.mixed)
        return false;
    out.q = q.scaled, out.q_norm = q.norm, out.k = k.scaled, out.k_norm = k.norm;
    const ggml_tensor *const v = out.rule->src[2], *const after = out.states.copy->src[0];
    const int64_t d = v->ne[0];
    return ggml_nelements(after) == d * d * v->ne[1] &&
           after->view_offs == sizeof(float) * static_cast<std::size_t>(d * ggml_nrows(v)) &&
           find_gates(out);
}

bool find_result(const ggml_cgraph *graph, int at, Layer &out) {
    const int64_t d = out.rule->src[2]->ne[0];
    out.norm = behind(graph, at, [&](const ggml_tensor *t) {
        return t->op == GGML_OP_RMS_NORM && root_of(t->src[0]) == out.rule;
    });
    out.weighted = behind(graph, at, [&](const ggml_tensor *t) {
        return t->op == GGML_OP_MUL && t->src[0] == out.norm;
    });
    if (!out.norm || !out.weighted || out.norm->src[0]->view_offs || out.norm->ne[0] != d)
        return false;
    const ggml_tensor *const w = out.weighted->src[1];
    out.result = behind(graph, at, [&](const ggml_tensor *t) {
        return t->op == GGML_OP_MUL && t->src[0] == out.weighted;
    });
    if (!out.result || !is_f32(w) || !ggml_is_contiguous(w) || ggml_nelements(w) != d)
        return false;
    out.gate = out.result->src[1];
    return is_unary(out.gate, GGML_UNARY_OP_SILU) && is_f32(out.gate) &&
           ggml_are_same_shape(out.gate, out.result) && ggml_is_contiguous(out.gate->src[0]) &&
           ggml_is_contiguous(out.result);
}

// Whether nobody else reads what the launches leave out, and the result's memory is free from the
// convolution on.
bool may_fuse(const ggml_cgraph *graph, int at, const Layer &layer) {
    const Nodes all = layer.all();
    bool made = false; // the result, at its place in the graph
    for (int i = at; i < graph->n_nodes && i < at + 2 * near; i++) {
        const ggml_tensor *const node = graph->nodes[i];
        made = made || node == layer.result;
        if (has(all, node) || computes_nothing(node))
            continue;
        for (const ggml_tensor *const source : node->src)
            if (source && root_of(source) != layer.result && has(all, root_of(source)))
                return false;
            else if (source && !made && overlap(source, layer.result))
                return false;
        if (!made && overlap(node, layer.result))
            return false;
    }
    const auto is_output = [](const ggml_tensor *t) { return t->flags & GGML_TENSOR_FLAG_OUTPUT; };
    const auto is_ready = [&](const ggml_tensor *t) { return is_before(graph, at, root_of(t)); };
    const Nodes read = layer.read();
    return made && std::none_of(all.begin(), all.end(), is_output) &&
           std::all_of(read.begin(), read.end(), is_ready);
}

std::optional<Layer> layer_at(const ggml_cgraph *graph, int concat) {
    Layer out;
    if (find_convolution(graph, concat, out) && find_rule(graph, concat, out) &&
        find_result(graph, concat, out) && may_fuse(graph, concat, out))
        return out;
    return {};
}

const float *floats(const ggml_tensor *t) { return static_cast<const float *>(t->data); }

nw_status launch_convolution(Queue &queue, const Layer &layer, float *mixed) {
    const ggml_tensor *const x = layer.x(), *const w = layer.conv->src[1];
    nw_conv_state_op out = nw_conv_state_op NW_CONV_STATE_OP_INIT;
    out.taps = size(w, 0), out.silu = 1;
    out.n = size(x, 1), out.tokens = size(x, 0);
    out.states = size(layer.convs.rows->src[0], 1);
    out.x = floats(x), out.x_stride = x->nb[0];
    out.w = floats(w);
    out.state = layer.convs.before(), out.state_stride = layer.convs.rows->src[0]->nb[1];
    out.idx = static_cast<const int32_t *>(layer.convs.rows->src[1]->data);
    out.new_state = layer.convs.after();
    out.y = mixed, out.y_stride = sizeof(float) * out.n;
    return nw_conv_state(queue.device.context.get(), &out, queue.stream);
}

// Where the launches leave what only they read: results of the convolution, and a copy of the
// index.
struct Scratch {
    explicit Scratch(const Queue &queue)
        : index(reinterpret_cast<int32_t *>(static_cast<char *>(queue.workspace) + counters)),
          mixed(reinterpret_cast<float *>(index) + line / sizeof(float)) {}

    int32_t *index;
    float *mixed;
};

// The last layer reads the index last, so its memory may be the result's.
const int32_t *index_of(Queue &queue, const Layer &layer, const Scratch &scratch) {
    const ggml_tensor *const index = layer.states.rows->src[1];
    if (!overlap(index, layer.result))
        return static_cast<const int32_t *>(index->data);
    const bool copied =
        succeeded(hip().hipMemcpyAsync(scratch.index, index->data, sizeof *scratch.index,
                                       hipMemcpyDeviceToDevice, queue.stream),
                  "hipMemcpyAsync");
    return copied ? scratch.index : nullptr;
}

nw_gated_delta_op rule_of(const Layer &layer, const float *mixed, const int32_t *index) {
    const ggml_tensor *const q = layer.q_norm->src[0], *const k = layer.k_norm->src[0];
    const ggml_tensor *const v = layer.rule->src[2];
    const auto part = [&](const ggml_tensor *t) { return mixed + t->view_offs / sizeof(float); };
    nw_gated_delta_op out = nw_gated_delta_op NW_GATED_DELTA_OP_INIT;
    out.d = size(v, 0), out.h = size(v, 1), out.hk = size(q, 1), out.tokens = size(v, 2);
    out.states = size(layer.states.rows->src[0], 1);
    out.scale = 1 / std::sqrt(static_cast<float>(out.d));
    out.q = part(q), out.q_h = q->nb[1], out.q_s = q->nb[2];
    out.k = part(k), out.k_h = k->nb[1], out.k_s = k->nb[2];
    out.v = part(v), out.v_h = v->nb[1], out.v_s = v->nb[2];
    out.unit_eps = Unit(layer.q).eps();
    out.g = floats(layer.sum->src[0]), out.dt = floats(layer.sum->src[1]);
    out.a = floats(layer.decay->src[1]), out.beta = floats(layer.beta->src[0]);
    out.state = layer.states.before(), out.state_stride = layer.states.rows->src[0]->nb[1];
    out.idx = index, out.new_state = layer.states.after();
    out.o = static_cast<float *>(layer.result->data);
    out.o_h = sizeof(float) * out.d, out.o_s = out.o_h * out.h;
    out.z = floats(layer.gate->src[0]), out.z_h = out.o_h, out.z_s = out.o_s;
    out.norm = floats(layer.weighted->src[1]), out.norm_eps = parameter<float>(layer.norm, 0);
    return out;
}

// False if the library refuses the rule: that is tried without a launch, before the convolution
// replaces its state.
bool launch_layer(Queue &queue, const Layer &layer) {
    nw_context *const context = queue.device.context.get();
    const Scratch scratch(queue);
    const int32_t *const index = index_of(queue, layer, scratch);
    if (!index)
        return false;
    const nw_gated_delta_op rule = rule_of(layer, scratch.mixed, index);
    const auto load = [&] { return nw_gated_delta_net_prepare(context, &rule); };
    const auto launch = [&](void *stream) { return nw_gated_delta_net(context, &rule, stream); };
    const std::lock_guard lock(queue.device.rehearsing);
    return rehearse(queue.device, load, launch).empty() &&
           launch_convolution(queue, layer, scratch.mixed) == NW_OK &&
           launch(queue.stream) == NW_OK;
}

} // namespace

uint64_t scratch_of(const ggml_tensor *node) {
    return node->op == GGML_OP_SSM_CONV ? counters + line + ggml_nbytes(node) : 0;
}

int fuse_state_rows(Queue &queue, const ggml_cgraph *graph, int first) {
    const ggml_tensor *const rows = graph->nodes[first];
    for (int i = first + 1; i < std::min(graph->n_nodes, first + near); i++)
        if (graph->nodes[i]->op == GGML_OP_CONCAT) {
            const std::optional<Layer> layer = layer_at(graph, i);
            if (!layer || layer->convs.rows != rows)
                return 0;
            queue.postponed = rows;
            return 1;
        }
    return 0;
}

int fuse_delta(Queue &queue, const ggml_cgraph *graph, int first) {
    const std::optional<Layer> layer = layer_at(graph, first);
    if (!layer || !launch_layer(queue, *layer))
        return 0;
    queue.postponed = nullptr;
    for (const ggml_tensor *const node : layer->all())
        if (node != layer->inputs && node != layer->convs.rows)
            queue.done.insert(node);
    return 1;
}

} // namespace nw::engine
