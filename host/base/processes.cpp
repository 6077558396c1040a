// SPDX-License-Identifier: MIT
#include "base/processes.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <new>
#include <numeric>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/error.h"
#include "base/progress.h"

namespace nw::detail {

namespace {

struct Failure {
    std::atomic<bool> any{false};
    char text[2000] = "";
    void set(std::string_view what) {
        if (!any.exchange(true))
            what.copy(text, sizeof text - 1);
    }
};

pid_t begin(Failure &failure, const std::function<void(u64)> &item, u64 i) {
    const pid_t parent = getpid(), child = fork();
    if (child < 0)
        throw Error(fmt::format("fork: {}", std::strerror(errno)));
    if (child > 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGTERM); // whoever stops the parent stops all of it
    if (getppid() != parent)
        _exit(1);
    try {
        item(i);
    } catch (const std::exception &e) {
        failure.set(e.what());
    }
    std::fflush(nullptr);
    _exit(0); // the parent's objects are not ours to destroy
}

} // namespace

SharedMemory::SharedMemory(u64 bytes) : bytes_(std::max<u64>(bytes, 1)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED)
        throw Error(fmt::format("{} bytes of shared memory: {}", bytes_, std::strerror(errno)));
}

SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

void run_in_processes(const std::vector<u64> &work, const std::function<void(u64)> &item) {
    std::vector<u64> left(work.size());
    std::iota(left.begin(), left.end(), 0);
    std::ranges::stable_sort(left, {}, [&](u64 i) { return work[i]; });
    const u64 processors = std::max(1u, std::thread::hardware_concurrency());
    if (work.size() > 1 && processors > 1)
        setenv("HIPSIM_THREADS", "1", 0);
    const SharedMemory shared(sizeof(Failure));
    Failure &failure = *new (shared.data()) Failure;
    Progress progress(std::accumulate(work.begin(), work.end(), u64{0}));
    std::fflush(nullptr); // what is buffered would be printed by all
    std::map<pid_t, u64> running;
    while (!running.empty() || (!left.empty() && !failure.any)) {
        while (running.size() < processors && !left.empty() && !failure.any) {
            running.emplace(begin(failure, item, left.back()), left.back());
            left.pop_back();
        }
        progress.show(fmt::format("{} of {}", work.size() - left.size(), work.size()));
        int status = 0;
        const auto ended = running.find(wait(&status));
        if (ended == running.end())
            continue;
        if (status != 0)
            failure.set(fmt::format("a worker process ended with status {:#x}", status));
        progress.advance(work[ended->second]);
        running.erase(ended);
    }
    progress.clear();
    if (failure.any)
        throw Error(failure.text);
}

} // namespace nw::detail
