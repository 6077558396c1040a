// SPDX-License-Identifier: MIT
#include "nw/html.h"

#include "base/types.h"

namespace nw::cli {

const char *const page_style = R"(
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1e21; --faint: #6b7280; --rule: #e5e7eb;
  --hot: 220 60 0; --loop: #3b82f6; }
@media (prefers-color-scheme: dark) { :root { --paper: #14161a; --ink: #e5e7eb; --faint: #8b93a1;
  --rule: #2a2e35; --hot: 255 110 30; --loop: #60a5fa; } }
body { background: var(--paper); color: var(--ink); font: 14px/1.4 system-ui, sans-serif;
  margin: 1.5rem; }
h1 { font-size: 1.2rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
.wide { overflow-x: auto; }
)";

std::string escape(std::string_view text) {
    std::string out;
    for (char c : text)
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        case '\n': // of a tooltip
            out += "&#10;";
            break;
        default:
            out += static_cast<u8>(c) < ' ' && c != '\t' ? '?' : c;
        }
    return out;
}

} // namespace nw::cli
