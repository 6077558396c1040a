// SPDX-License-Identifier: MIT
#include "ref/add_id.h"

#include <cmath>

#include "ref/need_size.h"

namespace nw::ref {

std::vector<f32> add_id(std::span<const f32> a, std::span<const f32> b, std::span<const i32> ids,
                        u64 k) {
    need_size("a", a.size(), ids.size() * k);
    const i64 rows = static_cast<i64>(b.size() / k);
    std::vector<f32> c;
    c.reserve(a.size());
    for (u64 i = 0; i < a.size(); ++i) {
        const i64 id = ids[i / k];
        c.push_back(id >= 0 && id < rows ? a[i] + b[id * k + i % k] : NAN);
    }
    return c;
}

} // namespace nw::ref
