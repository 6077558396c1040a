// SPDX-License-Identifier: MIT
// A second process that uses HIP: peer.cpp.
#pragma once
#include <string>

namespace hip_test {

class Peer {
public:
    Peer(); // with all checkers on
    ~Peer();
    Peer(const Peer &) = delete;
    // The peer's answer to a line; "" if it has ended.
    std::string operator()(const std::string &line);
    void tell(const std::string &line); // without waiting for the answer
    std::string hear();
    void end();  // it returns from main
    void kill(); // it doesn't
    int process() const { return process_; }

private:
    void reap();
    int process_ = 0, input_ = -1, output_ = -1;
};

} // namespace hip_test
