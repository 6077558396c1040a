// SPDX-License-Identifier: MIT
// Captures the process's stderr while it lives: the simulated GPU prints there why a launch
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
