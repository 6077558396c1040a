// SPDX-License-Identifier: MIT
// A program of hiprtc: source, headers and name expressions in; code, log and lowered names out.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/hiprtc/compiler.h"
#include "sim/hiprtc/options.h"

namespace nw::hiprtc {

// hiprtcResult's values.
enum class Result {
    success = 0,
    out_of_memory = 1,
    creation_failure = 2,
    invalid_input = 3,
    invalid_program = 4,
    invalid_option = 5,
    compilation = 6,
    builtin_failure = 7,
    names_after_compilation = 8,
    no_names_before_compilation = 9,
    name_not_valid = 10,
    internal_error = 11,
    linking = 100
};

class Program {
public:
    Program(std::string source, std::string name)
        : source_(std::move(source)), name_(std::move(name)) {}

    bool add_header(const std::string &name, std::string text); // false: not a name below a folder
    Result add_name(const std::string &expression);
    Result compile(const std::vector<std::string> &options);
    // The symbol of an expression; lives as long as the program.
    Result lowered(const std::string &expression, const char **name) const;

    const std::string &log() const { return log_; }
    const std::string &code() const { return code_; }
    const std::string &bitcode() const { return bitcode_; } // after -fgpu-rdc

private:
    Result compile_in(const Folder &folder, const Tools &tools, const Options &options);
    std::string whole_source() const;
    Result find_names(const Folder &folder, std::vector<std::string> command);

    std::string source_, name_, log_, code_, bitcode_;
    std::vector<std::pair<std::string, std::string>> headers_;
    std::vector<std::string> expressions_;
    std::map<std::string, std::string> lowered_;
    bool compiled_ = false;
};

} // namespace nw::hiprtc
