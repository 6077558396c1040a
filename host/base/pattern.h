// SPDX-License-Identifier: MIT
// The value of an option that is a regular expression. <regex> stays out of this header: it takes
// seconds to compile.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace nw {

class Pattern {
public:
    // The syntax is ECMAScript's. Throws Error, which names the option, if the text is none.
    Pattern(std::string_view option, const std::string &text);

    // Whether some part of `text` matches.
    bool found_in(std::string_view text) const;

    // "; there are A, B and 5 more": the names that this option's patterns were tried on, for the
    // error that none of them matched.
    static std::string names(std::string_view option);

private:
    struct Expression;
    std::shared_ptr<const Expression> expression_;
};

} // namespace nw
