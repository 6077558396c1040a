// SPDX-License-Identifier: MIT
// Layers of decoders at one token or a few, at the sizes of known models, with nodes in llama.cpp's
// order. Memory of nodes is ggml's allocator's, so it is reused as in llama.cpp.
#pragma once
#include <ggml-alloc.h>
#include <ggml-backend-impl.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "sizes.h"

// As ggml's scheduler does it before memory is allocated; what it passes differs by version.
inline void keep_none(void *, ggml_tensor *, ggml_tensor *) {}
template <class Params>
void put_in_order(ggml_backend_t backend, ggml_cgraph *graph,
                  void (*optimize)(ggml_backend_t, ggml_cgraph *, Params *)) {
    Params none{keep_none, nullptr};
    if (optimize)
        optimize(backend, graph, &none);
}
inline void put_in_order(ggml_backend_t backend, ggml_cgraph *graph,
                         void (*optimize)(ggml_backend_t, ggml_cgraph *)) {
    if (optimize)
        optimize(backend, graph);
}

// Versions differ in the last parameter, the number of states to keep.
inline ggml_tensor *delta_rule(ggml_tensor *(*op)(ggml_context *, ggml_tensor *, ggml_tensor *,
                                                  ggml_tensor *, ggml_tensor *, ggml_tensor *,
                                                  ggml_tensor *, int64_t),
                               ggml_context *to, ggml_tensor *q, ggml_tensor *k, ggml_tensor *v,
                               ggml_tensor *g, ggml_tensor *beta, ggml_tensor *state) {
    return op(to, q, k, v, g, beta, state, 1);
}
inline ggml_tensor *delta_rule(ggml_tensor *(*op)(ggml_context *, ggml_tensor *, ggml_tensor *,
                                                  ggml_tensor *, ggml_tensor *, ggml_tensor *,
                                                  ggml_tensor *),
                               ggml_context *to, ggml_tensor *q, ggml_tensor *k, ggml_tensor *v,
                               ggml_tensor *g, ggml_tensor *beta, ggml_tensor *state) {
    return op(to, q, k, v, g, beta, state);
}

class Decoder {
public:
    static constexpr int64_t cells = 512;

