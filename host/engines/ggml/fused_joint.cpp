// SPDX-License-Identifier: MIT
// Products of the same rows with several matrices as one launch, as a layer's q, k and v, with
// their biases; of one row also with the norm in front of them. Products of several rows with a
// residual or a gated unit are here, too; fused_products.cpp has those of one row.
#include <ggml-impl.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "engines/ggml/fusion.h"
#include "engines/ggml/gated.h"
#include "engines/ggml/maps.h"
#include "engines/ggml/moves.h"
#include "engines/ggml/one_row.h"
#include "engines/ggml/ops.h"

namespace nw::engine {

namespace {

// A product, and the addition of its bias where it has one.
struct Member {
    const ggml_tensor *product = nullptr, *sum = nullptr;

    const ggml_tensor *result() const { return sum ? sum : product; }
    const float *bias() const {
        return sum ? static_cast<const float *>(operand_beside(sum, product)->data) : nullptr;
    }
};

constexpr int near = 24;        // nodes between the first product and the last
constexpr std::size_t most = 3; // products

// The node's addition of a bias, if nothing else reads the product.
const ggml_tensor *bias_behind(const ggml_cgraph *graph, int at) {
    if (!ggml_can_fuse(graph, at, {GGML_OP_MUL_MAT, GGML_OP_ADD}))
        return nullptr;
    const ggml_tensor *const product = graph->nodes[at], *const sum = graph->nodes[at + 1];
    const ggml_tensor *const bias = operand_beside(sum, product);
    const bool fits = is_f32(bias) && ggml_is_contiguous(bias) && is_f32(sum) &&
                      bias->ne[0] == sum->ne[0] && ggml_nrows(bias) == 1 && ggml_is_contiguous(sum);
    return fits ? sum : nullptr;
}

using Members = std::vector<Member>;

bool has(const Members &members, const ggml_tensor *node) {
    return std::any_of(members.begin(), members.end(),
                       [&](const Member &m) { return m.product == node || m.sum == node; });
}

// Whether the node at `to` may run before all from `from` on that are not of the launches.
bool may_move(const ggml_cgraph *graph, const ggml_tensor *node, int from, int to,
              const Members &own) {
    for (int i = from; i < to; i++) {
        const ggml_tensor *const between = graph->nodes[i];
        if (!has(own, between) && between != node && !computes_nothing(between) &&
            !may_precede(node, between))
            return false;
    }
    return true;
}

// A product of the row that may run at `first`, after those of `taken`.
bool is_beside(const ggml_cgraph *graph, const ggml_tensor *row, int first, int at,
               const Members &taken) {
    const ggml_tensor *const node = graph->nodes[at];
    return node->op == GGML_OP_MUL_MAT && node->src[1] == row && !has(taken, node) &&
           (node->flags & GGML_TENSOR_FLAG_COMPUTE) && is_of_few_rows(node) &&
           may_move(graph, node, first, at, taken);
}

// The product at `at`, with the addition of its bias if that may run beside it.
Member member_at(const ggml_cgraph *graph, int first, int at, const Members &taken) {
    const ggml_tensor *const sum = bias_behind(graph, at);
    return {graph->nodes[at], sum && may_move(graph, sum, first, at, taken) ? sum : nullptr};
}

// Adds products of its row to the launch that begins with taken[begin], with weights of its type
// or, `apart`, of another one, until it has `most`.
void add_products(Members &taken, std::size_t begin, const ggml_cgraph *graph, int first,
                  bool apart) {
    const ggml_tensor *const lead = taken[begin].product;
    const int end = std::min(graph->n_nodes, first + near);
    for (int i = first; i < end && taken.size() < begin + most; i++)
        if (graph->nodes[i]->op == GGML_OP_MUL_MAT &&
            (graph->nodes[i]->src[0]->type != lead->src[0]->type) == apart &&
            is_beside(graph, lead->src[1], first, i, taken))
            taken.push_back(member_at(graph, first, i, taken));
}

// Products of a row as one launch at `first`: the one at `at`, others of its type, and of two a
// third with weights of another type. `taken` are those of launches before it.
Members launch_from(const ggml_cgraph *graph, int first, int at, Members taken) {
    const std::size_t begin = taken.size();
    taken.push_back(member_at(graph, first, at, taken));
    add_products(taken, begin, graph, first, false);
    if (taken.size() == begin + most - 1 && is_of_one_token(graph->nodes[at]))
        add_products(taken, begin, graph, first, true);
    return {taken.begin() + static_cast<std::ptrdiff_t>(begin), taken.end()};
}

// All products of the row that are near, as launches at `first`.
std::vector<Members> launches_of(const ggml_cgraph *graph, const ggml_tensor *row, int first) {
    std::vector<Members> out;
    Members taken;
    for (int i = first; i < std::min(graph->n_nodes, first + near); i++)
        if (is_beside(graph, row, first, i, taken)) {
            out.push_back(launch_from(graph, first, i, taken));
            taken.insert(taken.end(), out.back().begin(), out.back().end());
        }
    return out;
}

// Whether no result shares memory with another, or with the row.
bool are_apart(const Members &members, const ggml_tensor *row) {
    for (std::size_t i = 0; i < members.size(); i++) {
        if (row && overlap(members[i].result(), row))
            return false;
        for (std::size_t j = 0; j < i; j++)
            if (overlap(members[i].result(), members[j].result()))
                return false;
    }
    return true;
}

nw_gguf_joint operand_of(const Members &members) {
    nw_gguf_joint out = NW_GGUF_JOINT_INIT;
    const auto column = [&](std::size_t i) {
        return static_cast<float *>(members[i].result()->data);
    };
    const auto weights = [&](std::size_t i) { return members[i].product->src[0]; };
    out.type = weights(0)->type, out.k = size(weights(0), 0);
    out.m = size(members[0].product, 1);
    out.n = size(weights(0), 1), out.w = weights(0)->data;
    out.c = column(0), out.bias = members[0].bias();
    if (members.size() == 1)
        return out;
    out.n2 = size(weights(1), 1), out.w2 = weights(1)->data;
    out.c2 = column(1), out.bias2 = members[1].bias();
    if (members.size() == most) {
        out.type3 = weights(2)->type;
        out.n3 = size(weights(2), 1), out.w3 = weights(2)->data;
        out.c3 = column(2), out.bias3 = members[2].bias();
    }
    return out;
}

// Nodes that are passed over when their turn comes: all but the one at which they are queued.
void pass_over(Queue &queue, const Members &members, const ggml_tensor *at) {
    for (const Member &m : members) {
        if (m.product != at)
            queue.done.insert(m.product);
        if (m.sum)
            queue.done.insert(m.sum);
    }
}

// False if the library refuses.
bool queue_joint(Queue &queue, nw_gguf_joint &operand) {
    operand.workspace = queue.workspace, operand.workspace_bytes = queue.workspace_bytes;
    return nw_gguf_joint_linear(queue.device.context.get(), &operand, queue.stream) == NW_OK;
}

// A launch of the row at `normed`, with the norm in it. False if the library refuses.
bool queue_normed(Queue &queue, const Members &members, const NormedRow &normed) {
    if (members.size() > 1) {
        nw_gguf_joint operand = operand_of(members);
        operand.x = normed.x()->data, operand.norm = normed.weights(), operand.eps = normed.eps();
        return queue_joint(queue, operand);
    }
    nw_gguf_moe_act operand = operand_of(queue, members[0].product);
    operand.a = nullptr, operand.x = normed.x()->data;
    operand.norm = normed.weights(), operand.eps = normed.eps();
    operand.bias = members[0].bias(), operand.c = members[0].result()->data;
    return launched(queue, operand, 1);
}

// The product of several rows with one matrix, if it is one.
std::optional<nw_gguf_joint> operand_of_rows(Queue &queue, const ggml_tensor *product) {
    if (!is_of_few_rows(product) || product->ne[1] < 2)
        return {};
    nw_gguf_joint out = operand_of({Member{product}});
    out.a = queue.converted.of(product->src[1]);
    if (!out.a)
        out.x = product->src[1]->data;
    return out;
}

} // namespace

int fuse_rows_addend(Queue &queue, const ggml_cgraph *graph, int first) {
    const Sum sum = sum_behind(graph, first);
    std::optional<nw_gguf_joint> operand = operand_of_rows(queue, graph->nodes[first]);
    if (!sum || !operand)
        return 0;
    operand->c = static_cast<float *>(sum.result->data);
    operand->bias = sum.addend, operand->bias_stride = sizeof(float) * operand->n;
    return queue_joint(queue, *operand) ? sum.nodes : 0;
}

int fuse_rows_glu(Queue &queue, const ggml_cgraph *graph, int first) {
    const Gated gated = gated_at(graph, first);
    if (!gated)
        return 0;
    std::optional<nw_gguf_joint> operand = operand_of_rows(queue, gated.gate);
    if (!operand || !is_of_few_rows(gated.up))
        return 0;
    operand->act = NW_ACT_SILU;
    operand->n2 = operand->n, operand->w2 = gated.up->src[0]->data;
    operand->c = static_cast<float *>(gated.glu->data);
    return queue_joint(queue, *operand) ? 3 : 0;
}

int fuse_joint(Queue &queue, const ggml_cgraph *graph, int first) {
    const ggml_tensor *const lead = graph->nodes[first], *const x = lead->src[1];
    if (!is_of_few_rows(lead))
        return 0;
    Members members = launch_from(graph, first, first, {});
    const void *const a = queue.converted.of(x);
    // Without the third one, where the library refuses it.
    for (; members.size() >= 2; members.pop_back()) {
        if (!are_apart(members, a ? nullptr : x))
            continue;
        nw_gguf_joint operand = operand_of(members);
        operand.a = a;
        if (!a)
            operand.x = x->data;
        if (!queue_joint(queue, operand))
            continue;
        pass_over(queue, members, lead);
        return 1;
    }
    return 0;
}

int fuse_normed_joint(Queue &queue, const ggml_cgraph *graph, int first) {
    if (!ggml_can_fuse(graph, first, {GGML_OP_RMS_NORM, GGML_OP_MUL}))
        return 0;
    const std::vector<Members> launches = launches_of(graph, graph->nodes[first + 1], first + 2);
    Members all;
    for (const Members &one : launches)
        all.insert(all.end(), one.begin(), one.end());
    const NormedRow normed = normed_row(graph, first, static_cast<int>(all.size()));
    if (all.empty() || !normed || !are_apart(all, normed.x()))
        return 0;
    // The norm has a launch of its own for those from the first one on that the library refuses.
    for (const Members &one : launches)
        if (queue_normed(queue, one, normed))
            pass_over(queue, one, nullptr);
        else
            return &one == &launches[0] ? 0 : fuse_norm(queue, graph, first);
    return 2;
}

} // namespace nw::engine
