// SPDX-License-Identifier: MIT
// Differences between hosts of ROCm 5, 6 and 7. Prints one JSON object about the library at
// argv[1], which the tests open under each of its names.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

namespace {

void *library = nullptr;

template <class F> F find(const char *name) { return reinterpret_cast<F>(dlsym(library, name)); }

struct PointerAttributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int managed;
    unsigned flags;
};

} // namespace

int main(int, char **argv) {
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return std::fprintf(stderr, "%s\n", dlerror()), 1;
    const auto version_of = find<int (*)(int *)>("hipRuntimeGetVersion");
    const auto malloc_on = find<int (*)(void **, std::size_t)>("hipMalloc");
    const auto attributes_of =
        find<int (*)(PointerAttributes *, const void *)>("hipPointerGetAttributes");
    const auto attribute_of = find<int (*)(void *, int, void *)>("hipPointerGetAttribute");
    const auto register_at = find<int (*)(void *, std::size_t, unsigned)>("hipHostRegister");
    const auto set_device = find<int (*)(int)>("hipSetDevice");
    const auto last_error = find<int (*)()>("hipGetLastError");

    int version = 0, on_stack = 0;
    void *memory = nullptr;
    PointerAttributes device{}, host{};
    int code = version_of(&version) | malloc_on(&memory, 16) | attributes_of(&device, memory);
    const int unregistered = attributes_of(&host, &on_stack);
    const int null = attributes_of(&host, nullptr);
    constexpr int memory_type = 2, ordinal = 9; // HIP_POINTER_ATTRIBUTE_*
    int type = 77, device_of_plain = 77;
    const int type_code = attribute_of(&type, memory_type, &on_stack);
    const int ordinal_code = attribute_of(&device_of_plain, ordinal, &on_stack);
    static char bytes[64];
    code |= register_at(bytes, sizeof bytes, 0);
    const int twice = register_at(bytes, sizeof bytes, 0);
    const int part = register_at(bytes + 16, 4, 0);
    set_device(77);
    set_device(0);
    const int last = last_error();
    std::printf("{\"code\": %d, \"version\": %d, \"device_type\": %d, \"unregistered\": %d, "
                "\"null\": %d, \"type_code\": %d, \"type\": %d, \"ordinal_code\": %d, "
                "\"ordinal\": %d, \"twice\": %d, \"part\": %d, "
                "\"last_error_after_success\": %d}\n",
                code, version, device.type, unregistered, null, type_code, type, ordinal_code,
                device_of_plain, twice, part, last);
    return 0;
}
