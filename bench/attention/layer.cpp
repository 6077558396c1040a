// SPDX-License-Identifier: MIT
#include "bench/attention/layer.h"

#include <algorithm>
#include <numeric>

#include "base/targets.h"
#include "check/ops.h"
#include "runtime/choose.h"

namespace nw::bench {

namespace {

// Pairs of the listed blocks of tile m; its queries see all of the blocks before their own.
f64 pairs_of(f64 before, u32 rows) {
    return before * attention_block * rows + rows * (rows + 1.0) / 2;
}

} // namespace

f64 seen_pairs(const ContextShape &p) {
    return 1.0 * p.h * p.sq * (p.sk - p.sq + (p.sq + 1.0) / 2);
}

ContextShape slice_of(const Kernel &kernel, const AttentionLayer &of, u32 tokens, bool listed) {
    const u32 at_once = kernel.waves_per_simd * 128 / kernel.block * usual_machine(kernel.gfx).wgps;
    const bool side_by_side = listed && find_target(kernel.gfx)->row_period;
    const u32 workgroups = (side_by_side ? 16 : listed ? 8 : 2) * at_once, group = of.h / of.hk;
    const u32 hk = side_by_side ? of.hk : listed ? std::min(2u, of.hk) : 1;
    const u32 rows =
        round_up(ceil_div(workgroups, hk * group) * kernel.rows_per_workgroup, attention_block);
    if (rows <= tokens / 2)
        return {hk * group, hk, of.d, rows, tokens / 2};
    const u32 of_head = tokens / kernel.rows_per_workgroup * group;
    const u32 all = side_by_side ? of.hk : std::min(of.hk, ceil_div(workgroups, of_head));
    return {all * group, all, of.d, tokens, tokens};
}

BlockLists random_lists(const ContextShape &p, f64 density) {
    Rng rng(1);
    BlockLists out;
    const u32 tiles = p.sq / attention_block, blocks = p.sk / attention_block;
    for (u32 h = 0; h < p.h; ++h)
        for (u32 tile = 0; tile < tiles; ++tile) {
            const u32 diagonal = blocks - tiles + tile;
            const u64 begin = out.idx.size();
            for (u32 n = 0; n < diagonal; ++n)
                if (rng.unit() < density)
                    out.idx.push_back(static_cast<i32>(n));
            out.idx.push_back(static_cast<i32>(diagonal));
            const u64 count = out.idx.size() - begin;
            out.cnt.push_back(static_cast<i32>(count));
            out.idx.resize(begin + blocks, -1);
            out.pairs += pairs_of(static_cast<f64>(count) - 1, attention_block);
        }
    return out;
}

LayerOnDevice::LayerOnDevice(const hip::Device &device, std::string_view gfx, Dtype dtype,
                             const Context &context)
    : device_(device), gfx_(gfx), dtype_(dtype), p_(context.shape), q_words_(context.queries()),
      k_words_(context.keys()), q_(upload(device, q_words_)), k_(upload(device, k_words_)),
      v_(normal_values(device, dtype, k_words_.size(), 7)),
      o_(device.allocate(2 * q_words_.size())),
      mean_(device.allocate(u64{2} * blocks() * p_.hk * p_.d)),
      score_(device.allocate(u64{4} * p_.h * tiles() * blocks())),
      idx_(device.allocate(u64{4} * p_.h * tiles() * blocks())),
      cnt_(device.allocate(u64{4} * p_.h * tiles())), modules_(device) {}

const Kernel &LayerOnDevice::find(std::string_view family, std::string_view rule) const {
    const std::string d = std::to_string(p_.d);
    if (family == "attn_mean")
        return check::default_of(family, gfx_, {{"dtype", name(dtype_)}});
    if (family == "attn_select")
        return check::default_of(family, gfx_, {{"rule", rule}});
    if (family == "attn_score")
        return check::default_of(family, gfx_,
                                 {{"mode", "canonical"}, {"dtype", name(dtype_)}, {"d", d}});
    return check::default_of(family, gfx_, {{"dtype", name(dtype_)}, {"d", d}});
}

Op LayerOnDevice::op(OpKind kind) const {
    Op op = attention_op(dtype_, p_);
    op.kind = kind;
    op.mode = word("canonical"), op.all_rows = 0;
    op.q = address(q_.data()), op.k = address(k_.data()), op.v = address(v_.data());
    op.o = address(o_.data()), op.mean_k = address(mean_.data());
    op.score = address(score_.data());
    return op;
}

Timed LayerOnDevice::mean() {
    Op op = this->op(OpKind::attn_mean);
    op.x = op.k, op.x_b = op.k_b, op.x_s = op.k_s, op.x_h = op.k_h;
    op.mean = op.mean_k, op.tokens = p_.sk, op.h = p_.hk;
    return time_launch(device_, modules_, find("attn_mean"), op);
}

Timed LayerOnDevice::score() {
    return time_launch(device_, modules_, find("attn_score"), op(OpKind::attn_score));
}

Timed LayerOnDevice::select(const Rule &rule) {
    Op op = this->op(OpKind::attention_select);
    op.rule = find_word(rule.rule), op.share = std::bit_cast<u32>(rule.share);
    op.sink = 2, op.window = 4, op.last_full = 0;
    op.idx = address(idx_.data()), op.cnt = address(cnt_.data());
    return time_launch(device_, modules_, find("attn_select", rule.rule), op);
}

Timed LayerOnDevice::forward(bool listed, const ContextShape &heads) {
    Op op = this->op(OpKind::attention);
    op.h = heads.h, op.hk = heads.hk;
    if (listed)
        op.idx = address(idx_.data()), op.cnt = address(cnt_.data());
    return time_launch(device_, modules_, find("attn_forward"), op);
}

void LayerOnDevice::set_lists(const BlockLists &lists) {
    idx_.upload(lists.idx.data(), 4 * lists.idx.size());
    cnt_.upload(lists.cnt.data(), 4 * lists.cnt.size());
}

BlockLists LayerOnDevice::lists() const {
    BlockLists out;
    out.idx.resize(u64{p_.h} * tiles() * blocks());
    out.cnt.resize(u64{p_.h} * tiles());
    idx_.download(out.idx.data(), 4 * out.idx.size());
    cnt_.download(out.cnt.data(), 4 * out.cnt.size());
    for (i32 count : out.cnt)
        out.pairs += pairs_of(count - 1, attention_block);
    return out;
}

} // namespace nw::bench
