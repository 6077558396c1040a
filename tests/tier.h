// SPDX-License-Identifier: MIT
#pragma once
#include <doctest/doctest.h>

// TEST_CASE("name" * all_tier()): long, and of `tests/run --all` only (tests/README.md).
inline doctest::test_suite all_tier() { return "all tier"; }
