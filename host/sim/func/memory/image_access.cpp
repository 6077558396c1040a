// SPDX-License-Identifier: MIT
// Image loads, stores and samples. Loads out of bounds return 0, stores there are dropped.
#include "sim/func/memory/image_access.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "sim/func/alu/fp.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/image.h"

namespace nw::sim {

namespace {

namespace fp = base::fp;

constexpr u8 select_first = 4; // destination selects: 0 zero, 1 one, from here on components
constexpr unsigned most_texels = 8;

bool matches(ImageDim dim, ImageType type) {
    constexpr ImageType types[] = {ImageType::d1, ImageType::d2, ImageType::d3, ImageType::d1_array,
                                   ImageType::d2_array};
    return types[static_cast<size_t>(dim)] == type;
}

struct Texel {
    bool inside = false; // otherwise the border, or out of bounds
    u64 at = 0;
    f64 weight = 1;
};

// One instruction's view of its image.
struct Session {
    Wave &w;
    const Inst &i;
    const MemoryAccess &a;
    const ImageAccess &access;
    const ImageForm form;
    Image image;
    Sampler sampler;
    const BufferFormat *format = nullptr;

    Session(Wave &wave, const Inst &inst)
        : w(wave), i(inst), a(*inst.access), access(*a.image), form(a.op.image),
          image(&wave.s[a.base.at], wave.mode.gfx12) {
        if (const char *why = image.refusal())
            refuse(why);
        if (!matches(access.dim, image.type))
            refuse("its type is not the instruction's dim");
        if (gathers() && std::popcount(access.mask) != 1)
            refuse("a gather's dmask must name one component");
        format = find_buffer_format(
            image.format, w.context->device.target->generation); // images have the same codes
        if (!format)
            refuse(fmt::format("format {} is not simulated", image.format));
        if (access.sampler.kind != Source::sgpr)
            return;
        sampler = Sampler(&wave.s[access.sampler.at]);
        if (const char *why = sampler.refusal())
            refuse_sampler(why);
    }

    [[noreturn]] void refuse_words(const char *what, unsigned first, unsigned count,
                                   const std::string &why) const {
        std::string words;
        for (unsigned n = 0; n < count; ++n)
            words += fmt::format(" 0x{:08x}", w.s[first + n]);
        fault(w, i, Fault::Kind::illegal_address,
              fmt::format("bad {} descriptor: s[{}:{}] ={}: {}", what, first, first + count - 1,
                          words, why));
    }
    [[noreturn]] void refuse(const std::string &why) const {
        refuse_words("image", a.base.at, 8, why);
    }
    [[noreturn]] void refuse_sampler(const std::string &why) const {
        refuse_words("sampler", access.sampler.at, 4, why);
    }

    u32 &data(unsigned reg, unsigned half, unsigned lane) const { return w.row(reg, half)[lane]; }
    u32 address(unsigned n, unsigned half, unsigned lane) const {
        if (!access.packed)
            return data(access.address[n], half, lane);
        const u32 value = data(access.address[n / 2], half, lane) >> 16 * (n % 2) & 0xffff;
        return samples() ? fp::bits(fp::widen16(value)) : value;
    }
    u32 coordinate(unsigned n, unsigned half, unsigned lane) const {
        return address(access.first + n, half, lane);
    }
    bool gathers() const { return form == ImageForm::gather || form == ImageForm::gather_level; }
    bool samples() const { return form >= ImageForm::sample && form != ImageForm::size; }

    unsigned texels(unsigned half, unsigned lane, Texel *out) const;
    Texel texel(unsigned half, unsigned lane) const;
    u32 layer(f32 coordinate) const;
    void check(const Texel &, unsigned lane) const;

    BufferElement read(const Texel &) const;
    u32 border(unsigned c) const;
    u32 component(const Texel *, unsigned count, const BufferElement *, u8 from) const;
    void put(unsigned n, u32 value, unsigned half, unsigned lane) const;

