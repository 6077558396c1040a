// SPDX-License-Identifier: MIT
// libamdhip64, found and dlopened at run time (the card's or the simulated one), behind owning
// handles. Everything throws hip::Error. Handles keep the library loaded and are movable, not
// copyable.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/types.h"

namespace nw::hip {

// what(): "hipModuleLoad(build/x.hsaco): hipErrorInvalidImage (200)".
class Error : public nw::Error {
public:
    Error(int code, std::string name, std::string call, std::string text);
    int code;         // hipError_t, or -1 if no HIP call was made (no library, no device)
    std::string name; // "hipErrorInvalidImage"
    std::string call; // "hipModuleLoad"
};

struct DeviceInfo {
    std::string spec;  // "hip:0" or "sim:gfx1151": opens the same device again
    std::string gfx;   // "gfx1151", without feature suffixes
    std::string name;  // marketing name
    std::string label; // for reports: "sim gfx1151", or the card's name
    bool simulated = false;
    // hipDeviceAttributeMultiprocessorCount: on RDNA a multiprocessor is a WGP, two compute units.
    u32 wgps = 0;
    u64 memory_bytes = 0;
    std::string note; // for `auto`: why this device was chosen; else empty
};

class Library; // the dlopened library and its entry points

// Device memory, owned.
class Buffer {
public:
    Buffer() = default;
    Buffer(std::shared_ptr<Library>, u64 bytes);
    Buffer(Buffer &&) noexcept;
    Buffer &operator=(Buffer &&) noexcept;
    ~Buffer();
    void *data() const { return data_; }
    u64 size() const { return size_; }
    void upload(const void *from, u64 bytes, u64 offset = 0);
    void download(void *to, u64 bytes, u64 offset = 0) const;
    void fill(u8 value);

private:
    std::shared_ptr<Library> library_;
    void *data_ = nullptr;
    u64 size_ = 0;
};

class Function {
public:
    void *handle = nullptr; // hipFunction_t, valid while its Module lives
    std::string name;
};

class Module {
public:
    Module() = default;
    Module(std::shared_ptr<Library>, const std::string &path);          // hipModuleLoad
    Module(std::shared_ptr<Library>, std::span<const std::byte> image); // hipModuleLoadData
    Module(Module &&) noexcept;
    Module &operator=(Module &&) noexcept;
    ~Module();
    Function function(const std::string &name) const;

private:
    std::shared_ptr<Library> library_;
    void *module_ = nullptr;
};

class Event {
public:
    Event() = default;
    explicit Event(std::shared_ptr<Library>);
    Event(Event &&) noexcept;
    Event &operator=(Event &&) noexcept;
    ~Event();
    void *handle() const { return event_; }

private:
    std::shared_ptr<Library> library_;
    void *event_ = nullptr;
};

class Stream {
public:
    Stream() = default; // the null stream
    explicit Stream(std::shared_ptr<Library>);
    Stream(Stream &&) noexcept;
    Stream &operator=(Stream &&) noexcept;
    ~Stream();
    // A borrowed hipStream_t, which must outlive this object and is not destroyed with it.
    static Stream borrow(std::shared_ptr<Library>, void *handle);
    void *handle() const { return stream_; }
    void synchronize() const;
    bool capturing() const; // into a graph

private:
    std::shared_ptr<Library> library_;
    void *stream_ = nullptr;
    bool owned_ = true;
};

// Pinned memory of the host, owned: copies from and to it need no staging.
class HostBuffer {
public:
    HostBuffer(std::shared_ptr<Library>, u64 bytes);
    HostBuffer(HostBuffer &&) noexcept;
    HostBuffer(const HostBuffer &) = delete;
    ~HostBuffer();
    void *data() const { return data_; }
    u64 size() const { return size_; }

private:
    std::shared_ptr<Library> library_;
    void *data_ = nullptr;
    u64 size_ = 0;
};

// An executable graph, of what was queued on a stream.
class Graph {
public:
    Graph(std::shared_ptr<Library>, const Stream &, const std::function<void()> &queue);
    Graph(Graph &&) noexcept;
    Graph(const Graph &) = delete;
    ~Graph();
    void *handle() const { return exec_; }

private:
    std::shared_ptr<Library> library_;
    void *exec_ = nullptr;
};

// One opened device. `spec`: "auto" (a supported real GPU, else the simulated gfx1151, and
// info().note says so in a line), "hip:N", "sim:gfx1100". An empty spec reads NIBBLEWAVE_DEVICE,
// then "auto". The simulated library is looked for beside the executable (../hipsim), then at
// NIBBLEWAVE_HIPSIM, then in the build tree that made this binary. "sim:R9700" names a part.
// A simulated device takes settings: "sim:gfx1151?timing=on&check=all", see base/hipsim.h.
// `defaults`, in the same syntax ("timing=on"), apply where neither the spec nor HIPSIM_* set one;
// a real GPU ignores them. The same text gives the same device.
class Device {
public:
    explicit Device(std::string_view spec = "", std::string_view defaults = "");
    // A private simulated device for this Device and its handles, with cold caches, until the last
    // of them is destroyed. Several may run concurrently, each used by one thread.
    static Device own(std::string_view spec, std::string_view defaults = "");
    // The thread's current device, of the libamdhip64 that the process has already loaded; else of
    // the first found by the dynamic linker, in ROCM_PATH or in /opt/rocm.
    static Device current();
    const DeviceInfo &info() const { return info_; }
    Buffer allocate(u64 bytes) const;
    Module load(const std::string &path) const;
    Module load(std::span<const std::byte> image) const;
    Stream stream() const;
    Event event() const;
    // One-dimensional launch. `kernarg` is the packed argument block (HIP's `extra` path).
    void launch(const Function &, u32 workgroups, u32 block, u32 dynamic_lds,
                std::span<const std::byte> kernarg, const Stream &stream = {}) const;
    void record(const Event &, const Stream &stream = {}) const;
    void wait(const Stream &, const Event &) const; // what is queued from now on, for the event
    HostBuffer allocate_host(u64 bytes) const;
    // Calls queue(), whose work on `stream`, and on streams that wait for it, becomes the graph's.
    Graph capture(const Stream &, const std::function<void()> &queue) const;
    void launch(const Graph &, const Stream &) const;
    // Queues a copy of the first `bytes`.
    void copy(const Buffer &to, const HostBuffer &from, u64 bytes, const Stream &) const;
    void copy(const HostBuffer &to, const Buffer &from, u64 bytes, const Stream &) const;
    void copy(const Buffer &to, const Buffer &from, u64 bytes, const Stream &) const;
    // Queues a copy of rows that are `stride` bytes apart, one after the other, both on the device.
    void gather(void *to, const void *from, u64 stride, u64 row_bytes, u64 rows,
                const Stream &) const;
    f32 elapsed_ms(const Event &start, const Event &stop) const; // waits for `stop`
    void synchronize() const;
    // Of a simulated device with the setting stats=on: the JSON line of each launch since the last
    // call, as HIPSIM_STATS has it. Waits for all launches.
    std::vector<std::string> take_stats() const;
    const std::shared_ptr<Library> &library() const { return library_; }

private:
    Device(std::shared_ptr<Library>, DeviceInfo);

    std::shared_ptr<Library> library_;
    DeviceInfo info_;
};

// Restores the thread's current device.
class KeepCurrentDevice {
public:
    explicit KeepCurrentDevice(const Device &);
    ~KeepCurrentDevice();
    KeepCurrentDevice(const KeepCurrentDevice &) = delete;

private:
    const Library &library_;
    int before_ = -1;
};

// The constants of a part, or of that of a gfx, in the timing model: JSON, as in base/hipsim.h.
// Throws if the part is unknown.
std::string part_constants(std::string_view part);

} // namespace nw::hip
