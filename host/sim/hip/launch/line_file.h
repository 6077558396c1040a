// SPDX-License-Identifier: MIT
// A file of JSON lines that the environment asked for; several processes may append to one.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nw::hipsim {

// Names in a code object may be invalid UTF-8.
std::string text_of(const nlohmann::ordered_json &line);

class LineFile {
public:
    // An empty path disables the file. Failures are reported on stderr under `variable`; `without`
    // names what is lost ("statistics").
    LineFile(std::string variable, const std::string &path, const char *without);
    ~LineFile();
    LineFile(const LineFile &) = delete;
    bool wanted() const { return file_ >= 0; }
    void append(const nlohmann::ordered_json &line);

private:
    std::string variable_;
    int file_ = -1;
};

} // namespace nw::hipsim
