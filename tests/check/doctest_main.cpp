// SPDX-License-Identifier: MIT
// The main of every unit test program: doctest, then the counts on a line that tests/run adds up.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tier.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

doctest::TestRunStats totals;
unsigned skipped; // by a decorator, not by a filter of the command line

struct Counter : doctest::IReporter {
    explicit Counter(const doctest::ContextOptions &) {}
    void test_run_end(const doctest::TestRunStats &stats) override { totals = stats; }

    void report_query(const doctest::QueryData &) override {}
    void test_run_start() override {}
    void test_case_start(const doctest::TestCaseData &) override {}
    void test_case_reenter(const doctest::TestCaseData &) override {}
    void test_case_end(const doctest::CurrentTestCaseStats &) override {}
    void test_case_exception(const doctest::TestCaseException &) override {}
    void subcase_start(const doctest::SubcaseSignature &) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData &) override {}
    void log_message(const doctest::MessageData &) override {}
    void test_case_skipped(const doctest::TestCaseData &data) override { skipped += data.m_skip; }
};

REGISTER_LISTENER("counter", 1, Counter);

} // namespace

int main(int argc, char **argv) {
    doctest::Context context(argc, argv);
    if (const char *tier = std::getenv("NW_TIER"); tier && tier == std::string_view("default"))
        context.addFilter("test-suite-exclude", all_tier().data);
    const int code = context.run();
    if (context.shouldExit()) // --help, --list-test-cases and the like: nothing was run
        return code;
    const unsigned failed = totals.numTestCasesFailed;
    const unsigned ran = totals.numTestCasesPassingFilters;
    std::printf("%u passed, %u failed", ran - failed, failed);
    if (skipped > 0)
        std::printf(", %u skipped", skipped);
    std::printf("\n");
    return code;
}
