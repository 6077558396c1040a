// SPDX-License-Identifier: MIT
#pragma once
#include "capi/context.h"

namespace nw::api {

// The word of a type by ggml's number; throws Refusal for one without kernels.
u64 gguf_type_of(i32 type);

// What all products of experts with GGUF weights have, of either type of activations.
template <class Product> Op gguf_experts_op(OpKind kind, const Product &p) {
    Op op{.kind = kind};
    op.type = gguf_type_of(p.type);
    op.n = p.n;
    op.k = p.k;
    op.experts = p.experts;
    op.slots = p.slots;
    op.top_k = p.top_k;
    op.w = address(p.w);
    op.w_expert = p.w_expert;
    op.expert_ids = address(p.expert_ids);
    op.c = address(p.c);
    op.workspace = address(p.workspace);
    op.workspace_bytes = p.workspace_bytes;
    return op;
}

} // namespace nw::api
