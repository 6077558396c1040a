// SPDX-License-Identifier: MIT
#include "runtime/carriers.h"

#include "base/error.h"
#include "base/half.h"
#include "runtime/choice.h"
#include "runtime/kernarg.h"
#include "runtime/operands.h"

namespace nw {

namespace {

constexpr std::string_view family = "carrier_w4a16";
constexpr Rules rules(family);

// HIP counts a grid's threads, 32 to a row, in 32 bits.
constexpr u32 most_rows = 1u << 26;

void check_overlap(const CarrierW4A16 &p) {
    const u64 groups = p.k / p.group;
    const auto carrier = Rules::rows("carrier", p.carrier, p.n, p.carrier_stride, 4 * groups);
    rules.apart(carrier, Rules::rows("s", p.s, p.n, p.s_stride, 2 * groups));
    rules.apart(carrier, Rules::rows("z", p.z, ceil_div(p.n, 8u), p.z_stride, 4 * groups));
}

} // namespace

const Kernel &choose_carrier(std::string_view gfx, Dtype dtype) {
    if (const Kernel *found =
            find_default(family, gfx, [&](const Kernel &k) { return dtype_of(k) == dtype; }))
        return *found;
    throw Error(fmt::format("{}: gfx = {}: no kernel of {} for it", family, gfx, name(dtype)));
}

void validate(const CarrierW4A16 &p) {
    rules.need(p.n >= 1 && p.n <= most_rows, "n = {}: must be 1..{}; make more rows in parts", p.n,
               most_rows);
    check_groups(rules, p.k, p.group, "32, 64 or 128");
    rules.pointer("s", p.s, 2);
    rules.pointer("z", p.z, 4);
    rules.pointer("carrier", p.carrier, 4);
    const u64 groups = p.k / p.group;
    const auto stride = [](const char *argument, u64 bytes, u64 row, const char *row_is, u64 unit) {
        rules.stride(
            {argument, bytes, row, row_is, unit, u64{1} << 32, "the kernel's are 32 bits"});
    };
    stride("s_stride", p.s_stride, 2 * groups, "a row, 2*K/G", 2);
    stride("z_stride", p.z_stride, 4 * groups, "a row, 4*K/G", 4);
    stride("carrier_stride", p.carrier_stride, 4 * groups, "a row, 4*K/G", 4);
    check_overlap(p);
}

void launch(Modules &modules, const CarrierW4A16 &p, const hip::Stream &stream) {
    launch(modules, choose_carrier(modules.device().info().gfx, p.dtype), p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const CarrierW4A16 &p,
            const hip::Stream &stream) {
    validate(p);
    rules.need(kernel.family == family && dtype_of(kernel) == p.dtype,
               "{} does not make carriers of {}", kernel.symbol, name(p.dtype));
    Kernarg out(kernel);
    out.put("s", p.s);
    out.put("z", p.z);
    out.put("carrier", p.carrier);
    out.put("n", p.n);
    out.put("groups", p.k / p.group);
    out.put("s_stride", static_cast<u32>(p.s_stride));
    out.put("z_stride", static_cast<u32>(p.z_stride));
    out.put("carrier_stride", static_cast<u32>(p.carrier_stride));
    modules.device().launch(modules.function(kernel), ceil_div(p.n, kernel.rows_per_workgroup),
                            kernel.block, 0, out.bytes(), stream);
}

} // namespace nw
