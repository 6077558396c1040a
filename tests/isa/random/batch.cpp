// SPDX-License-Identifier: MIT
#include "isa/random/batch.h"

#include <cstring>

#include "isa/random/captures.h"
#include "isa/random/dot_operands.h"

namespace nw::oracle {

namespace {

u64 any(T t, Random &random) {
    auto hard = hard_values(t);
    return random() % 8 < 3 ? hard[random() % hard.size()] : random_value(t, random);
}

// Bits that an operand of this type doesn't have are noise.
u64 with_noise(u64 value, T t, Random &random) {
    unsigned width = is_64(t) ? 64 : is_16(t) ? 16 : t == T::none ? 0 : 32;
    if (width == 64)
        return value;
    return low(32, value | (width < 32 ? random() << width : 0)) | random() << 32;
}

// Half of DOT2's operands are made for it.
void meet(const Row &r, LaneIn &in, Random &random) {
    const bool floats = r.a == T::pkh16 || r.a == T::pkbf16;
    if (!floats || !r.name.starts_with("v_dot2") || random() % 2)
        return;
    const Format &f = r.a == T::pkh16 ? f16 : bf16;
    const Format &out = r.d == T::s32 ? f32 : f;
    const FactorFormat factors{f, [&f](u64 bits) { return factor(f, bits); }};
    if (out == f32 && random() % 16 == 0) {
        const auto seen = captures(f);
        const Capture &x = seen[random() % seen.size()];
        in.a = x.a, in.b = x.b, (r.form == Form::accumulate ? in.d : in.c) = x.c;
        return;
    }
    u64 a[2], b[2];
    meeting_factors(factors, factors, a, b, random);
    u64 c = meeting_addend(factors, factors, a, b, out, random);
    in.a = a[0] | a[1] << 16, in.b = b[0] | b[1] << 16;
    (r.form == Form::accumulate ? in.d : in.c) = c;
}

// Every pair of hard values first; then hard and random ones mixed.
LaneIn operands(const Row &r, u64 index, Random &random) {
    auto hard_a = hard_values(r.a), hard_b = hard_values(r.b);
    LaneIn in;
    bool pair = index < hard_a.size() * hard_b.size();
    in.a = pair ? hard_a[index % hard_a.size()] : any(r.a, random);
    in.b = pair ? hard_b[index / hard_a.size()] : any(r.b, random);
    in.c = any(r.c, random);
    in.d = random();
    if (r.form == Form::accumulate || r.form == Form::scalar_acc)
        in.d = (in.d << 16 << 16) | any(r.c, random);
    meet(r, in, random);
    if (r.name.starts_with("v_div_scale") && random() % 4) // as division uses it
        in.a = random() & 1 ? in.b : in.c;
    in.a = with_noise(in.a, r.a, random);
    in.b = with_noise(in.b, r.b, random);
    in.c = with_noise(in.c, r.c, random);
    return in;
}

T scalar_type(const Row &r, const Variant &v) {
    for (unsigned n = 0; n < 3; ++n)
        if (v.source[n].kind == Operand::sgpr)
            return source_type(r, n);
    return T::none;
}

// In halves of 32 lanes.
unsigned amount_of(const Row &r, size_t modes, Amount amount, unsigned waves, bool all_pairs) {
    if (amount == Amount::few)
        return 4;
    if (amount == Amount::some)
        return std::max(waves / 8, 4u);
    waves = std::max(waves, static_cast<unsigned>(modes));
    if (modes <= 4)
        waves = std::max(waves / 4, 8u); // MODE doesn't matter
    size_t pairs = all_pairs ? hard_values(r.a).size() * hard_values(r.b).size() : 0;
    return std::max(waves, static_cast<unsigned>(pairs / 32 + 8));
}

} // namespace

u32 some_exec(unsigned turn, Random &random) {
    switch (turn % 8) {
    case 0:
        return 0;
    case 1:
        return 1u << random() % 32;
    case 2:
        return ~0u;
    default:
        return static_cast<u32>(random());
    }
}

Batch make_batch(const Row &r, const Variant &v, u32 form, const std::string &gfx, unsigned wave,
                 Amount amount, unsigned waves, Random &random) {
    const std::vector<u32> all = modes(r, gfx.starts_with("gfx12"), random);
    // The first form meets every pair of hard values, all of a wave's lanes on; the others some.
    const bool all_pairs = amount == Amount::thorough && form == 0;
    const size_t pairs = hard_values(r.a).size() * hard_values(r.b).size() / 32;
    const unsigned halves = wave / 32 * amount_of(r, all.size(), amount, waves, all_pairs);
    Batch b{wave, {}, {}, {}, std::min<u64>(all.size(), halves)};
    for (unsigned h = 0; h < halves; ++h) {
        bool partial = !is_scalar(r.form) && h % 4 != 0 && !(all_pairs && h <= pairs);
        WaveIn w{all[h / (wave / 32) % all.size()],
                 form,
                 static_cast<u32>(random()),
                 partial ? some_exec(h / 4 * 3 + h % 4, random) : ~0u,
                 static_cast<u32>(random()),
                 0,
                 with_noise(any(scalar_type(r, v), random), scalar_type(r, v), random)};
        b.halves.push_back(w);
        u64 first = all_pairs ? u64{h} * 32 : random() % (pairs * 32 + 1024);
        for (unsigned l = 0; l < 32; ++l)
            b.in.push_back(operands(r, first + l, random));
    }
    b.out.resize(b.in.size());
    return b;
}

void run(const sim::Program &program, const std::string &kernel, const std::string &gfx, Batch &b) {
    sim::Memory memory;
    auto copied = [&](const void *data, size_t bytes) {
        void *p = memory.allocate(bytes);
        std::memcpy(p, data, bytes);
        return p;
    };
    void *in = copied(b.in.data(), b.in.size() * sizeof(LaneIn));
    void *out = copied(b.out.data(), b.out.size() * sizeof(LaneOut));
    void *waves = copied(b.halves.data(), b.halves.size() * sizeof(WaveIn));
    void *arguments[] = {in, out, waves};
    sim::Dispatch d;
    d.program = &program;
    d.kernel = program.find_kernel(kernel);
    d.grid.x = static_cast<u32>(b.in.size() / b.wave);
    d.block.x = b.wave;
    d.kernarg = std::as_bytes(std::span(arguments));
    sim::RunConfig config;
    config.threads = 1;
    sim::run(d, memory, *sim::find_device(gfx), config);
    std::memcpy(b.out.data(), out, b.out.size() * sizeof(LaneOut));
}

} // namespace nw::oracle
