// SPDX-License-Identifier: MIT
// A line of assembly whose registers can be renamed, for chains of dependent and independent
// copies.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::cli {

// A register or a range of them in the line's text.
struct Operand {
    size_t at = 0, length = 0; // in the text
    char bank = 'v';           // v or s
    u32 first = 0, count = 1;
    bool operator==(const Operand &o) const {
        return bank == o.bank && first == o.first && count == o.count;
    }
    bool overlaps(const Operand &o) const {
        return bank == o.bank && first < o.first + o.count && o.first < first + count;
    }
};

class Line {
public:
    // Throws Error for what a wave can't execute often and alone: memory, branches, EXEC.
    explicit Line(std::string text);

    const std::string &text() const { return text_; }
    // The line so that it reads what it writes; nothing if no operand has the result's size.
    std::optional<std::string> dependent() const;
    // Copy n of those that depend on none but the n-th before: results in copies() different places
    // of v[first_vgpr] to v[first_vgpr + room - 1], or s[first_sgpr] and on.
    std::string copy(u32 n, u32 first_vgpr, u32 first_sgpr) const;
    u32 copies() const;

    static constexpr u32 vgpr_room = 64, sgpr_room = 8;
    static constexpr u32 vgprs = 64, sgprs = 64; // that a line may name: v0 to v63, s2 to s63

private:
    struct Half { // of a pair (VOPD), or the whole line
        std::vector<Operand> operands;
        bool has_result = false, reads_result = false;
    };
    void read_half(size_t begin, size_t end);
    u32 stride(const Half &) const;

    std::string text_;
    std::vector<Half> halves_;
};

} // namespace nw::cli