    // last: with norm and product of the vocabulary. more: values and down have the type that
    // llama.cpp's mixes like Q4_K_M give to half of the layers.
    Decoder(ggml_backend_t backend, const Sizes &s, int64_t layers, bool last, int64_t tokens = 1,
            bool more = false)
        : s_(s), tokens_(tokens), more_(more ? GGML_TYPE_Q6_K : more_bits_of(s)) {
        ggml_context *const out = nodes_.get();
        x = ggml_new_tensor_2d(out, GGML_TYPE_F32, s.width, tokens);
        at = ggml_new_tensor_1d(out, GGML_TYPE_I64, tokens);
        positions = ggml_new_tensor_1d(out, GGML_TYPE_I32, (s.gated ? 4 : 1) * tokens);
        states = ggml_new_tensor_1d(out, GGML_TYPE_I32, 1);
        mask = ggml_new_tensor_4d(out, GGML_TYPE_F16, cells, tokens, 1, 1);
        for (ggml_tensor *input : {x, at, positions, mask, states})
            ggml_set_input(input);
        graph = ggml_new_graph_custom(out, 8192, false);
        y = x;
        for (int64_t i = 0; i < layers; i++)
            y = layer(y);
        if (last)
            y = by(s.width, s.vocabulary, norm(y, s.width),
                   s.width % 256 ? GGML_TYPE_Q8_0 : GGML_TYPE_Q6_K);
        ggml_set_output(y);
        ggml_build_forward_expand(graph, y);
        put_in_order(backend, graph, backend->iface.graph_optimize);
        ggml_backend_buffer_type_t const type = ggml_backend_get_default_buffer_type(backend);
        memory_.reset(ggml_backend_alloc_ctx_tensors(weights_.get(), backend));
        ggml_backend_buffer_set_usage(memory_.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        ggml_backend_buffer_clear(memory_.get(), 0);
        allocator_.reset(ggml_gallocr_new(type));
        ready = ggml_gallocr_alloc_graph(allocator_.get(), graph);
        if (!ready)
            return;
        place(7);
        for (ggml_tensor *input : {x, mask, states})
            if (input->buffer)
                ggml_backend_tensor_memset(input, 0, 0, ggml_nbytes(input));
    }

    // The first token's place in the cache; the others follow.
    void place(int32_t first) const {
        if (states->buffer)
            ggml_backend_tensor_memset(states, 0, 0, ggml_nbytes(states));
        for (int32_t i = 0; i < tokens_; i++) {
            const int32_t position = first + i;
            const int64_t row = position;
            const auto n = static_cast<std::size_t>(i);
            if (!at->buffer)
                continue; // no input of this graph
            ggml_backend_tensor_set(at, &row, n * sizeof row, sizeof row);
            for (std::size_t part = 0; part < (s_.gated ? 4u : 1u); part++)
                ggml_backend_tensor_set(positions, &position,
                                        (part * static_cast<std::size_t>(tokens_) + n) *
                                            sizeof position,
                                        sizeof position);
        }
    }

    // Inputs of the next token, queued as ggml's scheduler queues them; the last one's result is
    // waited for.
    void next(ggml_backend_t backend, int32_t position) const {
        ggml_backend_synchronize(backend);
        const std::vector<std::byte> zeros(ggml_nbytes(x) + ggml_nbytes(mask));
        std::vector<int64_t> rows(static_cast<std::size_t>(tokens_));
        std::iota(rows.begin(), rows.end(), position);
        std::vector<int32_t> places;
        for (int part = 0; part < (s_.gated ? 4 : 1); part++)
            places.insert(places.end(), rows.begin(), rows.end());
        const int32_t first = 0;
        const auto set = [&](ggml_tensor *to, const void *from) {
            if (to->buffer) // an input of this graph
                ggml_backend_tensor_set_async(backend, to, from, 0, ggml_nbytes(to));
        };
        set(x, zeros.data()), set(mask, zeros.data());
        set(positions, places.data()), set(at, rows.data()), set(states, &first);
        ggml_backend_synchronize(backend);
    }

    // Nodes that compute something.
    int count() const {
        int out = 0;
        for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
            const ggml_op op = ggml_graph_node(graph, i)->op;
            out += op != GGML_OP_VIEW && op != GGML_OP_RESHAPE && op != GGML_OP_PERMUTE;
        }
        return out;
    }
    ggml_context *weights() const { return weights_.get(); }

