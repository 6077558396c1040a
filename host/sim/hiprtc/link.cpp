// SPDX-License-Identifier: MIT
#include "sim/hiprtc/link.h"

#include <fstream>
#include <iterator>

#include "sim/isa/image/bundle.h"

namespace nw::hiprtc {

// The bundle's bitcode for the device; "" if it has none.
static std::string unbundled(const std::string &bytes, const std::string &gfx) {
    const sim::SpanSource source(std::as_bytes(std::span(bytes)));
    const auto entries = sim::bundle_entries(source);
    const sim::BundleEntry *const entry = sim::find_entry(entries, gfx);
    if (!entry || entry->offset > bytes.size() || entry->size > bytes.size() - entry->offset)
        return "";
    return bytes.substr(entry->offset, entry->size);
}

Result Link::add(Input type, std::string bytes) {
    if (type == Input::bundled_bitcode && bytes.starts_with(sim::bundle_magic))
        bytes = unbundled(bytes, gfx_);
    else if (type == Input::archive_of_bundled_bitcode)
        return Result::invalid_input; // nobody is known to make one by hiprtc
    if (!bytes.starts_with("BC\xC0\xDE")) {
        log_ += "error: an input is not LLVM bitcode for " + gfx_ + "\n";
        return Result::creation_failure;
    }
    inputs_.push_back(std::move(bytes));
    return Result::success;
}

Result Link::add_file(Input type, const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return Result::creation_failure;
    return add(type, {std::istreambuf_iterator<char>(file), {}});
}

Result Link::complete() {
    const auto tools = find_tools();
    if (!tools) {
        log_ += no_tools;
        return Result::linking;
    }
    const Folder folder;
    std::vector<std::string> command = {tools->lld,
                                        "-flavor",
                                        "gnu",
                                        "-m",
                                        "elf64_amdgpu",
                                        "--no-undefined",
                                        "-shared",
                                        "-plugin-opt=mcpu=" + gfx_,
                                        "-plugin-opt=O3",
                                        "-o",
                                        (folder.path / "out").string()};
    for (size_t n = 0; n < inputs_.size(); ++n) {
        const std::string name = "input" + std::to_string(n) + ".bc";
        folder.write(name, inputs_[n]);
        command.push_back((folder.path / name).string());
    }
    const Outcome outcome = run(command, folder);
    log_ += outcome.said;
    code_ = folder.read("out");
    return outcome.ok && !code_.empty() ? Result::success : Result::linking;
}

} // namespace nw::hiprtc
