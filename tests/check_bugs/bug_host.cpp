// SPDX-License-Identifier: MIT
// Runs the kernel `test` of a code object on the simulated GPU, and prints the name of the error
// that it ends with. What to run comes as key=number, see `Shape`. Whatever that was, the kernel
// `after` must then run, and memory must be there: else the exit code is 1.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

// Newer than the oldest headers that this is built with.
extern "C" hipError_t set_limit(int limit, size_t value) asm("hipDeviceSetLimit");

namespace {

constexpr int stack_size_limit = 0; // hipLimitStackSize

struct Shape {
    unsigned groups = 1, block = 32;
    unsigned bytes = 4096;  // of a, and of b
    unsigned written = ~0u; // of b, its first bytes; nobody writes the others
    unsigned free_b = 0;    // b is freed before the launch
    unsigned cooperative = 0;
    unsigned number = 0; // the kernel's third argument
    unsigned stack = 0;  // hipLimitStackSize; 0: unchanged
    unsigned leave = 0;  // exit while the kernel runs
};

bool set(Shape &shape, const char *argument) {
    const struct {
        const char *name;
        unsigned Shape::*field;
    } fields[] = {{"groups", &Shape::groups},
                  {"block", &Shape::block},
                  {"bytes", &Shape::bytes},
                  {"written", &Shape::written},
                  {"free_b", &Shape::free_b},
                  {"number", &Shape::number},
                  {"cooperative", &Shape::cooperative},
                  {"leave", &Shape::leave},
                  {"stack", &Shape::stack}};
    for (const auto &[name, field] : fields) {
        const size_t length = std::strlen(name);
        if (std::strncmp(argument, name, length) == 0 && argument[length] == '=') {
            shape.*field = static_cast<unsigned>(std::stoul(argument + length + 1));
            return true;
        }
    }
    return false;
}

bool ok(hipError_t error, const char *what) {
    if (error != hipSuccess)
        std::fprintf(stderr, "%s: %s\n", what, hipGetErrorName(error));
    return error == hipSuccess;
}

// a and b count up: no two words are equal.
void *buffer(unsigned bytes, unsigned written = ~0u) {
    std::vector<unsigned> words(bytes / 4);
    for (unsigned i = 0; i < words.size(); ++i)
        words[i] = i;
    void *p = nullptr;
    if (!ok(hipMalloc(&p, bytes), "hipMalloc") ||
        !ok(hipMemcpy(p, words.data(), std::min(bytes, written), hipMemcpyHostToDevice),
            "hipMemcpy"))
        return nullptr;
    return p;
}

constexpr unsigned mark = 0x600d; // that `after` stores to a[0]

// The process, the device and the other allocations outlive a faulting kernel.
bool lives_on(hipModule_t module, void *a, unsigned bytes) {
    hipFunction_t after;
    void *arguments[] = {&a};
    std::vector<unsigned> words(bytes / 4);
    return ok(hipModuleGetFunction(&after, module, "after"), "hipModuleGetFunction") &&
           ok(hipModuleLaunchKernel(after, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr),
              "launch of after") &&
           ok(hipDeviceSynchronize(), "after") &&
           ok(hipMemcpy(words.data(), a, words.size() * 4, hipMemcpyDeviceToHost), "hipMemcpy") &&
           words[0] == mark;
}

// The exit code. Prints the error that the kernel ends with.
int run(const char *path, const Shape &shape) {
    hipModule_t module;
    hipFunction_t kernel;
    if (!ok(hipModuleLoad(&module, path), "hipModuleLoad") ||
        !ok(hipModuleGetFunction(&kernel, module, "test"), "hipModuleGetFunction"))
        return 1;
    if (shape.stack && !ok(set_limit(stack_size_limit, shape.stack), "hipDeviceSetLimit"))
        return 1;
    void *a = buffer(shape.bytes), *b = buffer(shape.bytes, shape.written);
    unsigned number = shape.number;
    if (!a || !b || (shape.free_b && !ok(hipFree(b), "hipFree")))
        return 1;
    void *arguments[] = {&a, &b, &number};
    const dim3 grid(shape.groups), block(shape.block);
    const hipError_t launch =
        shape.cooperative ? hipLaunchCooperativeKernel(kernel, grid, block, arguments, 0, nullptr)
                          : hipModuleLaunchKernel(kernel, shape.groups, 1, 1, shape.block, 1, 1, 0,
                                                  nullptr, arguments, nullptr);
    if (shape.leave)
        return ok(launch, "launch") ? 0 : 1;
    const hipError_t error = launch != hipSuccess ? launch : hipDeviceSynchronize();
    std::puts(hipGetErrorName(error));
    return lives_on(module, a, shape.bytes) ? 0 : 1;
}

} // namespace

int main(int count, char **arguments) {
    Shape shape;
    for (int i = 2; i < count; ++i)
        if (!set(shape, arguments[i])) {
            std::fprintf(stderr, "bug_host: '%s' is no key=number that it knows\n", arguments[i]);
            return 2;
        }
    return count < 2 ? 2 : run(arguments[1], shape);
}
