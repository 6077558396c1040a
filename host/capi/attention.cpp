// SPDX-License-Identifier: MIT
// Attention in the C API (nibblewave.h).
#include <bit>

#include "capi/context.h"

namespace nw::api {

namespace {

u64 bits_of(f32 value) { return std::bit_cast<u32>(value); }

u64 share_of(f32 share) {
    need(share >= 0 && share <= 1, "share = {}: must be 0 to 1", share);
    return bits_of(share + 0.0f); // -0 is 0
}

u64 score_of(i32 score) {
    switch (score) {
    case NW_SCORE_CANONICAL:
        return word("canonical");
    case NW_SCORE_RAW:
        return word("raw");
    case NW_SCORE_POOLED:
        return word("pooled");
    }
    need(false, "score = {}: must be NW_SCORE_CANONICAL ({}), _RAW ({}) or _POOLED ({})", score,
         int{NW_SCORE_CANONICAL}, int{NW_SCORE_RAW}, int{NW_SCORE_POOLED});
    return word("");
}

u64 rule_of(i32 rule) {
    need(rule == NW_SELECT_PEAK || rule == NW_SELECT_MASS,
         "rule = {}: must be NW_SELECT_PEAK ({}) or NW_SELECT_MASS ({})", rule, int{NW_SELECT_PEAK},
         int{NW_SELECT_MASS});
    return rule == NW_SELECT_PEAK ? word("peak") : word("mass");
}

// i32: the sign of what is neither 0 nor 1 is part of the message.
u64 flag_of(const char *name, i32 value) {
    need(value == 0 || value == 1, "{} = {}: must be 0 or 1", name, value);
    return static_cast<u64>(value);
}

u64 cache_of(i32 kv) {
    switch (kv) {
    case NW_KV_SAME:
        return word("same");
    case NW_KV_Q8_0:
        return word("q8_0");
    case NW_KV_FP8:
        return word("fp8");
    }
    need(false, "kv = {}: must be NW_KV_SAME ({}), NW_KV_Q8_0 ({}) or NW_KV_FP8 ({})", kv,
         int{NW_KV_SAME}, int{NW_KV_Q8_0}, int{NW_KV_FP8});
    return word("");
}

// Kernels check strides of batches, though they do not read those of one batch or of sequences one
// after the other.
void set_strides_of_one(Op &op) {
    if (op.b == 1 || op.q_start)
        op.q_b = op.q_s, op.o_b = op.o_s;
    if ((op.b == 1 || op.k_start) && !op.page)
        op.k_b = op.k_s, op.v_b = op.v_s;
}

// A rule of contracts would need an example of each form.
void need_one_form(const nw_attn &p) {
    need(!p.k_start || !p.page,
         "k_start = {}, page = {}: page_table says where a sequence's keys are, kv_len how many: "
         "k_start must be null",
         static_cast<const void *>(p.k_start), p.page);
}

Op attention_of(const nw_context *context, const nw_attn *p) {
    need_product(context, p, "nw_attn", sizeof *p);
    Op op{.kind = OpKind::attention};
    op.dtype = dtype_of(p->dtype);
    op.causal = flag_of("causal", p->causal);
    op.b = p->b, op.sq = p->sq, op.sk = p->sk;
    op.h = p->h, op.hk = p->hk, op.d = p->d;
    op.q = address(p->q), op.k = address(p->k), op.v = address(p->v), op.o = address(p->o);
    op.q_b = p->q_b, op.q_s = p->q_s, op.q_h = p->q_h;
    op.k_b = p->k_b, op.k_s = p->k_s, op.k_h = p->k_h;
    op.v_b = p->v_b, op.v_s = p->v_s, op.v_h = p->v_h;
    op.o_b = p->o_b, op.o_s = p->o_s, op.o_h = p->o_h;
    op.idx = address(p->idx), op.cnt = address(p->cnt), op.lse = address(p->lse);
    op.kv = cache_of(p->kv);
    op.page = p->page, op.pages = p->page ? p->pages : 1;
    op.q_start = address(p->q_start), op.k_start = address(p->k_start);
    op.tq = p->q_start ? p->tq : 0, op.tk = p->k_start ? p->tk : 0;
    op.kv_len = address(p->kv_len), op.page_table = address(p->page_table);
    op.table_b = p->table_b;
    op.workspace = address(p->workspace);
    op.workspace_bytes = p->workspace_bytes;
    set_strides_of_one(op);
    return op;
}

Op selection_of(const nw_context *context, const nw_attn_select *p) {
    need_product(context, p, "nw_attn_select", sizeof *p);
    Op op{.kind = OpKind::attention_select};
    op.dtype = dtype_of(p->dtype);
    op.mode = score_of(p->score);
    op.rule = rule_of(p->rule);
    op.b = p->b, op.sq = p->sq, op.sk = p->sk, op.h = p->h, op.hk = p->hk, op.d = p->d;
    op.sink = p->sink, op.window = p->window, op.last_full = p->last_full;
    op.q = address(p->q), op.k = address(p->k), op.mean_k = address(p->mean_k);
    op.idx = address(p->idx), op.cnt = address(p->cnt);
    op.q_b = p->q_b, op.q_s = p->q_s, op.q_h = p->q_h;
    op.k_b = p->k_b, op.k_s = p->k_s, op.k_h = p->k_h;
    op.workspace = address(p->workspace);
    op.workspace_bytes = p->workspace_bytes;
    op.scale = any_scale, op.share = 0; // a launch sets its own
    return op;
}

// Every kernel for this type and head, however many queries there are.
void prepare_attention(nw_context &context, Op op) {
    const hip::KeepCurrentDevice keep(context.device);
    op.b = op.sq = op.sk = op.h = op.hk = 1;
    op.causal = 0, op.scale = any_scale;
    op.idx = op.cnt = op.kv_len = op.q_start = op.k_start = op.tq = op.tk = 0;
    load_every(context, op);
}

void prepare_selection(nw_context &context, Op op) {
    const hip::KeepCurrentDevice keep(context.device);
    op.b = op.sq = op.sk = op.h = op.hk = 1;
    op.mean_k = 0;
    load(context, op);
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_attention(nw_context *context, const nw_attn *attention, void *stream) {
    return api::guarded([&] {
        Op op = api::attention_of(context, attention); // context may be null before this
        op.scale = api::scale_of(attention->scale);
        api::need_one_form(*attention);
        api::launch(*context, op, stream, "nw_attention_prepare");
    });
}

nw_status nw_attention_prepare(nw_context *context, const nw_attn *attention) {
    return api::guarded([&] {
        const Op op = api::attention_of(context, attention);
        api::prepare_attention(*context, op);
    });
}

nw_status nw_attention_workspace_size(nw_context *context, const nw_attn *attention,
                                      uint64_t *bytes) {
    return api::bytes_call(bytes, [&] {
        Op op = api::attention_of(context, attention);
        op.scale = api::any_scale;
        return api::workspace_of(*context, op);
    });
}

nw_status nw_attention_select(nw_context *context, const nw_attn_select *selection, void *stream) {
    return api::guarded([&] {
        Op op = api::selection_of(context, selection);
        op.scale = api::scale_of(selection->scale);
        op.share = api::share_of(selection->share);
        if (op.mode != word("pooled"))
            op.all_rows = api::flag_of("all_rows", selection->all_rows);
        api::launch(*context, op, stream, "nw_attention_select_prepare");
    });
}

nw_status nw_attention_select_prepare(nw_context *context, const nw_attn_select *selection) {
    return api::guarded([&] {
        const Op op = api::selection_of(context, selection);
        api::prepare_selection(*context, op);
    });
}

nw_status nw_attention_select_workspace_size(nw_context *context, const nw_attn_select *selection,
                                             uint64_t *bytes) {
    return api::bytes_call(bytes, [&] {
        Op op = api::selection_of(context, selection);
        op.mean_k = 0;
        return api::workspace_of(*context, op);
    });
}
}
