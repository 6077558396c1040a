// SPDX-License-Identifier: MIT
#include "sim/func/memory/access.h"

#include <fmt/format.h>

#include "sim/func/launch/hidden_args.h"
#include "sim/func/launch/launch.h"
#include "sim/func/launch/report.h"

namespace nw::sim {

namespace {

const char *verb(const MemoryOp &op) {
    return op.updates() ? "updates" : op.loads() ? "reads" : "writes";
}

} // namespace

namespace {

std::string name_of(const Origin &a) {
    return fmt::format("{}, {} bytes at 0x{:x}",
                       a.maker.empty() ? fmt::format("#{}", a.id) : a.maker, a.size, a.begin);
}

} // namespace

std::string describe_allocation(const Memory &memory, u64 address) {
    const Origin a = origin_of(memory, address);
    if (a.holds(address) && !memory.find(address).size)
        return fmt::format("it is in {}, which {} has freed", name_of(a), a.freed_by);
    if (a.size == 0 && a.begin == 0)
        return "there is no allocation";
    std::string where;
    if (address >= a.begin + a.size)
        where = fmt::format("{} bytes past its end", address - (a.begin + a.size));
    else if (address < a.begin)
        where = fmt::format("{} bytes before it", a.begin - address);
    else
        where = fmt::format("{} bytes before its end", a.begin + a.size - address);
    return fmt::format("the nearest allocation is {}: {}", name_of(a), where);
}

bool reachable(const Wave &w, const Inst &i, u64 address, u64 size) {
    Context &context = *w.context;
    RangeCache &cache = *w.cache;
    u64 generation = context.memory.generation();
    if (cache.generation != generation) [[unlikely]] {
        cache = {};
        cache.generation = generation;
    }
    // Half of the entries are reserved for scalar loads: they may keep ranges that nobody writes.
    constexpr unsigned half = RangeCache::size / 2;
    const bool scalar = i.cls == Class::smem && !i.access; // a load
    RangeCache::Range &r = cache.ranges[i.index % half + (scalar ? half : 0)];
    if (address >= r.begin && address + size <= r.end && address + size >= address) [[likely]]
        return true;
    const Program &program = *context.code.program;
    auto image = program.image();
    u64 image_begin = reinterpret_cast<u64>(image.data());
    Allocation a = context.memory.find(address);
    const bool in_image = address - image_begin < image.size();
    if (a.size == 0 && in_image)
        a = {image_begin, image.size(), 0};
    if (a.size == 0 || size > a.size || address - a.begin > a.size - size)
        return false;
    const bool read_only = a.read_only || (in_image && program.overlaps_code(a.begin, a.size));
    if (!read_only || scalar)
        r = {a.begin, a.begin + a.size};
    return !read_only || scalar || i.access->op.loads() ||
           !(a.read_only || program.overlaps_code(address, size));
}

u64 missing_bytes(const Wave &w, const Inst &i, u64 address, u64 size) {
    if (reachable(w, i, address, size)) [[likely]]
        return 0;
    const auto fail = [&] { illegal_address(w, i, address, static_cast<unsigned>(size), -1); };
    const std::span<std::byte> image = w.context->code.program->image();
    const u64 image_begin = reinterpret_cast<u64>(image.data());
    const Checker *checker = w.context->config.checker;
    const bool exact = i.access || (checker && checker->strict_scalar_loads());
    if (exact || address + size < address)
        fail();
    u64 missing = 0;
    bool page_has_some = false;
    for (u64 n = 0; n < size; ++n) {
        const u64 at = address + n;
        const bool held = at - image_begin < image.size() || w.context->memory.find(at).size != 0;
        page_has_some |= held;
        missing |= u64{!held} << n;
        if (n + 1 == size || (at + 1) % page_bytes == 0) {
            if (!page_has_some)
                fail();
            page_has_some = false;
        }
    }
    return missing;
}

namespace {

constexpr u64 null_page = 4096;
constexpr u64 near = 1 << 20; // distance from an allocation that still suggests an overrun

// Classifies a bad address: the rule's name, and a description.
std::pair<const char *, const char *> judge(const Context &c, u64 address) {
    if (c.code.program->overlaps_code(address, 1))
        return {"write_to_code", "which is code"};
    const Memory &memory = c.memory;
    if (memory.find(address).read_only)
        return {"write_to_arguments", "which holds the launch's arguments"};
    if (address < null_page)
        return {"null_pointer", "which no live allocation holds: a null pointer"};
    if (memory.released_at(address).size && !memory.find(address).size)
        return {"use_after_free", "which no live allocation holds"};
    const Origin a = memory.nearest(address);
    const u64 end = a.begin + a.size;
    const u64 distance = address < a.begin ? a.begin - address : address < end ? 0 : address - end;
    return {a.size && distance < near ? "out_of_bounds" : "wild_address",
            "which no live allocation holds"};
}

Report details(const Inst &i, const char *rule, const char *space, u64 address, unsigned size,
               int lane) {
    Report r;
    r.rule = rule;
    r.space = space;
    r.access = !i.access || i.access->op.loads() ? "read"
               : i.access->op.updates()          ? "atomic"
                                                 : "write";
    r.address = address;
    r.bytes = size;
    r.lane = lane;
    return r;
}

} // namespace

void illegal_address(const Wave &w, const Inst &i, u64 address, unsigned size, int lane) {
    const Memory &memory = w.context->memory;
    const char *what = i.access ? verb(i.access->op) : "reads"; // a scalar load
    std::string who = lane >= 0 ? fmt::format("lane {} ", lane) : std::string();
    u64 bad = address; // the first invalid byte
    for (u64 n = 0; n < size && memory.find(bad).size && !memory.find(bad).read_only &&
                    !w.context->code.program->overlaps_code(bad, 1);
         ++n)
        ++bad;
    auto [rule, why] = judge(*w.context, bad);
    std::string services; // a null pointer may be one
    if (bad < null_page)
        services = null_services(w.context->dispatch);
    if (!services.empty())
        services = "; the launch's null services: " + services;
    Report r = details(i, rule, "global", address, size, lane);
    r.allocation = describe_allocation(memory, address);
    r.maker = origin_of(memory, address).maker;
    fault(w, i, Fault::Kind::illegal_address,
          fmt::format("illegal address: {}{} {} bytes at 0x{:x}, {}; {}{}", who, what, size,
                      address, why, r.allocation, services),
          r);
}

void lds_out_of_range(Wave &w, const Inst &i, u64 address, unsigned size, unsigned lane) {
    fault(
        w, i, Fault::Kind::illegal_address,
        fmt::format("LDS out of range: lane {} {} {} bytes at LDS address {}, the workgroup has {} "
                    "bytes",
                    lane, verb(i.access->op), size, address, w.group->lds.size()),
        details(i, "lds_out_of_bounds", "lds", address, size, static_cast<int>(lane)));
}

void scratch_out_of_range(Wave &w, const Inst &i, i64 offset, unsigned size, unsigned lane) {
    fault(w, i, Fault::Kind::illegal_address,
          fmt::format("scratch out of range: lane {} {} {} bytes at offset {}, a lane has {} bytes",
                      lane, verb(i.access->op), size, offset, w.scratch_bytes),
          details(i, "scratch_out_of_bounds", "scratch", static_cast<u64>(offset), size,
                  static_cast<int>(lane)));
}

void misaligned_atomic(Wave &w, const Inst &i, u64 address, unsigned lane) {
    fault(w, i, Fault::Kind::illegal_address,
          fmt::format("misaligned atomic: lane {} updates {} bytes at 0x{:x}; atomics must be "
                      "naturally aligned",
                      lane, i.access->op.bytes, address),
          details(i, "misaligned", "global", address, i.access->op.bytes, static_cast<int>(lane)));
}

} // namespace nw::sim
