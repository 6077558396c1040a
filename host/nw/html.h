// SPDX-License-Identifier: MIT
// Common parts of the HTML pages.
#pragma once
#include <string>
#include <string_view>

namespace nw::cli {

std::string escape(std::string_view text); // for elements and attributes; line breaks stay

// Colours, text and headings for light and dark schemes. The pages' own rules use
// --paper, --ink, --faint, --rule, --hot (an RGB triple) and --loop. What may be wider than the
// page is in a <div class="wide">, which scrolls by itself.
extern const char *const page_style;

} // namespace nw::cli
