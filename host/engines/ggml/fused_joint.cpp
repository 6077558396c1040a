// SPDX-License-Identifier: MIT
// Products of the same rows with several matrices as one launch, as a layer's q, k and v, with
// their biases; of one row also with the norm in front of them. And of several rows those that
// fused_products.cpp has of one row.
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

// Whether the node at `to` may run before all from `from` on that are not of the launch.
bool may_move(const ggml_cgraph *graph, const ggml_tensor *node, int from, int to,
              const std::vector<Member> &members) {
    for (int i = from; i < to; i++) {
        const ggml_tensor *const between = graph->nodes[i];
        const bool own = std::any_of(members.begin(), members.end(), [&](const Member &m) {
            return m.product == between || m.sum == between;
        });
        if (!own && between != node && !computes_nothing(between) && !may_precede(node, between))
            return false;
    }
    return true;
}

// Adds products of the row of the one at `first`, with weights of its type or, `apart`, of another
// one, until there are `most`.
void add_products(std::vector<Member> &out, const ggml_cgraph *graph, int first, bool apart) {
    const ggml_tensor *const lead = graph->nodes[first];
    for (int i = first; i < std::min(graph->n_nodes, first + near) && out.size() < most; i++) {
        const ggml_tensor *const node = graph->nodes[i];
        if (node->op != GGML_OP_MUL_MAT || node->src[1] != lead->src[1] ||
            (node->src[0]->type != lead->src[0]->type) != apart ||
            !(node->flags & GGML_TENSOR_FLAG_COMPUTE) || !is_of_few_rows(node) ||
            !may_move(graph, node, first, i, out))
            continue;
        Member one{node};
        if (const ggml_tensor *const sum = bias_behind(graph, i);
            sum && may_move(graph, sum, first, i, out))
            one.sum = sum;
        out.push_back(one);
    }
}

// The products of the row of the one at `first`: two or three with weights of its type, or two and
// a third with weights of another type.
std::vector<Member> members_from(const ggml_cgraph *graph, int first) {
    std::vector<Member> out;
    add_products(out, graph, first, false);
    if (out.size() == most - 1 && is_of_one_token(graph->nodes[first]))
        add_products(out, graph, first, true);
    return out;
}

// Whether no result shares memory with another, or with the row.
bool are_apart(const std::vector<Member> &members, const ggml_tensor *row) {
    for (std::size_t i = 0; i < members.size(); i++) {
        if (row && overlap(members[i].result(), row))
            return false;
        for (std::size_t j = 0; j < i; j++)
            if (overlap(members[i].result(), members[j].result()))
                return false;
    }
    return true;
}

nw_gguf_joint operand_of(const std::vector<Member> &members) {
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

// Queues them; the nodes behind the first product are passed over when their turn comes. False if
// the library refuses.
bool launch_joint(Queue &queue, nw_gguf_joint &operand, const std::vector<Member> &members) {
    operand.workspace = queue.workspace, operand.workspace_bytes = queue.workspace_bytes;
    if (nw_gguf_joint_linear(queue.device.context.get(), &operand, queue.stream) != NW_OK)
        return false;
    for (const Member &m : members) {
        if (&m != &members[0])
            queue.done.insert(m.product);
        if (m.sum)
            queue.done.insert(m.sum);
    }
    return true;
}

// The product of several rows with one matrix, if it is one.
std::optional<nw_gguf_joint> operand_of(Queue &queue, const ggml_tensor *product) {
    if (!is_of_few_rows(product) || product->ne[1] < 2)
        return {};
    nw_gguf_joint out = operand_of({Member{product}});
    out.a = queue.converted.of(product->src[1]);
    if (!out.a)
        out.x = product->src[1]->data;
    out.workspace = queue.workspace, out.workspace_bytes = queue.workspace_bytes;
    return out;
}

// The nodes, or 0 if the library refuses the launch.
int launched(Queue &queue, const nw_gguf_joint &operand, int nodes) {
    const nw_status status =
        nw_gguf_joint_linear(queue.device.context.get(), &operand, queue.stream);
    return status == NW_OK ? nodes : 0;
}

} // namespace

int fuse_rows_addend(Queue &queue, const ggml_cgraph *graph, int first) {
    const ggml_tensor *const product = graph->nodes[first];
    if (!ggml_can_fuse(graph, first, {GGML_OP_MUL_MAT, GGML_OP_ADD}))
        return 0;
    const ggml_tensor *const sum = graph->nodes[first + 1];
    const ggml_tensor *const addend = operand_beside(sum, product);
    std::optional<nw_gguf_joint> operand = operand_of(queue, product);
    if (!operand || !is_f32(addend) || !ggml_is_contiguous(addend) || !is_f32(sum) ||
        !ggml_is_contiguous(sum) || !ggml_are_same_shape(addend, sum))
        return 0;
    operand->c = static_cast<float *>(sum->data);
    operand->bias = static_cast<const float *>(addend->data);
    operand->bias_stride = sizeof(float) * operand->n;
    return launched(queue, *operand, 2);
}

int fuse_rows_glu(Queue &queue, const ggml_cgraph *graph, int first) {
    const Gated gated = gated_at(graph, first);
    if (!gated)
        return 0;
    std::optional<nw_gguf_joint> operand = operand_of(queue, gated.gate);
    if (!operand || !is_of_few_rows(gated.up))
        return 0;
    operand->act = NW_ACT_SILU;
    operand->n2 = operand->n, operand->w2 = gated.up->src[0]->data;
    operand->c = static_cast<float *>(gated.glu->data);
    return launched(queue, *operand, 3);
}

int fuse_joint(Queue &queue, const ggml_cgraph *graph, int first) {
    if (!is_of_few_rows(graph->nodes[first]))
        return 0;
    std::vector<Member> members = members_from(graph, first);
    const ggml_tensor *const x = graph->nodes[first]->src[1];
    const void *const a = queue.converted.of(x);
    // Without the third one, where the library refuses it.
    for (; members.size() >= 2; members.pop_back()) {
        if (!are_apart(members, a ? nullptr : x))
            continue;
        nw_gguf_joint operand = operand_of(members);
        operand.a = a;
        if (!a)
            operand.x = x->data;
        if (launch_joint(queue, operand, members))
            return 1;
    }
    return 0;
}

int fuse_normed_joint(Queue &queue, const ggml_cgraph *graph, int first) {
    if (first + 2 >= graph->n_nodes || graph->nodes[first + 2]->op != GGML_OP_MUL_MAT ||
        graph->nodes[first + 2]->src[1] != graph->nodes[first + 1] ||
        !is_of_one_token(graph->nodes[first + 2]))
        return 0;
    const std::vector<Member> members = members_from(graph, first + 2);
    const NormedRow normed = normed_row(graph, first, static_cast<int>(members.size()));
    if (members.size() < 2 || !normed || !are_apart(members, normed.x()))
        return 0;
    nw_gguf_joint operand = operand_of(members);
    operand.x = normed.x()->data, operand.norm = normed.weights(), operand.eps = normed.eps();
    return launch_joint(queue, operand, members) ? 3 : 0;
}

} // namespace nw::engine
