// SPDX-License-Identifier: MIT
// Attributes of a graph's kernel nodes: one at a time, as ROCm keeps them.
#include "hip/graphs.h"

using namespace hip_test;

namespace {

enum { window_of_access = 1, cooperative = 2, priority = 8 };

union Value { // hipKernelNodeAttrValue
    struct {
        void *base;
        int hit;
        float hit_ratio;
        int miss;
        std::size_t bytes;
    } window;
    int number;
    char bytes[64];
};

} // namespace

#define NEWER(name, symbol, ...) extern "C" hipError_t name(__VA_ARGS__) asm(symbol)
NEWER(set_attribute, "hipGraphKernelNodeSetAttribute", hipGraphNode_t, int, const Value *);
NEWER(get_attribute, "hipGraphKernelNodeGetAttribute", hipGraphNode_t, int, Value *);
NEWER(copy_attributes, "hipGraphKernelNodeCopyAttributes", hipGraphNode_t, hipGraphNode_t);
#undef NEWER

static Value number(int n) {
    Value value{};
    value.number = n;
    return value;
}

TEST_CASE("a kernel node has the attribute that was set last") {
    Code code;
    Ints words(2, 0);
    OwnGraph graph;
    const hipGraphNode_t node = graph.kernel(code["meet"], {}, words.data, 1);
    const hipGraphNode_t other = graph.kernel(code["meet"], {node}, words.data, 1);
    OK(copy_attributes(node, other)); // neither has one
    Value value = number(9);
    OK(get_attribute(node, cooperative, &value));
    CHECK_EQ(value.number, 0);
    OK(set_attribute(node, cooperative, &(value = number(2))));
    OK(get_attribute(node, cooperative, &(value = {})));
    CHECK_EQ(value.number, 2); // as it was given
    FAILS(get_attribute(node, priority, &value), hipErrorInvalidValue);
    OK(copy_attributes(node, other));
    OK(get_attribute(other, cooperative, &(value = {})));
    CHECK_EQ(value.number, 2);
    OK(set_attribute(node, priority, &(value = number(-1))));
    OK(get_attribute(node, priority, &(value = {})));
    CHECK_EQ(value.number, -1);
    CapturedStderr said;
    FAILS(copy_attributes(node, other), hipErrorInvalidContext);
    CHECK(said.text().find("attribute 2, the other one has 8") != std::string::npos);
    FAILS(set_attribute(node, priority, &(value = number(2))), hipErrorInvalidValue);
    FAILS(set_attribute(node, priority, &(value = number(-2))), hipErrorInvalidValue);
}

TEST_CASE("what attributes refuse") {
    Code code;
    Ints words(2, 0);
    OwnGraph graph;
    const hipGraphNode_t node = graph.kernel(code["meet"], {}, words.data, 1);
    hipGraphNode_t empty = nullptr;
    OK(hipGraphAddEmptyNode(&empty, graph, nullptr, 0));
    Value value{};
    FAILS(get_attribute(node, 77, &value), hipErrorInvalidValue);
    FAILS(set_attribute(node, -1, &value), hipErrorInvalidValue);
    FAILS(set_attribute(node, cooperative, nullptr), hipErrorInvalidValue);
    FAILS(get_attribute(node, cooperative, nullptr), hipErrorInvalidValue);
    FAILS(set_attribute(nullptr, cooperative, &value), hipErrorInvalidValue);
    FAILS(get_attribute(empty, cooperative, &value), hipErrorInvalidValue); // no kernel
    FAILS(copy_attributes(node, nullptr), hipErrorInvalidValue);
    FAILS(copy_attributes(nullptr, node), hipErrorInvalidValue);
    FAILS(copy_attributes(node, empty), hipErrorInvalidValue);
}

TEST_CASE("the window of an access policy is kept") {
    Code code;
    Ints words(2, 0);
    OwnGraph graph;
    const hipGraphNode_t node = graph.kernel(code["meet"], {}, words.data, 1);
    Value value{}, seen{};
    OK(get_attribute(node, window_of_access, &seen));
    CHECK_EQ(seen.window.base, nullptr);
    value.window = {words.data, 2, 0.6f, 1, 0}; // hits persist, misses stream
    OK(set_attribute(node, window_of_access, &value));
    OK(get_attribute(node, window_of_access, &seen));
    CHECK_EQ(seen.window.base, words.data);
    CHECK_EQ(seen.window.hit, 2);
    CHECK_EQ(seen.window.hit_ratio, 0.6f);
    CHECK_EQ(seen.window.miss, 1);
    CapturedStderr said;
    Value wrong = value;
    wrong.window.hit_ratio = 1.1f;
    FAILS(set_attribute(node, window_of_access, &wrong), hipErrorInvalidValue);
    wrong.window.hit_ratio = -0.6f;
    FAILS(set_attribute(node, window_of_access, &wrong), hipErrorInvalidValue);
    wrong = value;
    wrong.window.miss = 2;
    FAILS(set_attribute(node, window_of_access, &wrong), hipErrorInvalidValue);
    wrong = value;
    wrong.window.bytes = 1;
    FAILS(set_attribute(node, window_of_access, &wrong), hipErrorInvalidValue);
    CHECK(said.text().find("num_bytes 1: the device's accessPolicyMaxWindowSize is 0") !=
          std::string::npos);
}

TEST_CASE("a kernel node keeps its attribute when its parameters change") {
    Code code;
    Ints words(2, 0);
    OwnGraph graph;
    const hipGraphNode_t node = graph.kernel(code["meet"], {}, words.data, 1);
    Value value = number(1);
    OK(set_attribute(node, cooperative, &value));
    hipKernelNodeParams params{};
    OK(hipGraphKernelNodeGetParams(node, &params));
    OK(hipGraphKernelNodeSetParams(node, &params));
    OK(get_attribute(node, cooperative, &(value = {})));
    CHECK_EQ(value.number, 1);
}
