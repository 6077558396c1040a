// SPDX-License-Identifier: MIT
// Shared by the small ggml programs of this folder: backends, counts of cases, errors.
#pragma once
#include <ggml-backend.h>

#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

constexpr double most_nmse = 5e-4; // test-backend-ops has the same

// Loads backend libraries, paths separated by ':'. Prints failed ones, and returns false.
inline bool load_backends(const std::string &all) {
    std::stringstream paths(all);
    bool good = true;
    for (std::string path; std::getline(paths, path, ':');)
        if (!ggml_backend_load(path.c_str()))
            std::printf("not loaded: %s\n", path.c_str()), good = false;
    return good;
}

// Numbers of cases.
inline int passed = 0, failed = 0;

inline void count(const std::string &what, bool good, const std::string &note = "") {
    (good ? passed : failed)++;
    std::printf("%s: %s%s%s\n", what.c_str(), good ? "passed" : "FAILED", note.empty() ? "" : ", ",
                note.c_str());
    std::fflush(stdout);
}

// The program's last line, and its exit code.
inline int end_of_cases() {
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}

// Mean squared error by the mean square of the expected values.
inline double nmse(const std::vector<float> &got, const std::vector<float> &want) {
    double off = 0, all = 0;
    for (std::size_t i = 0; i < want.size(); i++) {
        off += std::pow(double(got[i]) - want[i], 2);
        all += std::pow(double(want[i]), 2);
    }
    return off / all;
}
