// SPDX-License-Identifier: MIT
// A loaded libamdhip64, and one device of it.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "hip/entry_points.h"
#include "hip/hip.h"
#include "hip/staging.h"

namespace nw::hip {

// The library itself; stays loaded until the process ends, as HIP libraries expect.
class Loaded {
public:
    // Null, with the reason in `why`, if `path` can't be loaded or lacks an entry point.
    static std::shared_ptr<const Loaded> open(const std::string &path, std::string &why);
    // The same for a handle of dlopen, or RTLD_DEFAULT.
    static std::shared_ptr<const Loaded> with(void *handle, std::string path, std::string &why);

    EntryPoints call;
    OptionalEntryPoints optional;
    SimulatorCalls sim; // where it is simulated
    std::string path;   // as the dynamic linker found it
    bool simulated = false;

    void check(hipError_t code, const char *call_name, std::string_view detail = {}) const;
    int device_count() const;           // hip::Error
    std::string gfx(int ordinal) const; // "gfx1151", without feature suffixes
    DeviceInfo describe(int ordinal) const;
    // Copies to memory of the current device, in order with its null stream; the bytes are there
    // when it returns.
    hipError_t upload(void *to, const void *from, u64 bytes) const;

private:
    void *handle_ = nullptr;
    // One for all devices: freeing pinned memory waits for all of them.
    mutable std::mutex staging_mutex_;
    mutable Staging<EntryPoints> staging_{call};
};

// State shared by owning handles: the library and their device.
class Library {
public:
    Library(std::shared_ptr<const Loaded> loaded, int ordinal, bool own = false)
        : loaded(std::move(loaded)), ordinal(ordinal), own_(own) {}
    ~Library() {
        if (own_)
            static_cast<void>(loaded->sim.hipsimCloseDevice(ordinal));
    }
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    const std::shared_ptr<const Loaded> loaded;
    const int ordinal;
    // Copies to the device were queued since a graph was launched.
    mutable std::atomic<bool> has_queued_uploads{false};

    const EntryPoints &call() const { return loaded->call; }
    // HIP's current device is per thread, so every call that depends on it sets it.
    const EntryPoints &on_device() const {
        loaded->check(call().hipSetDevice(ordinal), "hipSetDevice");
        return call();
    }
    void check(hipError_t code, const char *call_name, std::string_view detail = {}) const {
        loaded->check(code, call_name, detail);
    }

private:
    const bool own_; // a simulated device that goes with this
};

// The card's library; null, with the reason in `why`, when there is none. Searched once.
std::shared_ptr<const Loaded> real_library(std::string &why);
// The simulated one; hip::Error if it is not found.
std::shared_ptr<const Loaded> simulated_library();
// The library that this process already uses, real or simulated; else the first that can be loaded.
// hip::Error if there is none.
std::shared_ptr<const Loaded> process_library();
// Candidate paths of libamdhip64: the dynamic linker's, ROCM_PATH, the default directory.
std::vector<std::string> usual_paths();

struct Opened {
    std::shared_ptr<Library> library;
    DeviceInfo info;
};
Opened open_device(std::string_view spec, std::string_view defaults);
Opened open_own(std::string_view spec, std::string_view defaults); // a simulated one
Opened open_current();
// Remedy for a program without a GPU, for messages: a supported GPU, or how to use the simulated
// one.
std::string without_gpu();

} // namespace nw::hip
