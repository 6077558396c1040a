// SPDX-License-Identifier: MIT
#include "sim/hip/texture/texel.h"

#include <algorithm>

#include "sim/func/memory/formats.h"
#include "sim/hip/error.h"

namespace nw::hipsim {

static Texel checked(const Texel &t) {
    require(t.channels == 1 || t.channels == 2 || t.channels == 4, hipErrorInvalidValue);
    const bool real = t.kind == hipChannelFormatKindFloat;
    require(real || t.kind == hipChannelFormatKindSigned || t.kind == hipChannelFormatKindUnsigned,
            hipErrorInvalidValue);
    require(t.bits == 16 || t.bits == 32 || (t.bits == 8 && !real), hipErrorInvalidValue);
    return t;
}

Texel texel_of(const hipChannelFormatDesc &d) {
    const int bits[] = {d.x, d.y, d.z, d.w};
    Texel t{0, static_cast<unsigned>(d.x), d.f};
    while (t.channels < 4 && bits[t.channels] == d.x)
        ++t.channels;
    require(std::all_of(bits + t.channels, bits + 4, [](int b) { return b == 0; }),
            hipErrorInvalidValue);
    return checked(t);
}

namespace {

struct DriverFormat {
    hipArray_Format format;
    unsigned bits;
    hipChannelFormatKind kind;
};

constexpr DriverFormat driver_formats[] = {
    {HIP_AD_FORMAT_UNSIGNED_INT8, 8, hipChannelFormatKindUnsigned},
    {HIP_AD_FORMAT_UNSIGNED_INT16, 16, hipChannelFormatKindUnsigned},
    {HIP_AD_FORMAT_UNSIGNED_INT32, 32, hipChannelFormatKindUnsigned},
    {HIP_AD_FORMAT_SIGNED_INT8, 8, hipChannelFormatKindSigned},
    {HIP_AD_FORMAT_SIGNED_INT16, 16, hipChannelFormatKindSigned},
    {HIP_AD_FORMAT_SIGNED_INT32, 32, hipChannelFormatKindSigned},
    {HIP_AD_FORMAT_HALF, 16, hipChannelFormatKindFloat},
    {HIP_AD_FORMAT_FLOAT, 32, hipChannelFormatKindFloat},
};

} // namespace

Texel texel_of(hipArray_Format format, unsigned channels) {
    for (const DriverFormat &f : driver_formats)
        if (f.format == format)
            return checked({channels, f.bits, f.kind});
    fail(hipErrorInvalidValue);
}

hipArray_Format Texel::driver_format() const {
    for (const DriverFormat &f : driver_formats)
        if (f.bits == bits && f.kind == kind)
            return f.format;
    fail(hipErrorInvalidValue);
}

hipChannelFormatDesc Texel::description() const {
    const auto of = [&](unsigned n) { return n < channels ? static_cast<int>(bits) : 0; };
    return {of(0), of(1), of(2), of(3), kind};
}

u8 Texel::format(bool normalized, Generation generation) const {
    using sim::NumberFormat;
    const bool is_signed = kind == hipChannelFormatKindSigned;
    const NumberFormat number = !is_integer() ? NumberFormat::real
                                : normalized ? is_signed ? NumberFormat::snorm : NumberFormat::unorm
                                : is_signed  ? NumberFormat::sint
                                             : NumberFormat::uint;
    for (u8 code = 1;; ++code) {
        const sim::BufferFormat *f = sim::find_buffer_format(code, generation);
        require(f != nullptr, hipErrorInvalidValue); // beyond the last one
        bool same = f->number == number && f->components() == channels;
        for (unsigned c = 0; c < channels; ++c)
            same &= f->bits[c] == bits;
        if (same)
            return code;
    }
}

u32 Texel::channel_type(bool normalized) const {
    constexpr u32 snorm8 = 0, unorm8 = 2, sint8 = 8, uint8 = 11, half = 14, single = 15;
    if (!is_integer())
        return bits == 16 ? half : single;
    const u32 wider = bits == 8 ? 0 : bits == 16 ? 1 : 2;
    const bool is_signed = kind == hipChannelFormatKindSigned;
    return wider + (normalized ? is_signed ? snorm8 : unorm8 : is_signed ? sint8 : uint8);
}

u32 Texel::channel_order() const {
    constexpr u32 r = 1, rg = 3, rgba = 8;
    return channels == 1 ? r : channels == 2 ? rg : rgba;
}

} // namespace nw::hipsim
