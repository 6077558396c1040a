// SPDX-License-Identifier: MIT
#include "sim/func/access.h"

#include <fmt/format.h>

#include "sim/func/launch.h"

namespace nw::sim {

namespace {

const char *verb(const MemoryOp &op) {
    return op.updates() ? "updates" : op.loads() ? "reads" : "writes";
}

} // namespace

std::string describe_allocation(const Memory &memory, u64 address) {
    Allocation a = memory.nearest(address);
    if (a.size == 0 && a.begin == 0)
        return "there is no allocation";
    std::string where;
    if (address >= a.begin + a.size)
        where = fmt::format("{} bytes past its end", address - (a.begin + a.size));
    else if (address < a.begin)
        where = fmt::format("{} bytes before it", a.begin - address);
    else
        where = fmt::format("{} bytes before its end", a.begin + a.size - address);
    return fmt::format("the nearest allocation is #{}, 0x{:x} of {} bytes: {}", a.id, a.begin,
                       a.size, where);
}

bool reachable(Wave &w, const Inst &i, u64 address, u64 size) {
    Context &context = *w.context;
    RangeCache &cache = *w.cache;
    u64 generation = context.memory.generation();
    if (cache.generation != generation) [[unlikely]] {
        cache = {};
        cache.generation = generation;
    }
    RangeCache::Range &r = cache.ranges[i.index % RangeCache::size];
    if (address >= r.begin && address + size <= r.end && address + size >= address) [[likely]]
        return true;
    auto image = context.code.program->image();
    u64 image_begin = reinterpret_cast<u64>(image.data());
    Allocation a = context.memory.find(address);
    if (a.size == 0 && address - image_begin < image.size())
        a = {image_begin, image.size(), 0};
    if (a.size == 0 || size > a.size || address - a.begin > a.size - size)
        return false;
    r = {a.begin, a.begin + a.size};
    return true;
}

void illegal_address(Wave &w, const Inst &i, u64 address, unsigned size, int lane) {
    const char *what = i.cls == Class::smem ? "reads" : verb(i.access->op);
    std::string who = lane >= 0 ? fmt::format("lane {} ", lane) : std::string();
    fault(
        w, i, Fault::Kind::illegal_address,
        fmt::format("illegal address: {}{} {} bytes at 0x{:x}, which no live allocation holds; {}",
                    who, what, size, address, describe_allocation(w.context->memory, address)));
}

void lds_out_of_range(Wave &w, const Inst &i, u64 address, unsigned size, unsigned lane) {
    fault(
        w, i, Fault::Kind::illegal_address,
        fmt::format("LDS out of range: lane {} {} {} bytes at LDS address {}, the workgroup has {} "
                    "bytes",
                    lane, verb(i.access->op), size, address, w.group->lds.size()));
}

void scratch_out_of_range(Wave &w, const Inst &i, i64 offset, unsigned size, unsigned lane) {
    fault(w, i, Fault::Kind::illegal_address,
          fmt::format("scratch out of range: lane {} {} {} bytes at offset {}, a lane has {} bytes",
                      lane, verb(i.access->op), size, offset, w.scratch_bytes));
}

void misaligned_atomic(Wave &w, const Inst &i, u64 address, unsigned lane) {
    fault(w, i, Fault::Kind::illegal_address,
          fmt::format("misaligned atomic: lane {} updates {} bytes at 0x{:x}; atomics must be "
                      "naturally aligned",
                      lane, i.access->op.bytes, address));
}

} // namespace nw::sim
