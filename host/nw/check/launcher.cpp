// SPDX-License-Identifier: MIT
#include "nw/check/launcher.h"

#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "hip/library.h"
#include "nw/code_object.h"

namespace nw::cli {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// ---- the folder

CheckFolder::CheckFolder() : folder_("the findings") { link_libraries(); }

// Under all names that programs ask for: a wheel can't hold links.
void CheckFolder::link_libraries() const {
    const fs::path library = hip::simulated_library()->path, folder = folder_.file("lib");
    fs::create_directory(folder);
    for (const char *name : {"libamdhip64.so", "libhiprtc.so"}) {
        const fs::path file = library.parent_path() / name;
        if (!fs::exists(file))
            continue;
        for (const char *end : {"", ".5", ".6", ".7"})
            fs::create_symlink(fs::canonical(file), folder / (std::string(name) + end));
    }
    if (const fs::path audit = library.parent_path() / "libhipsim_audit.so"; fs::exists(audit))
        fs::create_symlink(fs::canonical(audit), folder / audit.filename());
}

void CheckFolder::write_settings(const nlohmann::ordered_json &settings) const {
    write_text("nw check", folder_.file("settings.json"), settings.dump());
}

// ---- the program

namespace {

void prepend(const char *variable, const std::string &value) {
    const char *before = std::getenv(variable);
    const std::string all = before && *before ? value + ":" + before : value;
    setenv(variable, all.c_str(), 1);
}

// Pairs of H-026: compilers up to LLVM 22 form them, so their users are told only if they ask.
void leave_out_pairs() {
    const char *before = std::getenv("HIPSIM_CHOICES");
    const std::string choices = before ? before : "";
    if (choices.find("vopd_interlock") == choices.npos)
        setenv("HIPSIM_CHOICES",
               (choices + (choices.empty() ? "" : ",") + "vopd_interlock=kept").c_str(), 1);
}

// A kernel of so many instructions per wave would have hung a card.
constexpr const char *most_instructions = "4294967296";

void set_environment(const std::string &folder, const std::string &gfx,
                     const std::string &checkers) {
    setenv("HIPSIM_ARCH", gfx.c_str(), 1);
    setenv("HIPSIM_CHECK", checkers.c_str(), 1);
    setenv("HIPSIM_FINDINGS", folder.c_str(), 1);
    setenv("HIPSIM_TIMING", "off", 1); // timed launches end at the first finding
    setenv("HIPSIM_MAX_INSTS", most_instructions, 0);
    prepend("LD_LIBRARY_PATH", folder + "/lib");
    if (const std::string audit = folder + "/lib/libhipsim_audit.so"; fs::exists(audit))
        prepend("LD_AUDIT", audit);
}

// Returns only if it fails: tells the parent why.
[[noreturn]] void execute(const std::vector<std::string> &program, int tell) {
    std::vector<char *> words;
    for (const std::string &word : program)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    const int why = errno;
    static_cast<void>(!write(tell, &why, sizeof why));
    _exit(127);
}

volatile std::sig_atomic_t interrupted = 0;
pid_t running = 0;

void pass_on(int number) {
    interrupted = number;
    if (running > 0)
        kill(running, number);
}

pid_t start(const std::vector<std::string> &program) {
    int tell[2];
    if (pipe2(tell, O_CLOEXEC) != 0)
        throw Error(fmt::format("pipe: {}", std::strerror(errno)));
    const pid_t child = fork();
    if (child < 0)
        throw Error(fmt::format("fork: {}", std::strerror(errno)));
    if (child == 0)
        execute(program, tell[1]);
    close(tell[1]);
    int why = 0;
    const bool failed = read(tell[0], &why, sizeof why) == sizeof why;
    close(tell[0]);
    if (!failed)
        return child;
    waitpid(child, nullptr, 0);
    throw Error(
        why == ENOENT
            ? fmt::format("{}: not found: give the program's path, or a name in PATH", program[0])
            : fmt::format("{}: can't be run: {}", program[0], std::strerror(why)));
}

constexpr auto poll_interval = std::chrono::milliseconds(2);
constexpr auto patience = std::chrono::seconds(10); // for processes that outlive the program

// Orphans become our children. False while any runs at the deadline.
bool wait_for_orphans(Clock::time_point deadline) {
    for (;;) {
        const pid_t ended = waitpid(-1, nullptr, WNOHANG);
        if (ended < 0 && errno == ECHILD)
            return true;
        if (ended == 0 && (Clock::now() >= deadline || interrupted))
            return false;
        if (ended == 0)
            std::this_thread::sleep_for(poll_interval);
    }
}

// Of /proc: those whose parent we are.
std::vector<pid_t> children() {
    std::vector<pid_t> out;
    const std::string list = read_text(fmt::format("/proc/self/task/{}/children", getpid()));
    for (const char *at = list.c_str(); *at;) {
        char *end = nullptr;
        const long number = std::strtol(at, &end, 10);
        if (end == at)
            break;
        out.push_back(static_cast<pid_t>(number));
        at = end;
    }
    return out;
}

void end_all() {
    for (const int number : {SIGTERM, SIGKILL}) {
        for (const pid_t child : children())
            kill(child, number);
        if (wait_for_orphans(Clock::now() + std::chrono::seconds(2)))
            return;
    }
}

} // namespace

Ended run_checked(const CheckFolder &folder, const std::vector<std::string> &program,
                  const std::string &gfx, const std::string &checkers, bool pairs, u32 timeout) {
    set_environment(folder.path(), gfx, checkers);
    if (!pairs)
        leave_out_pairs();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    running = start(program);
    std::signal(SIGINT, SIG_IGN); // a terminal sends these to the program, too
    std::signal(SIGQUIT, SIG_IGN);
    std::signal(SIGTERM, pass_on);
    std::signal(SIGHUP, pass_on);
    const auto deadline =
        timeout ? Clock::now() + std::chrono::seconds(timeout) : Clock::time_point::max();
    Ended ended;
    int status = 0;
    for (pid_t done = 0; done != running;) {
        done = waitpid(-1, &status, timeout ? WNOHANG : 0);
        if (done < 0 && errno != EINTR)
            throw Error(fmt::format("waitpid: {}", std::strerror(errno)));
        if (done == 0 && Clock::now() >= deadline) {
            ended.timed_out = true;
            end_all();
            return ended;
        }
        if (done == 0)
            std::this_thread::sleep_for(poll_interval);
    }
    running = 0;
    if (WIFSIGNALED(status))
        ended.signal = WTERMSIG(status);
    else
        ended.code = WEXITSTATUS(status);
    if (!wait_for_orphans(std::min(deadline, Clock::now() + patience)))
        ended.left = static_cast<u32>(children().size());
    return ended;
}

} // namespace nw::cli
