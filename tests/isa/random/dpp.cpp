// SPDX-License-Identifier: MIT
#include "isa/random/dpp.h"

#include <fmt/format.h>

namespace nw::oracle {

std::string Dpp::text() const {
    if (eight)
        return control + (fi ? " fi:1" : "");
    return fmt::format("{} row_mask:{:#x} bank_mask:{:#x}{}{}", control, row_mask, bank_mask,
                       bound_ctrl ? " bound_ctrl:1" : "", fi ? " fi:1" : "");
}

Dpp::Fetch Dpp::fetch(int l, u64 exec) const {
    int lane = from(l);
    bool readable = lane != outside && (fi || (exec >> lane & 1));
    if (!(row_mask >> l / 16 & 1) || !(bank_mask >> l % 16 / 4 & 1))
        return Fetch::nothing;
    return readable ? Fetch::lane : eight || bound_ctrl ? Fetch::zero : Fetch::nothing;
}

std::vector<Dpp> dpp_controls() {
    std::vector<Dpp> all;
    auto add = [&](std::string text, std::function<int(int)> from) {
        all.push_back({std::move(text), std::move(from)});
    };
    for (int n : {1, 2, 7, 15}) {
        add(fmt::format("row_shl:{}", n), [n](int l) { return l % 16 + n < 16 ? l + n : outside; });
        add(fmt::format("row_shr:{}", n), [n](int l) { return l % 16 >= n ? l - n : outside; });
        add(fmt::format("row_ror:{}", n), [n](int l) { return (l & ~15) | ((l - n) & 15); });
        add(fmt::format("row_share:{}", n), [n](int l) { return (l & ~15) | n; });
        add(fmt::format("row_xmask:{}", n), [n](int l) { return l ^ n; });
    }
    add("row_mirror", [](int l) { return l ^ 15; });
    add("row_half_mirror", [](int l) { return l ^ 7; });
    add("quad_perm:[2,0,3,1]", [](int l) {
        constexpr int to[] = {2, 0, 3, 1};
        return (l & ~3) | to[l & 3];
    });
    return all;
}

Dpp dpp8() {
    Dpp d{"dpp8:[5,0,7,7,1,2,6,3]", [](int l) {
              constexpr int to[] = {5, 0, 7, 7, 1, 2, 6, 3};
              return (l & ~7) | to[l & 7];
          }};
    d.eight = true;
    return d;
}

} // namespace nw::oracle
