// SPDX-License-Identifier: MIT
#include "sim/hiprtc/program.h"

#include <algorithm>
#include <string_view>

#include "sim/hiprtc/device_library.h"

namespace nw::hiprtc {

namespace {

constexpr std::string_view marker = "__hiprtc_name_";

// As a C string literal's inside.
std::string literal(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c == '"' || c == '\\')
            out += std::string{'\\', c};
        else
            out += c == '\n' ? ' ' : c;
    return out;
}

// LLVM's text has "@marker0 = ... @symbol ..." for each expression; "": it hasn't.
std::string symbol_in(std::string_view llvm, size_t number) {
    const std::string start = "\n@" + std::string(marker) + std::to_string(number) + " = ";
    const size_t line = llvm.find(start);
    if (line == std::string_view::npos)
        return "";
    const size_t end = std::min(llvm.find('\n', line + 1), llvm.size());
    std::string_view rest = llvm.substr(line + start.size(), end - line - start.size());
    const size_t at = rest.find('@');
    if (at == std::string_view::npos)
        return "";
    rest.remove_prefix(at + 1);
    if (rest.starts_with('"'))
        return std::string(rest.substr(1, rest.find('"', 1) - 1));
    const auto ends = [](char c) {
        return !(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' ||
                 c == '-');
    };
    return {rest.begin(), std::ranges::find_if(rest, ends)};
}

} // namespace

bool Program::add_header(const std::string &name, std::string text) {
    const Folder trial;
    if (!trial.write(name, ""))
        return false;
    headers_.emplace_back(name, std::move(text));
    return true;
}

Result Program::add_name(const std::string &expression) {
    if (compiled_)
        return Result::names_after_compilation;
    if (std::ranges::find(expressions_, expression) == expressions_.end())
        expressions_.push_back(expression);
    return Result::success;
}

Result Program::lowered(const std::string &expression, const char **name) const {
    if (!compiled_)
        return Result::no_names_before_compilation;
    const auto at = lowered_.find(expression);
    if (at == lowered_.end())
        return Result::name_not_valid;
    *name = at->second.c_str();
    return Result::success;
}

// A pointer per expression names its symbol and, for templates, makes the compiler emit it.
std::string Program::whole_source() const {
    const std::string file = literal(name_.empty() ? "hiprtc_program" : name_);
    std::string text = "#line 1 \"" + file + "\"\n" + source_ + "\n";
    for (size_t n = 0; n < expressions_.size(); ++n) {
        const std::string &expression = expressions_[n];
        const size_t name = expression.find_first_not_of(" \t&");
        text += "#line 1 \"name expression " + literal(expression) + "\"\n" +
                "extern \"C\" __device__ const void *" + std::string(marker) + std::to_string(n) +
                " = (const void *)&" + expression.substr(std::min(name, expression.size())) + ";\n";
    }
    return text;
}

Result Program::compile(const std::vector<std::string> &words) {
    compiled_ = false;
    log_.clear();
    code_.clear();
    bitcode_.clear();
    lowered_.clear();
    const Options options = read_options(words);
    if (!options.refused.empty()) {
        log_ = "error: hiprtc decides itself about option " + options.refused + "\n";
        return Result::invalid_option;
    }
    const auto tools = find_tools();
    if (!tools) {
        log_ = no_tools;
        return Result::internal_error;
    }
    const Folder folder;
    const Result result = compile_in(folder, *tools, options);
    compiled_ = result == Result::success;
    return result;
}

Result Program::compile_in(const Folder &folder, const Tools &tools, const Options &options) {
    for (const auto &[name, text] : headers_)
        folder.write("headers/" + name, text);
    folder.write("program.hip", whole_source());
    std::vector<std::string> command = {tools.clang, "-x", "hip", "-std=c++17", "-O3"};
    const auto add = [](std::vector<std::string> &to, const std::vector<std::string> &more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    add(command, {"-I" + (folder.path / "headers").string()});
    add(command, options.clang);
    add(command, header_arguments(folder, options));
    std::vector<std::string> names = command;
    add(command, library_arguments(folder, tools, options, &log_));
    const std::string source = (folder.path / "program.hip").string(),
                      out = (folder.path / "out").string();
    if (options.relocatable)
        add(command, {"-fgpu-rdc", "-emit-llvm", "-c"});
    add(command, {"--no-gpu-bundle-output", source, "-o", out});
    const Outcome outcome = run(command, folder);
    log_ += outcome.said;
    std::string &binary = options.relocatable ? bitcode_ : code_;
    binary = folder.read("out");
    if (!outcome.ok || binary.empty()) {
        binary.clear();
        if (log_.find("symbol: __oc") != std::string::npos && !find_bitcode())
            log_ += "note: that function is of ROCm's device libraries, which are not installed "
                    "(Debian: rocm-device-libs)\n";
        return Result::compilation;
    }
    if (expressions_.empty())
        return Result::success;
    add(names, {"-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-w", source, "-o",
                (folder.path / "names.ll").string()});
    return find_names(folder, std::move(names));
}

Result Program::find_names(const Folder &folder, std::vector<std::string> command) {
    const Outcome outcome = run(command, folder);
    const std::string llvm = folder.read("names.ll");
    for (size_t n = 0; outcome.ok && n < expressions_.size(); ++n)
        if (std::string symbol = symbol_in(llvm, n); !symbol.empty())
            lowered_[expressions_[n]] = std::move(symbol);
    if (lowered_.size() == expressions_.size())
        return Result::success;
    log_ += outcome.said + "error: a name expression has no symbol\n";
    return Result::compilation;
}

} // namespace nw::hiprtc
