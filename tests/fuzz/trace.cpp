// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "base/error.h"
#include "fuzz/targets.h"
#include "nw/atlas/trace.h"

using namespace nw;

void nw::fuzz::trace(Input file) {
    try {
        const cli::Trace read =
            cli::read_trace({reinterpret_cast<const char *>(file.data()), file.size()}, "input");
        u64 calls = 0, ns = 0;
        for (const cli::TraceKernel &k : read.kernels) {
            calls += k.calls, ns += k.total_ns;
            if (k.calls == 0 || k.min_ns > k.max_ns || k.max_ns > k.total_ns || k.grids > k.calls)
                throw std::logic_error("a kernel's times are not those of its calls");
        }
        if (calls == 0 || calls != read.calls || ns != read.total_ns)
            throw std::logic_error("the kernels are not the trace");
    } catch (const Error &) {
    }
}
