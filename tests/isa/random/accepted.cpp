// SPDX-License-Identifier: MIT
#include "isa/random/accepted.h"

#include <sstream>
#include <stdexcept>

#include "sim/assemble.h"

namespace nw::oracle {

namespace {

constexpr std::string_view refused_form = "s_trap 2 // LLVM has no such form";

// The numbers of the lines that "test.s:LINE:COLUMN: error:" complains of, from 1 on.
std::set<size_t> lines_with_errors(const std::string &said) {
    std::set<size_t> lines;
    std::istringstream in(said);
    for (std::string line; std::getline(in, line);)
        if (size_t at = line.find("test.s:"); line.find(": error:") != std::string::npos)
            lines.insert(std::stoul(line.substr(at + 7)));
    return lines;
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines{""};
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

} // namespace

Accepted accept(std::vector<KernelSource> kernels, const std::string &gfx, unsigned wave) {
    Accepted a;
    a.refused.resize(kernels.size());
    std::string text = program_text(kernels, gfx, wave);
    try {
        a.code = sim::test::assemble(gfx, text);
        return a;
    } catch (const std::runtime_error &error) {
        std::set<std::string> refused;
        const std::vector<std::string> lines = lines_of(text);
        for (size_t n : lines_with_errors(error.what()))
            refused.insert(lines.at(n).substr(2)); // without indentation
        for (size_t k = 0; k < kernels.size(); ++k)
            for (u32 n = 0; n < kernels[k].forms.size(); ++n)
                if (refused.contains(sim::test::spelled(gfx, kernels[k].forms[n]))) {
                    a.refused[k].insert(n);
                    kernels[k].forms[n] = refused_form;
                }
    }
    a.code = sim::test::assemble(gfx, program_text(kernels, gfx, wave));
    return a;
}

} // namespace nw::oracle
