// SPDX-License-Identifier: MIT
// Buffer loads, stores and atomics of vectors. Out-of-bounds loads return 0, stores are dropped.
#include "sim/func/memory/buffer_access.h"

#include <fmt/format.h>

#include "sim/func/choices.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/buffer.h"
#include "sim/func/memory/formats.h"
#include "sim/func/memory/transfer.h"

namespace nw::sim {

namespace {

u32 scalar(const Wave &w, const Source &s) { return s.kind == Source::sgpr ? w.s[s.at] : s.value; }

bool old_names(const Wave &w) { return w.context->device.target->old_names; }

// One instruction's view of its buffer.
struct Session {
    Wave &w;
    const Inst &i;
    const MemoryAccess &a;
    Buffer buffer;
    u32 soffset;
    const BufferFormat *format = nullptr; // of typed elements
    u32 bytes;                            // of one lane's access in memory
    bool unbound = false;                 // nothing can be accessed

    Session(Wave &wave, const Inst &inst)
        : w(wave), i(inst), a(*inst.access), buffer(&wave.s[a.base.at], old_names(wave)),
          soffset(scalar(wave, a.soffset)), bytes(a.bytes()) {
        if (const char *why = buffer.refusal())
            refuse(why);
        // The format INVALID means an unbound resource, even where the format isn't used.
        unbound = buffer.format == 0 && choices().invalid_format == choice::invalid_format::unbound;
        if (a.op.components)
            find_format();
    }

    [[noreturn]] void refuse(const std::string &why) const {
        const u32 *d = &w.s[a.base.at];
        fault(
            w, i, Fault::Kind::illegal_address,
            fmt::format("bad buffer descriptor: s[{}:{}] = 0x{:08x} 0x{:08x} 0x{:08x} 0x{:08x}: {}",
                        a.base.at, a.base.at + 3, d[0], d[1], d[2], d[3], why));
    }

    bool by_instruction() const { return a.format >= 0; }

    void find_format() {
        unsigned code = by_instruction() ? static_cast<unsigned>(a.format) : buffer.format;
        format = find_buffer_format(code, w.context->device.target->generation);
        if (!format && code != 0)
            refuse(fmt::format("format {} is reserved", code));
        unbound |= !format;
        bytes = format ? format->bytes() : 0;
    }

    BufferPoint point(unsigned half, unsigned lane) const {
        unsigned reg = a.address.at;
        BufferPoint p;
        if (a.idxen)
            p.index = w.row(reg++, half)[lane];
        if (buffer.adds_lane)
            p.index += lane + row_lanes * half;
        p.offset = (a.offen ? w.row(reg, half)[lane] : 0) + static_cast<u32>(a.offset);
        p.soffset = soffset;
        return p;
    }

    // 5.25: dwords are checked separately; atomics and formatted elements as a whole.
    u32 bytes_in_bounds(BufferPoint p) const {
        if (unbound)
            return 0;
        bool whole = format || a.op.updates() || bytes <= 4;
        u32 unit = whole ? bytes : 4, n = 0;
        while (n < bytes && in_bounds(buffer, p, n + unit))
            n += unit;
        return n;
    }

    // Address of byte `at` of the access. p.index is the lane where the buffer is scratch.
    u64 address(BufferPoint p, u32 at) const {
        if (!buffer.scratch)
            return buffer_address(buffer, p, at);
        return reinterpret_cast<u64>(w.scratch) + u64{p.index} * w.scratch_bytes +
               static_cast<u64>(scratch_offset(buffer, p)) + at;
    }
    // A lane's bytes are consecutive.
    bool linear() const { return buffer.element == 0 || buffer.scratch; }

    void check(BufferPoint p, u32 size, unsigned lane) const {
        if (buffer.scratch) {
            const i64 offset = scratch_offset(buffer, p);
            if (offset < 0 || offset + size > w.scratch_bytes)
                scratch_out_of_range(w, i, offset, size, p.index);
            return;
        }
        u64 first = buffer_address(buffer, p, 0);
        if (buffer.element == 0) {
            if (!reachable(w, i, first, size))
                illegal_address(w, i, first, size, static_cast<int>(lane));
            return;
        }
        for (u32 n = 0; n < size; ++n)
            if (u64 at = buffer_address(buffer, p, n); !reachable(w, i, at, 1))
                illegal_address(w, i, at, 1, static_cast<int>(lane));
    }