    ggml_tensor *x, *at, *positions, *mask, *states, *y;
    ggml_cgraph *graph;
    std::vector<ggml_tensor *> kept; // states that tokens read and write
    bool ready = false;

private:
    ggml_context *own() const { return nodes_.get(); }
    ggml_tensor *norm(ggml_tensor *of, int64_t n) {
        return ggml_mul(own(), ggml_rms_norm(own(), of, 1e-6f), weights_of(n));
    }
    ggml_tensor *by(int64_t in, int64_t out, ggml_tensor *of, ggml_type type) {
        return ggml_mul_mat(own(), ggml_new_tensor_2d(weights_.get(), type, in, out), of);
    }
    ggml_tensor *by(int64_t in, int64_t out, ggml_tensor *of) { return by(in, out, of, s_.type); }
    ggml_tensor *weights_of(int64_t n) {
        return ggml_new_tensor_1d(weights_.get(), GGML_TYPE_F32, n);
    }
    ggml_tensor *biased(ggml_tensor *of) {
        return s_.biases ? ggml_add(own(), of, weights_of(of->ne[0])) : of;
    }
    bool is_oss() const { return s_.biases && s_.experts; }
    ggml_tensor *rotated(ggml_tensor *of, int64_t n) {
        ggml_tensor *split = ggml_reshape_3d(own(), of, of->ne[0] / n, n, tokens_);
        if (split->ne[0] > s_.head)
            split = ggml_view_3d(own(), of, s_.head, n, tokens_, split->nb[1], split->nb[2], 0);
        if (s_.head_norms)
            split = norm(split, s_.head);
        if (s_.gated) {
            const auto quarter = static_cast<int>(s_.head / 4), third = quarter / 6;
            int sections[GGML_MROPE_SECTIONS] = {quarter / 2 - 2 * third, third, third, 0};
            return ggml_rope_multi(own(), split, positions, nullptr, quarter, sections,
                                   GGML_ROPE_TYPE_IMROPE, 4096, 1e6f, 1, 0, 1, 32, 1);
        }
        const int mode = s_.head_norms || s_.biases ? GGML_ROPE_TYPE_NEOX : GGML_ROPE_TYPE_NORMAL;
        return ggml_rope_ext(own(), split, positions, nullptr, static_cast<int>(s_.head), mode,
                             4096, 1e6f, 1, 0, 1, 32, 1);
    }
    ggml_tensor *attention(ggml_tensor *n) {
        const int64_t keys = s_.head * s_.key_heads;
        ggml_tensor *const q = biased(by(s_.width, (s_.gaps ? 2 : 1) * s_.head * s_.heads, n)),
                           *const k = biased(by(s_.width, keys, n)),
                           *const v = biased(by(s_.width, keys, n, more_));
        ggml_tensor *const turned_q = rotated(q, s_.heads), *const turned_k =
                                                                rotated(k, s_.key_heads);
        for (ggml_tensor *one : {turned_q, v, turned_k})
            ggml_build_forward_expand(graph, one);
        ggml_tensor *const rows[] = {turned_k,
                                     ggml_reshape_3d(own(), v, s_.head, s_.key_heads, tokens_)};
        ggml_tensor *views[2];
        for (int i = 0; i < 2; i++) {
            ggml_tensor *const cache =
                ggml_new_tensor_2d(weights_.get(), GGML_TYPE_F16, keys, cells);
            ggml_tensor *const row = ggml_view_2d(own(), rows[i], keys, tokens_, rows[i]->nb[2], 0);
            ggml_build_forward_expand(graph, ggml_set_rows(own(), cache, row, at));
            views[i] = ggml_view_3d(own(), cache, s_.head, cells, s_.key_heads, cache->nb[1],
                                    2 * static_cast<std::size_t>(s_.head), 0);
        }
        ggml_tensor *const out =
            ggml_flash_attn_ext(own(), ggml_permute(own(), turned_q, 0, 2, 1, 3), views[0],
                                views[1], mask, 1 / std::sqrt(static_cast<float>(s_.head)), 0, 0);
        if (is_oss())
            ggml_flash_attn_ext_add_sinks(out, weights_of(s_.heads));
        ggml_tensor *result = ggml_reshape_2d(own(), out, s_.head * s_.heads, tokens_);
        if (s_.gated)
            result = ggml_mul(own(), result, ggml_sigmoid(own(), gate_of(q)));
        ggml_tensor *const o = by(s_.head * s_.heads, s_.width, result);
        return is_oss() ? biased(o) : o;
    }
    // The gates lie between the queries.
    ggml_tensor *gate_of(ggml_tensor *q) {
        const std::size_t head = sizeof(float) * static_cast<std::size_t>(s_.head);
        ggml_tensor *const view =
            ggml_view_3d(own(), q, s_.head, s_.heads, tokens_, 2 * head, q->nb[1], head);
        return ggml_cont_2d(own(), view, s_.head * s_.heads, tokens_);
    }

