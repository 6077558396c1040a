// SPDX-License-Identifier: MIT
// A file of JSON lines that the environment asked for; several processes may append to one.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nw::hipsim {

// Names of a code object may be no UTF-8.
std::string text_of(const nlohmann::ordered_json &line);

class LineFile {
public:
    // An empty path is no file. What can't be opened or written is said on stderr under the name of
    // `variable`; `without` is what then isn't kept ("statistics").
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
