// SPDX-License-Identifier: MIT
// --watch: a command that runs again whenever a file that it reads changes.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/command_line.h"

namespace nw::cli {

void add_watch_option(Command &, bool &watch);

// Runs work() once; with `watch` in a child process, again after each change of the files or of
// what they include, until a signal ends this process. A file that isn't there is an ordinary
// error of work().
void run_watched(bool watch, const std::vector<std::string> &files,
                 const std::function<void()> &work);

} // namespace nw::cli
