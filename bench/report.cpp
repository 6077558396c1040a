// SPDX-License-Identifier: MIT
#include "bench/report.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>

#include "bench/part.h"
#include "bench/result.h"
#include "bench/temporary_folder.h"

namespace nw::bench {

namespace {

// Commit of the checkout; empty without one.
std::string commit() {
    const std::unique_ptr<FILE, int (*)(FILE *)> git(
        popen("git -C '" NW_SOURCE_DIR "' rev-parse HEAD 2>/dev/null", "r"), pclose);
    std::array<char, 64> line{};
    if (!git || !std::fgets(line.data(), line.size(), git.get()))
        return "";
    return {line.data(), std::strcspn(line.data(), "\n")};
}

// Quoted for a shell.
std::string quoted(const std::string &text) {
    std::string out = "'";
    for (char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

void write_json(const std::string &path, const std::string &suite, const Result &result) {
    const Json out = {{"commit", commit()},
                      {"device", result.device},
                      {"suite", suite},
                      {"rows", without_labels(result.rows)}};
    std::ofstream file(path);
    file << out.dump(1) << "\n";
    if (!file.flush())
        throw Error(fmt::format("{}: can't be written", path));
}

// Runs bench/report.py by a Python that has matplotlib.
void write_html(const std::string &path, const std::string &suite, const Result &result) {
    const TemporaryFolder folder;
    const std::string json = (folder.path() / "rows.json").string();
    write_json(json, suite, result);
    const auto succeeds = [](const std::string &command) {
        return std::system(command.c_str()) == 0;
    };
    for (const std::string python : {"/usr/bin/python3", "python3"}) {
        if (!succeeds(python + " -c 'import matplotlib' 2> /dev/null"))
            continue;
        if (!succeeds(fmt::format("{} {} {} {}", python, quoted(NW_SOURCE_DIR "/bench/report.py"),
                                  quoted(json), quoted(path))))
            throw std::runtime_error(fmt::format("--html {}: bench/report.py failed", path));
        return;
    }
    throw Error(fmt::format("--html {}: no Python here has matplotlib: install python3-matplotlib; "
                            "--json needs nothing",
                            path));
}

// The simulated parts of these rows, each with its clock.
void print_clocks(const Json &rows) {
    std::set<std::string> parts;
    for (const Json &row : rows)
        if (const std::string name = row.value("part", row.value("gfx", "")); !name.empty())
            parts.insert(name);
    for (const std::string &part : parts)
        fmt::print("\nClock of the {} (sim): {}\n", part, clock_text(part));
}

} // namespace

bool run_and_write(const Options &o, const Shapes &shapes) {
    const Result result = run_suite(o, shapes);
    if (result.device.starts_with("sim") && o.suite != "layer") // its heading says it
        print_clocks(result.rows);
    if (!o.html.empty())
        write_html(o.html, o.suite, result);
    if (!o.json.empty())
        write_json(o.json, o.suite, result);
    return result.right;
}

} // namespace nw::bench
