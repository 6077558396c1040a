# SPDX-License-Identifier: MIT
# Kernels of a few lines of assembly, run (sim_test) and timed (sim_timing_test): for tests, and for nw_bench without them.
add_library(sim_test STATIC ${CMAKE_CURRENT_LIST_DIR}/assemble.cpp ${CMAKE_CURRENT_LIST_DIR}/kept.cpp)
target_link_libraries(sim_test PUBLIC nw_sim nw_sim_check)
target_include_directories(sim_test PUBLIC ${CMAKE_CURRENT_LIST_DIR}/..) # "sim/assemble.h"
target_compile_definitions(sim_test PRIVATE NW_CLANG="${LLVM_CLANG}" NW_BUILD_DIR="${CMAKE_BINARY_DIR}")
add_library(sim_timing_test STATIC ${CMAKE_CURRENT_LIST_DIR}/timing/run.cpp)
target_link_libraries(sim_timing_test PUBLIC sim_test nw_sim_timing)
