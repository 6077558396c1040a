// SPDX-License-Identifier: MIT
// What the process writes to stderr while this lives: the simulated GPU says there why a launch
// failed.
#pragma once
#include <string>

namespace nw::diff {

class StderrCapture {
public:
    StderrCapture();
    ~StderrCapture();
    StderrCapture(const StderrCapture &) = delete;
    StderrCapture &operator=(const StderrCapture &) = delete;
    std::string text() const;

private:
    int file_, saved_;
};

} // namespace nw::diff
