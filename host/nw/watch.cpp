// SPDX-License-Identifier: MIT
#include "nw/watch.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/temporary_folder.h"
#include "nw/code_object.h"
#include "nw/compile.h"

namespace nw::cli {

namespace fs = std::filesystem;

namespace {

constexpr auto poll_interval = std::chrono::milliseconds(100);

// ---- the files

// Names in .include and .incbin of assembly, in #include of HIP and OpenCL C.
std::vector<std::string> included_names(const std::string &text, bool assembly) {
    static const std::regex of_assembly(
        R"re((?:^|\n|;)[ \t]*\.inc(?:lude|bin)[ \t]+"([^"\n]+)")re");
    static const std::regex of_c(R"re((?:^|\n)[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">])re");
    std::vector<std::string> names;
    const std::regex &directive = assembly ? of_assembly : of_c;
    for (std::sregex_iterator at(text.begin(), text.end(), directive), end; at != end; ++at)
        names.push_back((*at)[1]);
    return names;
}

// The sources with all that they include, directly or not. Compilers search several folders, and a
// file may appear later: the places where none is yet are watched, too.
class Files {
public:
    explicit Files(const std::vector<std::string> &named) {
        for (const std::string &file : named) {
            main_ = fs::path(file).parent_path();
            assembly_ = is_assembly(file);
            add(file, is_source(file));
        }
    }
    const std::set<std::string> &paths() const { return paths_; }

private:
    void add(const fs::path &path, bool source) {
        std::error_code ignored;
        if (!paths_.insert(path.lexically_normal().string()).second || !source ||
            !fs::is_regular_file(path, ignored) || access(path.c_str(), R_OK) != 0)
            return;
        for (const std::string &name : included_names(read_text(path.string()), assembly_))
            for (const fs::path &folder : {path.parent_path(), main_, fs::path()})
                add(folder / name, true);
    }

    std::set<std::string> paths_;
    fs::path main_; // -I of the compilers
    bool assembly_ = false;
};

struct State {
    bool there = false;
    i64 seconds = 0, nanoseconds = 0, bytes = 0;
    u64 inode = 0;
    bool operator==(const State &) const = default;
};
using States = std::map<std::string, State>;

States states_of(const std::set<std::string> &paths) {
    States states;
    for (const std::string &path : paths) {
        struct stat info {};
        State &state = states[path];
        if (stat(path.c_str(), &info) == 0)
            state = {true, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size, info.st_ino};
    }
    return states;
}

bool all_there(const States &states, const std::vector<std::string> &files) {
    return std::ranges::all_of(files, [&](const std::string &file) {
        return states.at(fs::path(file).lexically_normal().string()).there;
    });
}

std::string first_difference(const States &before, const States &now) {
    for (const auto &[path, state] : now)
        if (state != before.at(path))
            return path;
    return "";
}

// ---- the process

volatile std::sig_atomic_t received = 0;

void receive(int number) { received = number; }

// Ignored signals stay so: SIGHUP of nohup, SIGINT of a script's background job.
void handle_signals(void (*handler)(int)) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        if (std::signal(number, handler) == SIG_IGN)
            std::signal(number, SIG_IGN);
}

// Runs work in a child, whose temporary files are in a folder of their own: a child that is ended
// leaves them.
class Round {
public:
    enum class Role { parent, child };

    Round() : folder_(std::make_unique<TemporaryFolder>("--watch")) {}

    Role start() {
        const pid_t parent = getpid();
        std::fflush(nullptr); // the child would write it again
        child_ = fork();
        if (child_ < 0)
            throw Error(fmt::format("fork: {}: --watch runs each time in a process of its own",
                                    std::strerror(errno)));
        if (child_ > 0)
            return Role::parent;
        handle_signals(SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGTERM); // even if the parent is killed
        if (getppid() != parent)
            _exit(exit_failure);
        setenv("TMPDIR", folder_->path().c_str(), 1);
        static_cast<void>(folder_.release()); // the parent removes it
        return Role::child;
    }
    bool is_running() {
        if (child_ > 0 && waitpid(child_, &status_, WNOHANG) == child_)
            child_ = 0;
        return child_ > 0;
    }
    void end() {
        if (child_ > 0) {
            kill(child_, SIGTERM);
            waitpid(child_, &status_, 0);
        }
        child_ = 0;
    }
    std::string outcome() const {
        return WIFSIGNALED(status_) ? fmt::format("ended by signal {} ({})", WTERMSIG(status_),
                                                  strsignal(WTERMSIG(status_)))
                                    : fmt::format("exit code {}", WEXITSTATUS(status_));
    }

private:
    std::unique_ptr<TemporaryFolder> folder_;
    pid_t child_ = 0;
    int status_ = 0;
};

// As if there were no handler, so that a shell sees 130 after Ctrl-C.
[[noreturn]] void end_by_signal() {
    std::signal(received, SIG_DFL);
    std::raise(received);
    _exit(128 + received);
}

class Watch {
public:
    explicit Watch(const std::vector<std::string> &files) : files_(files) {}

    // Returns in the children alone.
    void run() {
        handle_signals(receive);
        for (;;) {
            before_ = states_of(Files(files_).paths());
            Round round;
            if (round.start() == Round::Role::child)
                return;
            const std::string changed = wait(round);
            round.end();
            if (received)
                break;
            fmt::print(stderr, "\nnw: {:%H:%M:%S} {} changed\n", local_time(), changed);
        }
        end_by_signal();
    }

private:
    static std::tm local_time() {
        const std::time_t now = std::time(nullptr);
        return *std::localtime(&now);
    }

    // The file that has changed, as soon as nothing is being written any more; ended by a signal,
    // any text.
    std::string wait(Round &round) {
        bool told = false;
        States last = before_;
        while (!received) {
            if (!told && !round.is_running()) {
                told = true;
                std::size_t there = 0;
                for (const auto &[path, state] : before_)
                    there += state.there;
                fmt::print(stderr, "nw: {}; waits for a change of {}{}, Ctrl-C ends\n",
                           round.outcome(), fmt::join(files_, ", "),
                           there > files_.size()
                               ? fmt::format(" and {} included", there - files_.size())
                               : "");
            }
            std::this_thread::sleep_for(poll_interval);
            States now = states_of(paths());
            const std::string changed = first_difference(before_, now);
            if (!changed.empty() && now == last && all_there(now, files_))
                return changed;
            last = std::move(now);
        }
        return "";
    }

    std::set<std::string> paths() const {
        std::set<std::string> paths;
        for (const auto &[path, state] : before_)
            paths.insert(path);
        return paths;
    }

    const std::vector<std::string> files_;
    States before_; // when this round began
};

bool is_there(const std::string &file) {
    std::error_code ignored;
    return fs::exists(file, ignored);
}

} // namespace

void add_watch_option(Command &command, bool &watch) {
    command.add("--watch", &watch,
                "Again whenever the file, or one that it includes, changes; Ctrl-C ends it");
}

void run_watched(bool watch, const std::vector<std::string> &files,
                 const std::function<void()> &work) {
    if (watch && !files.empty() && std::ranges::all_of(files, is_there))
        Watch(files).run();
    work();
}

} // namespace nw::cli
