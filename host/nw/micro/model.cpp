// SPDX-License-Identifier: MIT
#include "nw/micro/model.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace nw::cli {

namespace {

namespace fs = std::filesystem;

// A folder that goes away with its owner.
class Scratch {
public:
    Scratch() {
        std::string name = fs::temp_directory_path() / "nw_micro_XXXXXX";
        if (!mkdtemp(name.data()))
            throw Error(fmt::format("{}: can't create a directory there", name));
        path_ = name;
    }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    std::string operator/(const char *name) const { return path_ / name; }

private:
    fs::path path_;
};

std::string expression(const std::vector<std::string> &names) {
    std::string out;
    for (const std::string &name : names) {
        out += out.empty() ? "^(?:" : "|";
        for (const char c : name)
            out += std::string(std::isalnum(static_cast<unsigned char>(c)) || c == ' ' || c == '_'
                                   ? ""
                                   : "\\") +
                   c;
    }
    return out + ")$";
}

// The child's side: never returns.
[[noreturn]] void become(std::vector<std::string> arguments) {
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    std::vector<char *> raw;
    for (std::string &a : arguments)
        raw.push_back(a.data());
    raw.push_back(nullptr);
    execv("/proc/self/exe", raw.data());
    _exit(127);
}

void run(const std::vector<std::string> &arguments, const sim::timing::Part &part,
         const std::string &profile) {
    const pid_t child = fork();
    if (child == 0) {
        setenv("HIPSIM_TIMING", "on", 1);
        setenv("HIPSIM_PROFILE", profile.c_str(), 1);
        setenv("HIPSIM_PART", std::string(part.name).c_str(), 1);
        become(arguments);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        throw Error(fmt::format("{} failed on the model (status {}); see its output above",
                                fmt::join(arguments, " "), status));
}

} // namespace

Measure on_model(const sim::timing::Part &part, u64 bytes) {
    return
        [&part, bytes](const sim::timing::Profile &profile, const std::vector<std::string> &names) {
            const Scratch scratch;
            sim::timing::write_profile(scratch / "profile.json", profile);
            run({"nw", "micro", "--device", fmt::format("sim:{}", part.gfx), "--only",
                 expression(names), "--mib", std::to_string(std::max<u64>(1, bytes >> 20)),
                 "--json", scratch / "rows.json"},
                part, scratch / "profile.json");
            return micro::read_report(scratch / "rows.json");
        };
}

} // namespace nw::cli