    // llama.cpp: build_rs, of one sequence. Parts for others have no elements.
    ggml_tensor *state_of(ggml_tensor *all) {
        kept.push_back(all);
        ggml_build_forward_expand(graph,
                                  ggml_scale_inplace(own(), ggml_view_1d(own(), all, 0, 0), 0));
        ggml_tensor *const own_state = ggml_get_rows(own(), all, ggml_view_1d(own(), states, 1, 0));
        ggml_build_forward_expand(graph, own_state);
        ggml_tensor *const others = ggml_get_rows(own(), all, ggml_view_1d(own(), states, 0, 4));
        ggml_tensor *const to = ggml_view_2d(own(), all, all->ne[0], 0, all->nb[1], all->nb[1]);
        ggml_build_forward_expand(graph, ggml_cpy(own(), others, to));
        return own_state;
    }
    void keep(ggml_tensor *state, ggml_tensor *all) {
        ggml_build_forward_expand(
            graph, ggml_cpy(own(), state, ggml_view_2d(own(), all, all->ne[0], 1, all->nb[1], 0)));
    }
    // x / sqrt(sum of x^2 + eps)
    ggml_tensor *of_one_length(ggml_tensor *of) {
        const auto n = static_cast<float>(of->ne[0]);
        return ggml_scale(own(), ggml_rms_norm(own(), of, 1e-6f / n), 1 / std::sqrt(n));
    }
    // llama.cpp: build_layer_attn_linear of qwen35
    ggml_tensor *delta(ggml_tensor *n) {
        constexpr int64_t d = 128, taps = 4;
        constexpr std::size_t head = sizeof(float) * d;
        const int64_t h = s_.delta_heads, hk = h / 3;
        const ggml_type type = s_.mixed == GGML_TYPE_COUNT ? s_.type : s_.mixed;
        ggml_tensor *const qkv = by(s_.width, s_.channels(), n, type), *const z =
                                                                           by(s_.width, h * d, n);
        ggml_tensor *const beta =
            ggml_sigmoid(own(), ggml_reshape_4d(own(), by(s_.width, h, n), 1, h, tokens_, 1));
        ggml_tensor *const alpha = ggml_reshape_3d(own(), by(s_.width, h, n), h, tokens_, 1);
        ggml_tensor *const a = ggml_set_name(weights_of(h), "decay");
        ggml_tensor *const decay =
            ggml_mul(own(), ggml_softplus(own(), ggml_add(own(), alpha, weights_of(h))), a);
        ggml_tensor *const convs =
            ggml_new_tensor_2d(weights_.get(), GGML_TYPE_F32, (taps - 1) * s_.channels(), 1);
        ggml_tensor *const all = ggml_new_tensor_2d(weights_.get(), GGML_TYPE_F32, h * d * d, 1);
        ggml_tensor *const before =
            ggml_reshape_3d(own(), state_of(convs), taps - 1, s_.channels(), 1);
        ggml_tensor *const now =
            ggml_transpose(own(), ggml_reshape_3d(own(), qkv, s_.channels(), tokens_, 1));
        ggml_tensor *const inputs = ggml_concat(own(), before, now, 0);
        keep(ggml_view_3d(own(), inputs, taps - 1, s_.channels(), 1, inputs->nb[1], inputs->nb[2],
                          sizeof(float) * static_cast<std::size_t>(tokens_)),
             convs);
        ggml_tensor *const state = ggml_reshape_4d(own(), state_of(all), d, d, h, 1);
        ggml_tensor *const mixed = ggml_silu(
            own(),
            ggml_ssm_conv(own(), inputs,
                          ggml_new_tensor_2d(weights_.get(), GGML_TYPE_F32, taps, s_.channels())));
        const auto part = [&](int64_t heads, int64_t first) {
            return ggml_view_4d(own(), mixed, d, heads, tokens_, 1, head, mixed->nb[1],
                                mixed->nb[2], head * static_cast<std::size_t>(first));
        };
        ggml_tensor *const q = of_one_length(part(hk, 0)), *const k = of_one_length(part(hk, hk));
        ggml_tensor *const all_results =
            delta_rule(ggml_gated_delta_net, own(), q, k, part(h, 2 * hk),
                       ggml_reshape_4d(own(), decay, 1, h, tokens_, 1), beta, state);
        ggml_tensor *const o = ggml_view_4d(own(), all_results, d, h, tokens_, 1, head,
                                            head * static_cast<std::size_t>(h),
                                            head * static_cast<std::size_t>(h * tokens_), 0);
        keep(ggml_view_4d(own(), all_results, d, d, h, 1, head, head * d,
                          head * static_cast<std::size_t>(d * h),
                          head * static_cast<std::size_t>(h * tokens_)),
             all);
        ggml_tensor *const gate = ggml_silu(own(), ggml_reshape_4d(own(), z, d, h, tokens_, 1));
        ggml_tensor *const result = ggml_mul(own(), norm(o, d), gate);
        return ggml_reshape_2d(
            own(), by(h * d, s_.width, ggml_reshape_3d(own(), result, h * d, tokens_, 1)), s_.width,
            tokens_);
    }
    ggml_tensor *dense(ggml_tensor *n) {
        ggml_tensor *const up = by(s_.width, s_.wide, n), *const gate = by(s_.width, s_.wide, n);
        ggml_build_forward_expand(graph, up);
        return by(s_.wide, s_.width, ggml_swiglu_split(own(), gate, up), more_);
    }
    ggml_tensor *by_experts(int64_t in, int64_t out, ggml_tensor *of, ggml_tensor *chosen,
                            ggml_type type) {
        ggml_tensor *const w = ggml_new_tensor_3d(
            weights_.get(), is_oss() && type == GGML_TYPE_Q8_0 ? GGML_TYPE_MXFP4 : type, in, out,
            s_.experts);
        ggml_tensor *const y = ggml_mul_mat_id(own(), w, of, chosen);
        if (!is_oss())
            return y;
        ggml_tensor *const bias =
            ggml_new_tensor_2d(weights_.get(), GGML_TYPE_F32, out, s_.experts);
        return ggml_add_id(own(), y, bias, chosen);
    }
    // Experts that a router chooses, and their weights.
    struct Choice {
        ggml_tensor *experts, *weights;
    };
    Choice choice(ggml_tensor *n) {
        ggml_tensor *logits = by(s_.width, s_.experts, n, GGML_TYPE_F32);
        if (s_.biased)
            logits = ggml_add(own(), logits, weights_of(s_.experts));
        ggml_tensor *const p = ggml_soft_max(own(), logits);
        ggml_tensor *const chosen = ggml_argsort_top_k(own(), p, static_cast<int>(s_.used));
        ggml_tensor *weights =
            ggml_get_rows(own(), ggml_reshape_3d(own(), p, 1, s_.experts, tokens_), chosen);
        weights = ggml_reshape_2d(own(), weights, s_.used, tokens_);
        ggml_tensor *const sum =
            ggml_clamp(own(), ggml_sum_rows(own(), weights), 6.103515625e-5f, INFINITY);
        return {chosen, ggml_reshape_3d(own(), ggml_div(own(), weights, sum), 1, s_.used, tokens_)};
    }
    Choice choice_of_oss(ggml_tensor *n) {
        ggml_tensor *const logits = biased(by(s_.width, s_.experts, n, GGML_TYPE_F32));
        ggml_tensor *const chosen = ggml_argsort_top_k(own(), logits, static_cast<int>(s_.used));
        ggml_tensor *const rows =
            ggml_get_rows(own(), ggml_reshape_3d(own(), logits, 1, s_.experts, tokens_), chosen);
        ggml_tensor *const p = ggml_soft_max(own(), ggml_reshape_2d(own(), rows, s_.used, tokens_));
        return {chosen, ggml_reshape_3d(own(), p, 1, s_.used, tokens_)};
    }
    // llama.cpp: llm_graph_context::build_moe_ffn
    ggml_tensor *mixture(ggml_tensor *n) {
        const auto [chosen, weights] = is_oss() ? choice_of_oss(n) : choice(n);
        ggml_build_forward_expand(graph, weights);
        ggml_tensor *const x = ggml_reshape_3d(own(), n, s_.width, 1, tokens_);
        ggml_tensor *const up = by_experts(s_.width, s_.wide, x, chosen, s_.type);
        ggml_tensor *const gate = by_experts(s_.width, s_.wide, x, chosen, s_.type);
        ggml_tensor *const gated = is_oss() ? ggml_swiglu_oai(own(), gate, up, 1.702f, 7.0f)
                                            : ggml_swiglu_split(own(), gate, up);
        ggml_tensor *const all =
            ggml_mul(own(), by_experts(s_.wide, s_.width, gated, chosen, more_), weights);
        ggml_build_forward_expand(graph, all);
        ggml_tensor *out = nullptr;
        ggml_tensor *views[16];
        for (int64_t i = 0; i < s_.used; i++) {
            views[i] = ggml_view_2d(own(), all, s_.width, tokens_, all->nb[2],
                                    static_cast<std::size_t>(i) * all->nb[1]);
            ggml_build_forward_expand(graph, views[i]);
        }
        out = views[0];
        for (int64_t i = 1; i < s_.used; i++)
            ggml_build_forward_expand(graph, out = ggml_add(own(), out, views[i]));
        return s_.shared ? ggml_add(own(), out, by(s_.width, s_.width, n)) : out;
    }
    ggml_tensor *layer(ggml_tensor *in) {
        ggml_tensor *const before = norm(in, s_.width);
        ggml_build_forward_expand(graph, before);
        ggml_tensor *const h =
            ggml_add(own(), s_.delta_heads ? delta(before) : attention(before), in);
        ggml_tensor *const n = norm(h, s_.width);
        return ggml_add(own(), s_.experts ? mixture(n) : dense(n), s_.early ? in : h);
    }

    Sizes s_;
    int64_t tokens_;
    ggml_type more_;
    ggml_context_ptr weights_{ggml_init({4 << 20, nullptr, true})};
    ggml_context_ptr nodes_{ggml_init({16 << 20, nullptr, true})};
    ggml_backend_buffer_ptr memory_;
    ggml_gallocr_ptr allocator_;
};
