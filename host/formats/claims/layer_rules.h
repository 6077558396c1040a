// SPDX-License-Identifier: MIT
// How config files name layers.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw {

// A module's path without the modules around a language model ("model", "language_model"), which
// savers put in front, leave out and order in several ways: a layer is meant by any of these.
std::string plain_path(std::string_view path);

// Names of modules that an entry of a config means. Unlike base/pattern.h, whose expressions are of
// the user, it takes no exponential time. <regex> stays out of this header: it takes seconds to
// compile.
class LayerPattern {
public:
    // A regular expression that a name begins with a match of, as Python's re.match; `where` names
    // it in errors. Throws Error: it is none, or uses what only Python's have.
    static LayerPattern regex(const std::string &text, const std::string &where);
    static LayerPattern glob(std::string_view text); // as fnmatch: * ? and the rest as it is
    static LayerPattern path(std::string_view text); // by plain_path

    bool matches(const std::string &name) const;
    bool exact() const { return kind_ == Kind::path; }
    const std::string &text() const { return text_; } // of a path: the plain one

private:
    enum class Kind : u8 { path, begin, regex };
    Kind kind_ = Kind::path;
    std::string text_;
    struct Expression;
    std::shared_ptr<const Expression> expression_;
};

} // namespace nw
