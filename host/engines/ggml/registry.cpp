// SPDX-License-Identifier: MIT
// Entry points that ggml finds by name in libggml-nibblewave.so: the registry of devices.
#include <ggml-impl.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "engines/ggml/device.h"
#include "engines/ggml/hip_calls.h"

// Version of the process's libggml-base; null in older ones.
extern "C" __attribute__((weak)) const char *ggml_version(void);

namespace nw::engine {

namespace {

// Never destroyed: at exit HIP may be gone before them.
std::vector<std::unique_ptr<Device>> &devices = *new std::vector<std::unique_ptr<Device>>;

const char *get_name(ggml_backend_reg_t) { return "nibblewave"; }

std::size_t get_device_count(ggml_backend_reg_t) { return devices.size(); }

ggml_backend_dev_t get_device(ggml_backend_reg_t, std::size_t index) {
    return &devices.at(index)->face;
}

void *get_proc_address(ggml_backend_reg_t, const char *) { return nullptr; }

std::string lower_case_pci(int ordinal) {
    char text[32] = "";
    if (hip().hipDeviceGetPCIBusId(text, sizeof text, ordinal) != hipSuccess)
        return {};
    std::string out = text;
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return out;
}

// NIBBLEWAVE_GGML_TYPE=accel, its only value.
bool wants_accelerators() {
    const char *const asked = std::getenv("NIBBLEWAVE_GGML_TYPE");
    if (!asked || !*asked)
        return false;
    if (std::strcmp(asked, "accel") == 0)
        return true;
    say_error("NIBBLEWAVE_GGML_TYPE=%s: must be accel, or unset", asked);
    return false;
}

bool is_integrated(const Device &device) {
    int integrated = 0;
    return hip().hipDeviceGetAttribute(&integrated, hipDeviceAttributeIntegrated, device.ordinal) ==
               hipSuccess &&
           integrated;
}

// Whether its buffers are host memory, which the CPU's backend uses, too. Only by the user's wish,
// and where no fault of such memory is found: gfx11's is known to have them.
bool takes_host_memory(Device &device) {
    const char *const asked = std::getenv("NIBBLEWAVE_GGML_MEMORY");
    if (!asked || !*asked || std::strcmp(asked, "device") == 0)
        return false;
    const char *const name = device.name.c_str();
    if (std::strcmp(asked, "host") != 0) {
        say_error("NIBBLEWAVE_GGML_MEMORY=%s: must be device, the default, or host", asked);
        return false;
    }
    if (!is_integrated(device)) {
        say_error("%s has memory of its own: NIBBLEWAVE_GGML_MEMORY=host is for APUs", name);
        return false;
    }
    if (const std::string fault = host_memory_fault(device); !fault.empty()) {
        say_error("%s takes no host memory, as NIBBLEWAVE_GGML_MEMORY=host asks: its self-test "
                  "failed, %s; buffers are in device memory",
                  name, fault.c_str());
        return false;
    }
    GGML_LOG_WARN("nibblewave: %s reads the host's memory, as NIBBLEWAVE_GGML_MEMORY=host asks: "
                  "its self-test passed, but no card has proved it, and others' programs got wrong "
                  "results so\n",
                  name);
    return true;
}

// The device with a context, or null: the reason is logged.
std::unique_ptr<Device> open(ggml_backend_reg_t reg, int ordinal) {
    auto device = std::make_unique<Device>();
    device->ordinal = ordinal;
    device->name = "NW" + std::to_string(ordinal);
    char text[256] = "";
    if (!enter(*device) ||
        !succeeded(hip().hipDeviceGetName(text, sizeof text, ordinal), "hipDeviceGetName"))
        return nullptr;
    nw_context *context = nullptr;
    if (nw_context_create(nullptr, &context) != NW_OK) {
        say_error("HIP device %d (%s) is not used: %s", ordinal, text, nw_last_error());
        return nullptr;
    }
    device->context.reset(context);
    device->description = std::string(nw_context_gfx(context)) + ", " + text;
    device->pci = lower_case_pci(ordinal);
    device->face = make_face(reg, *device);
    device->shares_memory = takes_host_memory(*device);
    device->memory = device->shares_memory ? make_host_memory(*device) : make_memory(*device);
    device->host_memory_name = device->name + "_Host";
    device->pinned = make_pinned_memory(*device);
    return device;
}

// A context for the current device loads HIP, or says why there is none.
int count_devices() {
    nw_context *context = nullptr;
    const nw_status status = nw_context_create(nullptr, &context);
    nw_context_destroy(context);
    std::string why;
    if (!find_hip(why)) {
        say_error("%s", status == NW_OK ? why.c_str() : nw_last_error());
        return 0;
    }
    int count = 0;
    if (hip().hipGetDeviceCount(&count) != hipSuccess || count == 0)
        say_error("HIP has no device: %s", status == NW_OK ? "" : nw_last_error());
    return count;
}

// The kernels that write a KV cache. llama.cpp keeps a layer's cache in the memory of the layer's
// device, if that is a GPU, and aborts if no backend can write it there.
bool writes_caches(Device &device) {
    nw_set_rows_op rows = NW_SET_ROWS_OP_INIT;
    rows.type = NW_GGUF_F16, rows.x_type = NW_F32;
    nw_copy_op copy = NW_COPY_OP_INIT;
    copy.x_type = NW_F32, copy.y_type = NW_F16;
    nw_context *const context = device.context.get();
    return nw_set_rows_prepare(context, &rows) == NW_OK && nw_copy_prepare(context, &copy) == NW_OK;
}

void choose_type(Device &device) {
    if (!writes_caches(device)) {
        GGML_LOG_WARN("nibblewave: %s is an accelerator, without KV caches: %s\n",
                      device.name.c_str(), nw_last_error());
        return;
    }
    device.type =
        is_integrated(device) ? GGML_BACKEND_DEVICE_TYPE_IGPU : GGML_BACKEND_DEVICE_TYPE_GPU;
}

void open_all(ggml_backend_reg_t reg) {
    const int count = count_devices();
    int before = 0;
    if (count == 0 || !succeeded(hip().hipGetDevice(&before), "hipGetDevice"))
        return;
    for (int i = 0; i < count; i++)
        if (auto device = open(reg, i))
            devices.push_back(std::move(device));
    if (!wants_accelerators())
        for (const auto &device : devices)
            choose_type(*device);
    // Two devices may be given parts of a file that overlap, and HIP maps a page once.
    if (devices.size() == 1 && devices[0]->shares_memory)
        devices[0]->maps_files = can_map_files(*devices[0]);
    succeeded(hip().hipSetDevice(before), "hipSetDevice");
}

// ggml's structs change without GGML_BACKEND_API_VERSION.
bool is_built_for(const char *version) {
    if (version == std::string(NW_GGML_VERSION))
        return true;
    say_error("this libggml-nibblewave is built for ggml %s, and the program has ggml %s, whose "
              "structs may differ: build it against that one's sources (-DNIBBLEWAVE_GGML=path)",
              NW_GGML_VERSION, version);
    return false;
}

ggml_backend_reg_t make_registry() {
    if (!is_built_for(ggml_version ? ggml_version() : "older than 0.9"))
        return nullptr;
    static ggml_backend_reg reg{};
    reg.api_version = GGML_BACKEND_API_VERSION;
    reg.iface.get_name = get_name;
    reg.iface.get_device_count = get_device_count;
    reg.iface.get_device = get_device;
    reg.iface.get_proc_address = get_proc_address;
    open_all(&reg);
    return &reg;
}

} // namespace

} // namespace nw::engine

extern "C" {

// Null if it can't be used with this ggml; the reason is logged.
GGML_BACKEND_API ggml_backend_reg_t ggml_backend_init(void) {
    static ggml_backend_reg_t const reg = nw::engine::make_registry();
    return reg;
}

// Devices are looked for by ggml_backend_init, which can say why there is none.
GGML_BACKEND_API int ggml_backend_score(void) { return 1; }
}
