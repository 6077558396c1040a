// SPDX-License-Identifier: MIT
// Runs the kernel `test` of a code object on the simulated GPU, and prints the name of the error
// that it ends with. What to run comes as key=number, see `Shape`.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

namespace {

struct Shape {
    unsigned groups = 1, block = 32;
    unsigned bytes = 4096; // of a, and of b
    unsigned free_b = 0;   // b is freed before the launch
    unsigned cooperative = 0;
    unsigned number = 0; // the kernel's third argument
};

bool set(Shape &shape, const char *argument) {
    const struct {
        const char *name;
        unsigned Shape::*field;
    } fields[] = {{"groups", &Shape::groups}, {"block", &Shape::block},
                  {"bytes", &Shape::bytes},   {"free_b", &Shape::free_b},
                  {"number", &Shape::number}, {"cooperative", &Shape::cooperative}};
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
void *buffer(unsigned bytes) {
    std::vector<unsigned> words(bytes / 4);
    for (unsigned i = 0; i < words.size(); ++i)
        words[i] = i;
    void *p = nullptr;
    if (!ok(hipMalloc(&p, bytes), "hipMalloc") ||
        !ok(hipMemcpy(p, words.data(), words.size() * 4, hipMemcpyHostToDevice), "hipMemcpy"))
        return nullptr;
    return p;
}

hipError_t run(const char *path, const Shape &shape) {
    hipModule_t module;
    hipFunction_t kernel;
    if (hipError_t error = hipModuleLoad(&module, path); error != hipSuccess)
        return error;
    if (hipError_t error = hipModuleGetFunction(&kernel, module, "test"); error != hipSuccess)
        return error;
    void *a = buffer(shape.bytes), *b = buffer(shape.bytes);
    unsigned number = shape.number;
    if (shape.free_b && !ok(hipFree(b), "hipFree"))
        return hipErrorUnknown;
    void *arguments[] = {&a, &b, &number};
    const dim3 grid(shape.groups), block(shape.block);
    const hipError_t launch =
        shape.cooperative ? hipLaunchCooperativeKernel(kernel, grid, block, arguments, 0, nullptr)
                          : hipModuleLaunchKernel(kernel, shape.groups, 1, 1, shape.block, 1, 1, 0,
                                                  nullptr, arguments, nullptr);
    return launch != hipSuccess ? launch : hipDeviceSynchronize();
}

} // namespace

int main(int count, char **arguments) {
    Shape shape;
    for (int i = 2; i < count; ++i)
        if (!set(shape, arguments[i])) {
            std::fprintf(stderr, "bug_host: '%s' is no key=number that it knows\n", arguments[i]);
            return 2;
        }
    if (count < 2)
        return 2;
    std::puts(hipGetErrorName(run(arguments[1], shape)));
}
