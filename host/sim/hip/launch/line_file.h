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
    LineFile() = default; // disabled
    ~LineFile();
    LineFile(const LineFile &) = delete;
    // An empty path leaves it disabled. Throws nw::Error, which names `variable`.
    void open(const char *variable, const std::string &path);
    bool wanted() const { return file_ >= 0; }
    void append(const nlohmann::ordered_json &line);

private:
    std::string variable_;
    int file_ = -1;
};

} // namespace nw::hipsim
