// SPDX-License-Identifier: MIT
#include "nw/tune/job.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <set>

namespace nw::cli {

void keep_named(std::vector<TuneKind> &kinds, const TuningTable &table) {
    std::set<std::string> unknown;
    for (TuneKind &kind : kinds)
        std::erase_if(kind.jobs, [&](TuneJob &job) {
            const TunedShape *row = table.find(kind.section, job.n, job.k);
            if (!row)
                return true;
            for (const std::string &name : {row->kernel, row->next})
                if (std::ranges::none_of(job.kernels,
                                         [&](const Kernel *k) { return k->symbol == name; })) {
                    unknown.insert(name);
                    return false;
                }
            const Kernel *standard = job.kernels.front();
            std::erase_if(job.kernels, [&](const Kernel *k) {
                return k != standard && k->symbol != row->kernel && k->symbol != row->next;
            });
            return job.kernels.size() < 2;
        });
    std::erase_if(kinds, [](const TuneKind &kind) { return kind.jobs.empty(); });
    for (const std::string &name : unknown)
        fmt::print(stderr,
                   "{}: a row has it, but it is no candidate here; the row's are all timed\n",
                   name);
}

} // namespace nw::cli