    void load(unsigned half, unsigned lane) const;
    void gather(unsigned half, unsigned lane) const;
    void store(unsigned half, unsigned lane) const;
    void size(unsigned half, unsigned lane) const;
    int supplier(unsigned c) const;
    BufferElement element_of(unsigned half, unsigned lane) const;
};

// Texel at integer coordinates; a level must be 0, the only one.
Texel Session::texel(unsigned half, unsigned lane) const {
    if (form == ImageForm::texel_of_level && coordinate(access.coordinates(), half, lane) != 0)
        refuse("mipmaps are not simulated, and lane " + std::to_string(lane) + " asks for a level");
    u32 at[3] = {};
    for (unsigned n = 0; n < access.coordinates(); ++n)
        at[n] = coordinate(n, half, lane);
    if (access.dim == ImageDim::d1_array)
        std::swap(at[1], at[2]);
    const bool inside = at[0] < image.width && at[1] < image.height && at[2] < image.layers;
    return {inside, inside ? image.address(at[0], at[1], at[2], format->bytes()) : 0, 1};
}

// The nearest layer, even ones at halves.
u32 Session::layer(f32 coordinate) const {
    const f64 nearest = std::isnan(coordinate) ? 0 : std::nearbyint(coordinate);
    return static_cast<u32>(std::clamp<f64>(nearest, 0, image.layers - 1));
}

// The texels that a lane reads or writes; of a gather (0, 0), (1, 0), (0, 1), (1, 1).
unsigned Session::texels(unsigned half, unsigned lane, Texel *out) const {
    if (!samples()) {
        out[0] = texel(half, lane);
        return 1;
    }
    const u32 sizes[3] = {image.width, image.height, image.layers};
    TexelPair pairs[3];
    const bool normalized = !sampler.unnormalized && !access.unnormalized;
    for (unsigned n = 0; n < access.filtered(); ++n)
        pairs[n] = texels_at(fp::f32_of(coordinate(n, half, lane)), sizes[n], sampler.clamp[n],
                             normalized, sampler.linear || gathers());
    if (access.is_array())
        pairs[2].at[0] = layer(fp::f32_of(coordinate(access.filtered(), half, lane)));
    unsigned count = 0;
    for (unsigned z = 0; z < pairs[2].count; ++z)
        for (unsigned y = 0; y < pairs[1].count; ++y)
            for (unsigned x = 0; x < pairs[0].count; ++x) {
                const i64 at[3] = {pairs[0].at[x], pairs[1].at[y], pairs[2].at[z]};
                Texel &t = out[count++];
                t.inside = at[0] >= 0 && at[1] >= 0 && at[2] >= 0;
                t.weight = pairs[0].weight[x] * pairs[1].weight[y] * pairs[2].weight[z];
                t.at = t.inside ? image.address(static_cast<u32>(at[0]), static_cast<u32>(at[1]),
                                                static_cast<u32>(at[2]), format->bytes())
                                : 0;
            }
    return count;
}

void Session::check(const Texel &t, unsigned lane) const {
    if (t.inside && !reachable(w, i, t.at, format->bytes()))
        illegal_address(w, i, t.at, format->bytes(), static_cast<int>(lane));
}

BufferElement Session::read(const Texel &t) const {
    BufferElement element;
    if (t.inside)
        std::memcpy(element.dword, reinterpret_cast<const void *>(t.at), format->bytes());
    return element;
}

// The border's component, and what loads have out of bounds.
u32 Session::border(unsigned c) const {
    const bool one = samples() && (sampler.border == Sampler::Border::white ||
                                   (sampler.border == Sampler::Border::black && c == 3));
    return !one ? 0 : a.op.d16 ? format->one16() : format->one();
}

// A result's value by its destination select.
u32 Session::component(const Texel *t, unsigned count, const BufferElement *read, u8 from) const {
    if (from == 2 || from == 3)
        refuse(fmt::format("destination select {} is reserved", from));
    if (from < select_first)
        return from == 0 ? 0 : a.op.d16 ? format->one16() : format->one();
    const unsigned c = from - select_first;
    if (c >= format->components())
        return 0;
    const auto value = [&](unsigned n) {
        return !t[n].inside ? border(c)
               : a.op.d16   ? load_component16(*format, c, read[n].component(*format, c))
                            : load_component(*format, c, read[n].component(*format, c));
    };
    if (count == 1)
        return value(0);
    if (format->is_integer())
        refuse_sampler("integers can't be filtered");
    f64 sum = 0;
    for (unsigned n = 0; n < count; ++n)
        if (t[n].weight != 0) // an infinity beside it doesn't matter
            sum += t[n].weight * (a.op.d16 ? fp::widen16(value(n)) : fp::f32_of(value(n)));
    if (!a.op.d16)
        return fp::bits(static_cast<f32>(sum));
    return fp::narrow16(sum, Mode()) & 0xffff;
}

void Session::put(unsigned n, u32 value, unsigned half, unsigned lane) const {
    if (!a.op.d16) {
        data(a.result + n, half, lane) = value;
        return;
    }
    u32 &d = data(a.result + n / 2, half, lane);
    d = n % 2 ? (d & 0xffff) | value << 16 : (d & 0xffff0000) | (value & 0xffff);
}

void Session::load(unsigned half, unsigned lane) const {
    Texel t[most_texels];
    BufferElement element[most_texels];
    const unsigned count = texels(half, lane, t);
    for (unsigned n = 0; n < count; ++n) {
        check(t[n], lane);
        element[n] = read(t[n]);
    }
    unsigned n = 0;
    for (unsigned c = 0; c < 4; ++c)
        if (access.mask >> c & 1)
            put(n++, component(t, count, element, image.select[c]), half, lane);
}

// Counter-clockwise from the texel below the first one.
void Session::gather(unsigned half, unsigned lane) const {
    constexpr unsigned order[4] = {2, 3, 1, 0};
    Texel t[most_texels];
    texels(half, lane, t);
    const u8 from = image.select[std::countr_zero(access.mask)];
    for (unsigned n = 0; n < 4; ++n) {
        const Texel &one = t[order[n]];
        check(one, lane);
        const BufferElement element = read(one);
        put(n, component(&one, 1, &element, from), half, lane);
    }
}

// Which result of the data becomes component c in memory: the inverse of a load's selection. -1:
// dmask leaves it out, so it is 0.
int Session::supplier(unsigned c) const {
    for (unsigned k = 0; k < 4; ++k)
        if (image.select[k] == select_first + c)
            return access.mask >> k & 1 ? std::popcount(access.mask & ((1u << k) - 1)) : -1;
    refuse(fmt::format("no destination select names component {}, which format {} has", "xyzw"[c],
                       format -> name));
}

BufferElement Session::element_of(unsigned half, unsigned lane) const {
    BufferElement element;
    for (unsigned c = 0; c < format->components(); ++c) {
        const int from = supplier(c);
        if (from < 0)
            continue;
        const auto n = static_cast<unsigned>(from);
        u32 value = data(a.data + (a.op.d16 ? n / 2 : n), half, lane);
        if (a.op.d16 && n % 2)
            value >>= 16;
        element.set_component(*format, c,
                              (a.op.d16 ? store_component16 : store_component)(*format, c, value));
    }
    return element;
}

void Session::store(unsigned half, unsigned lane) const {
    const Texel t = texel(half, lane);
    if (!t.inside)
        return;
    check(t, lane);
    std::memcpy(reinterpret_cast<void *>(t.at), element_of(half, lane).dword, format->bytes());
}

// Width, height, depth or layers, levels.
void Session::size(unsigned half, unsigned lane) const {
    const bool only_level = address(0, half, lane) == 0;
    const u32 second = access.dim == ImageDim::d1_array ? image.layers : image.height;
    const u32 values[4] = {image.width, second, image.layers, 1};
    unsigned n = 0;
    for (unsigned c = 0; c < 4; ++c)
        if (access.mask >> c & 1)
            put(n++, only_level || c == 3 ? values[c] : 0, half, lane);
}

} // namespace

void run_image(Wave &w, const Inst &i) {
    if (w.exec_mask() == 0)
        return;
    const Session s(w, i);
    const auto lane_handler = s.form == ImageForm::size ? &Session::size
                              : s.gathers()             ? &Session::gather
                              : i.access->op.loads()    ? &Session::load
                                                        : &Session::store;
    MxcsrScope nearest(mxcsr_default);
    u64 lanes = 0;
    for (unsigned half = 0; half < w.halves; ++half)
        for (u32 rest = w.exec(half); rest; rest &= rest - 1, ++lanes)
            (s.*lane_handler)(half, static_cast<unsigned>(__builtin_ctz(rest)));
    const u64 texels = s.samples() && !s.sampler.linear && !s.gathers() ? 1 : i.access->parts;
    const u64 bytes = lanes * s.format->bytes() * (s.form == ImageForm::size ? 0 : texels);
    (i.access->op.loads() ? w.bytes.global_load : w.bytes.global_store) += bytes;
}

void image_places(Wave &w, const Inst &i, unsigned half, unsigned part, Places &p) {
    const Session s(w, i);
    const u32 exec = w.exec(half);
    p.active = 0;
    p.bytes = s.format->bytes();
    for (u32 rest = exec; rest; rest &= rest - 1) {
        const auto l = static_cast<unsigned>(__builtin_ctz(rest));
        Texel t[most_texels];
        if (part >= s.texels(half, l, t) || !t[part].inside)
            continue;
        s.check(t[part], l);
        p.active |= 1u << l;
        p.at[l] = t[part].at;
    }
}

u32 stored_texel_lanes(const Wave &wave, const Inst &i, unsigned half, unsigned reg) {
    Wave w = wave;
    const Session s(w, i);
    bool taken = false;
    for (unsigned c = 0; c < s.format->components(); ++c) {
        const int from = s.supplier(c);
        taken |= from >= 0 && static_cast<unsigned>(from) / (i.access->op.d16 ? 2 : 1) == reg;
    }
    u32 lanes = 0;
    for (u32 rest = taken ? w.exec(half) : 0; rest; rest &= rest - 1) {
        const auto l = static_cast<unsigned>(__builtin_ctz(rest));
        lanes |= u32{s.texel(half, l).inside} << l;
    }
    return lanes;
}

BufferElement stored_texel(Wave &w, const Inst &i, unsigned half, unsigned lane) {
    MxcsrScope nearest(mxcsr_default);
    return Session(w, i).element_of(half, lane);
}

} // namespace nw::sim
