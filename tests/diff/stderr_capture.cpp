// SPDX-License-Identifier: MIT
#include "stderr_capture.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "base/error.h"

namespace nw::diff {

StderrCapture::StderrCapture() : file_(memfd_create("stderr", 0)), saved_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    if (file_ < 0 || saved_ < 0 || dup2(file_, STDERR_FILENO) < 0)
        throw Error("stderr can't be redirected: are there too many open files?");
}

StderrCapture::~StderrCapture() {
    std::fflush(stderr);
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    close(file_);
}

std::string StderrCapture::text() const {
    std::fflush(stderr);
    std::string out(4096, '\0');
    const ssize_t size = pread(file_, out.data(), out.size(), 0);
    out.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return out;
}

} // namespace nw::diff
