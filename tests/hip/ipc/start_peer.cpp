// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "hip/ipc/peer.h"

namespace hip_test {

static std::vector<std::string> peer_environment() {
    std::vector<std::string> all{"HIPSIM_CHECK=all", "HIPSIM_ARCH=gfx1151"};
    for (char **variable = environ; *variable; ++variable)
        if (std::strncmp(*variable, "HIPSIM_", 7) != 0)
            all.emplace_back(*variable);
    return all;
}

Peer::Peer() {
    signal(SIGPIPE, SIG_IGN); // a line to a peer that has ended
    int to[2], from[2];
    REQUIRE_EQ(pipe2(to, O_CLOEXEC), 0);
    REQUIRE_EQ(pipe2(from, O_CLOEXEC), 0);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, to[0], 0);
    posix_spawn_file_actions_adddup2(&files, from[1], 1);
    std::string program = NW_BUILD_DIR "/bin/tests/ipc_peer";
    char *const arguments[] = {program.data(), nullptr};
    auto variables = peer_environment();
    std::vector<char *> environment;
    for (std::string &variable : variables)
        environment.push_back(variable.data());
    environment.push_back(nullptr);
    const int error =
        posix_spawn(&process_, program.c_str(), &files, nullptr, arguments, environment.data());
    posix_spawn_file_actions_destroy(&files);
    ::close(to[0]);
    ::close(from[1]);
    input_ = to[1];
    output_ = from[0];
    REQUIRE_EQ(error, 0);
}

Peer::~Peer() {
    end();
    ::close(output_);
}

void Peer::tell(const std::string &line) {
    const std::string text = line + "\n";
    static_cast<void>(write(input_, text.data(), text.size()));
}

std::string Peer::hear() {
    std::string line;
    for (char c = 0; read(output_, &c, 1) == 1 && c != '\n';)
        line += c;
    return line;
}

std::string Peer::operator()(const std::string &line) {
    tell(line);
    return hear();
}

void Peer::reap() {
    if (process_ > 0)
        waitpid(process_, nullptr, 0);
    process_ = 0;
}

void Peer::end() {
    if (input_ >= 0)
        ::close(input_);
    input_ = -1;
    reap();
}

void Peer::kill() {
    ::kill(process_, SIGKILL);
    reap();
}

} // namespace hip_test