    void read(BufferPoint p, u32 size, void *to) const {
        if (linear()) {
            std::memcpy(to, reinterpret_cast<void *>(address(p, 0)), size);
            return;
        }
        for (u32 n = 0; n < size; ++n)
            static_cast<u8 *>(to)[n] = *reinterpret_cast<u8 *>(buffer_address(buffer, p, n));
    }

    void write(BufferPoint p, u32 size, const void *from) const {
        if (linear()) {
            std::memcpy(reinterpret_cast<void *>(address(p, 0)), from, size);
            return;
        }
        for (u32 n = 0; n < size; ++n)
            *reinterpret_cast<u8 *>(buffer_address(buffer, p, n)) =
                static_cast<const u8 *>(from)[n];
    }

    u32 &data(unsigned reg, unsigned half, unsigned lane) const { return w.row(reg, half)[lane]; }

    void load(unsigned half, unsigned lane) const;
    void load_typed(unsigned half, unsigned lane) const;
    void store(unsigned half, unsigned lane) const;
    void store_typed(unsigned half, unsigned lane) const;
    BufferElement element_of(unsigned half, unsigned lane) const; // written by store_typed
    void update(unsigned half, unsigned lane) const;

    u8 selector(unsigned c) const;
    unsigned supplier(unsigned c) const;
};

void Session::load(unsigned half, unsigned lane) const {
    BufferPoint p = point(half, lane);
    u32 size = bytes_in_bounds(p), value[4] = {};
    if (size) {
        check(p, size, lane);
        read(p, size, value);
    }
    if (a.op.extend != Extend::whole)
        value[0] = base::extend_loaded(value[0], a.op, data(a.result, half, lane));
    for (unsigned n = 0; n < a.op.registers(); ++n)
        data(a.result + n, half, lane) = value[n];
}

// Selector of result component c: instructions with their own format take its components in order,
// others follow the descriptor.
u8 Session::selector(unsigned c) const {
    constexpr u8 zero = 0, first = 4;
    if (!by_instruction())
        return buffer.select[c];
    return static_cast<u8>(c < format->components() ? first + c : zero);
}

void Session::load_typed(unsigned half, unsigned lane) const {
    BufferPoint p = point(half, lane);
    u32 size = bytes_in_bounds(p);
    BufferElement element;
    if (size) {
        check(p, size, lane);
        read(p, size, element.dword);
    }
    for (unsigned c = 0; c < a.op.components; ++c) {
        u8 from = format ? selector(c) : 0;
        u32 value = 0;
        if (from == 1) // also out of bounds
            value = a.op.d16 ? format->one16() : format->one();
        else if (from == 2 || from == 3)
            refuse(fmt::format("destination select {} is reserved", from));
        else if (from >= 4 && size && from - 4u < format->components())
            value = (a.op.d16 ? load_component16 : load_component)(
                *format, from - 4u, element.component(*format, from - 4u));
        if (!a.op.d16) {
            data(a.result + c, half, lane) = value;
            continue;
        }
        bool high = c % 2 || a.op.extend == Extend::high_zero;
        u32 &d = data(a.result + c / 2, half, lane);
        d = high ? (d & 0xffff) | value << 16 : (d & 0xffff0000) | value;
    }
}

void Session::store(unsigned half, unsigned lane) const {
    BufferPoint p = point(half, lane);
    u32 size = bytes_in_bounds(p), value[4];
    if (!size)
        return;
    check(p, size, lane);
    for (unsigned n = 0; n < a.op.registers(); ++n)
        value[n] = data(a.data + n, half, lane);
    if (a.op.extend == Extend::high_zero)
        value[0] >>= 16;
    write(p, size, value);
}

// Which component of the stored value becomes component c in memory: the inverse of a load's
// selection. The first one replaces components that the instruction doesn't have.
unsigned Session::supplier(unsigned c) const {
    unsigned from = c;
    if (!by_instruction()) {
        from = 0;
        while (from < 4 && buffer.select[from] != 4 + c)
            ++from;
        if (from == 4)
            refuse(
                fmt::format("no destination select names component {}, which format {} has: what "
                            "a store writes there isn't published",
                            "xyzw"[c], format -> name));
    }
    return from < a.op.components ? from : 0;
}

void Session::store_typed(unsigned half, unsigned lane) const {
    BufferPoint p = point(half, lane);
    u32 size = bytes_in_bounds(p);
    if (!size)
        return;
    check(p, size, lane);
    write(p, size, element_of(half, lane).dword);
}

BufferElement Session::element_of(unsigned half, unsigned lane) const {
    BufferElement element;
    for (unsigned c = 0; c < format->components(); ++c) {
        unsigned from = supplier(c);
        u32 value = data(a.data + (a.op.d16 ? from / 2 : from), half, lane);
        if (a.op.d16 && (from % 2 || a.op.extend == Extend::high_zero))
            value >>= 16;
        element.set_component(*format, c,
                              (a.op.d16 ? store_component16 : store_component)(*format, c, value));
    }
    return element;
}

void Session::update(unsigned half, unsigned lane) const {
    BufferPoint p = point(half, lane);
    u64 old = 0;
    if (bytes_in_bounds(p)) {
        const u64 target = address(p, 0);
        if (target % a.op.bytes)
            misaligned_atomic(w, i, target, lane);
        check(p, bytes, lane);
        auto value = [&](unsigned reg) {
            u64 low = data(reg, half, lane);
            return a.op.bytes == 8 ? low | u64{data(reg + 1, half, lane)} << 32 : low;
        };
        u64 compare = a.op.two_values() ? value(a.data2) : 0;
        old = base::atomic_update(target, a.op.atomic, a.op.bytes, value(a.data), compare, w.mode,
                                  false);
    }
    if (!a.returns)
        return;
    data(a.result, half, lane) = static_cast<u32>(old);
    if (a.op.bytes == 8)
        data(a.result + 1, half, lane) = static_cast<u32>(old >> 32);
}

} // namespace

void run_buffer(Wave &w, const Inst &i) {
    Session s(w, i);
    bool typed = i.access->op.components;
    auto lane_handler = i.access->op.updates() ? &Session::update
                        : i.access->op.loads() ? (typed ? &Session::load_typed : &Session::load)
                                               : (typed ? &Session::store_typed : &Session::store);
    MxcsrScope nearest(mxcsr_default);
    u64 lanes = 0;
    for (unsigned half = 0; half < w.halves; ++half)
        for (u32 rest = w.exec(half); rest; rest &= rest - 1, ++lanes)
            (s.*lane_handler)(half, static_cast<unsigned>(__builtin_ctz(rest)));
    if (!i.access->op.stores())
        w.bytes.global_load += lanes * s.bytes;
    if (!i.access->op.loads())
        w.bytes.global_store += lanes * s.bytes;
}

// Part 0 is the whole access where each lane's bytes are in bounds and consecutive; else parts are
// dwords. Dwords that straddle two swizzle elements are left out.
void buffer_places(Wave &w, const Inst &i, unsigned half, unsigned part, Places &p) {
    Session s(w, i);
    const unsigned parts = i.access->parts;
    const u32 exec = w.exec(half);
    bool whole = s.linear();
    for (u32 rest = exec; rest && whole; rest &= rest - 1)
        whole =
            s.bytes_in_bounds(s.point(half, static_cast<unsigned>(__builtin_ctz(rest)))) == s.bytes;
    const u32 size = whole || parts == 1 ? s.bytes : 4, at = part * 4;
    p.active = 0;
    p.bytes = size;
    if (whole && part != 0)
        return;
    for (u32 rest = exec; rest; rest &= rest - 1) {
        auto l = static_cast<unsigned>(__builtin_ctz(rest));
        BufferPoint point = s.point(half, l);
        const u32 element = s.linear() ? 0 : s.buffer.element, in_bounds = s.bytes_in_bounds(point);
        if (size == 0 || at + size > in_bounds)
            continue;
        s.check(point, in_bounds, l);
        if (element && (point.offset + at) % element + size > element)
            continue;
        p.active |= 1u << l;
        p.at[l] = s.address(point, at);
    }
}

u32 stored_lanes(const Wave &wave, const Inst &i, unsigned half, unsigned reg) {
    Wave w = wave;
    const Session s(w, i);
    bool taken = !s.format;
    for (unsigned c = 0; s.format && c < s.format->components(); ++c)
        taken |= (i.access->op.d16 ? s.supplier(c) / 2 : s.supplier(c)) == reg;
    const u32 needed = s.format || i.access->op.updates() ? 0 : reg * 4;
    u32 lanes = 0;
    for (u32 rest = taken ? w.exec(half) : 0; rest; rest &= rest - 1) {
        const auto l = static_cast<unsigned>(__builtin_ctz(rest));
        lanes |= u32{s.bytes_in_bounds(s.point(half, l)) > needed} << l;
    }
    return lanes;
}

BufferElement stored_element(Wave &w, const Inst &i, unsigned half, unsigned lane) {
    MxcsrScope nearest(mxcsr_default);
    return Session(w, i).element_of(half, lane);
}

} // namespace nw::sim
