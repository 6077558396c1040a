// SPDX-License-Identifier: MIT
// Source lines of a code object's addresses, with inlined functions: by LLVM's symbolizer.
#include <llvm/DebugInfo/Symbolize/Symbolize.h>

#include "nw/check/check.h"

namespace nw::cli {

std::vector<SourceFrame> source_frames(const std::string &file, u64 address) {
    static auto &symbolizer = *new llvm::symbolize::LLVMSymbolizer();
    auto found = symbolizer.symbolizeInlinedCode(
        file, {address, llvm::object::SectionedAddress::UndefSection});
    if (!found) {
        llvm::consumeError(found.takeError());
        return {};
    }
    std::vector<SourceFrame> out;
    for (u32 n = 0; n < found->getNumberOfFrames(); ++n) {
        const llvm::DILineInfo &info = found->getFrame(n);
        if (info.FileName == llvm::DILineInfo::BadString || info.Line == 0)
            continue;
        out.push_back({info.FunctionName == llvm::DILineInfo::BadString ? "" : info.FunctionName,
                       info.FileName, info.Line, info.Column});
    }
    return out;
}

} // namespace nw::cli
