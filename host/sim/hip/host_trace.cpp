// SPDX-License-Identifier: MIT
#include "sim/hip/host_trace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/types.h"

namespace nw::hipsim {

namespace {

constexpr int most_frames = 48; // with ours
constexpr size_t most_kept = 16;

// An object file of the process, and the symbol that an address is in.
struct ObjectFile {
    const link_map *map = nullptr;
    Dl_info info = {};
    explicit ObjectFile(const void *address) {
        void *found = nullptr;
        if (dladdr1(address, &info, &found, RTLD_DL_LINKMAP))
            map = static_cast<const link_map *>(found);
    }
};

const link_map *our_map() {
    static const link_map *const map = ObjectFile(reinterpret_cast<const void *>(&host_trace)).map;
    return map;
}

// A return address may be the first of the next function.
const void *call_of(const void *address) { return static_cast<const char *>(address) - 1; }

} // namespace

HostTrace host_trace() {
    void *frames[most_frames];
    const int count = backtrace(frames, most_frames);
    const auto is_ours = [](const void *frame) {
        return ObjectFile(call_of(frame)).map == our_map();
    };
    void **const first = std::find_if_not(frames, frames + count, is_ours);
    void **const last =
        first + std::min<size_t>(most_kept, static_cast<size_t>(frames + count - first));
    return HostTrace(first, last);
}

nlohmann::ordered_json json_of(const HostTrace &trace) {
    auto out = nlohmann::ordered_json::array();
    for (const void *frame : trace) {
        const ObjectFile module(call_of(frame));
        const u64 address = reinterpret_cast<u64>(call_of(frame));
        out.push_back({{"module", module.info.dli_fname ? module.info.dli_fname : ""},
                       {"address", module.map ? address - module.map->l_addr : address},
                       {"symbol", module.info.dli_sname ? module.info.dli_sname : ""}});
    }
    return out;
}

} // namespace nw::hipsim
