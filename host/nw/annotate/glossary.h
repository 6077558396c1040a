// SPDX-License-Identifier: MIT
// The words of the page, explained.
#pragma once
#include <string>
#include <string_view>

namespace nw::cli {

// The word as HTML, with its explanation on hover; a word without one as it is.
std::string explained(std::string_view word);
// All of them, as a list.
std::string glossary_html();

} // namespace nw::cli
