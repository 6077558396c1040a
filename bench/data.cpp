// SPDX-License-Identifier: MIT
#include "bench/data.h"

#include <span>

#include "base/half.h"
#include "base/parallel.h"
#include "formats/packed/row_stride.h"
#include "formats/quantize/int4.h"

namespace nw::bench {

RowLayout layout_for(std::string_view gfx, u32 n, u32 k, u32 group) {
    RowLayout layout = RowLayout::tight(n, k, group);
    layout.w_stride = weight_row_stride(gfx, k);
    return layout;
}

LayerData make_layer(Dtype dtype, const RowLayout &layout, const Rng &rng) {
    LayerData layer{dtype, layout, {}, {}, {}, {}};
    const u32 n = layout.n, k = layout.k, group = layout.group;
    const u64 groups = k / group;
    layer.q.resize(u64{n} * k);
    layer.s.resize(n * groups);
    parallel_for(n, 1 + (1 << 16) / k, [&](u64 begin, u64 end) {
        std::vector<f32> w(
            k); // a row at a time: a whole layer in f32 would be eight times its int4
        for (u64 row = begin; row < end; ++row) {
            for (u64 i = 0; i < k; ++i)
                w[i] = 0.02f * rng.normal_at(row * k + i);
            quantize_row(w, {group, dtype}, std::span(layer.q).subspan(row * k, k),
                         std::span(layer.s).subspan(row * groups, groups));
        }
    });
    layer.packed_w = pack_rows(layer.q, layer.layout);
    layer.packed_s = pack_scales(layer.s, layer.layout);
    return layer;
}

std::vector<u16> make_activations(Dtype dtype, u32 m, u32 k, const Rng &rng) {
    std::vector<f32> gain(k, 1);
    Rng channels = rng.fork(1);
    for (u32 i = 0; i < std::max(4u, k / 1024); ++i)
        gain[channels.below(k)] = 20 + 40 * channels.unit();
    std::vector<u16> a(u64{m} * k);
    for (u64 i = 0; i < a.size(); ++i)
        a[i] = round_to(dtype, rng.normal_at(i) * gain[i % k]);
    return a;
}

Resident::Resident(const hip::Device &device, LayerData layer)
    : data(std::move(layer)), w(upload(device, data.packed_w)), s(upload(device, data.packed_s)) {}

W4A16 Resident::arguments(u32 m, const hip::Buffer &a, const hip::Buffer &c) const {
    const RowLayout &l = data.layout;
    return {data.dtype, m,        l.n,     l.k,      l.group,    a.data(),
            w.data(),   s.data(), nullptr, c.data(), l.w_stride, l.s_stride};
}

ref::DecodeW4A16 product(const LayerData &layer, const std::vector<u16> &a, u32 m, u32 rows) {
    const RowLayout &l = layer.layout;
    return {layer.dtype,
            m,
            rows,
            l.k,
            l.group,
            a,
            std::span(layer.q).first(u64{rows} * l.k),
            std::span(layer.s).first(u64{rows} * (l.k / l.group)),
            {}};
}

} // namespace nw::bench
