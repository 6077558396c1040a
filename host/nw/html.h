// SPDX-License-Identifier: MIT
// What the HTML pages have in common.
#pragma once
#include <string>
#include <string_view>

namespace nw::cli {

std::string escape(std::string_view text); // for elements and attributes; line breaks stay

// Colours, text and headings, for a browser's light and dark schemes. Of the pages' own rules use
// --paper, --ink, --faint, --rule, --hot (an RGB triple) and --loop.
extern const char *const page_style;

} // namespace nw::cli
