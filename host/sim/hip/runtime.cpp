// SPDX-License-Identifier: MIT
#include "sim/hip/runtime.h"

#include <pthread.h>

#include <atomic>

#include "sim/hip/graph/capture.h"
#include "sim/hip/module/fatbin.h"

namespace nw::hipsim {

static std::atomic<Runtime *> instance{nullptr};
static std::atomic<bool> ended{false};
static std::atomic<bool> forked{false};
static thread_local int current = 0;

// No device rather than one that does something else than the environment asks for.
Runtime::Runtime() {
    try {
        config = read_config();
        stats.open("HIPSIM_STATS", config.stats_path);
        reports.open(config.report_path);
        findings.open(config.findings_path);
        launch_files.open(config);
    } catch (const std::exception &error) {
        refuse(error.what());
    }
}

void Runtime::refuse(const std::string &why) {
    say("no device: " + why);
    const std::unique_lock lock(mutex_);
    refusal_ = why;
}

std::string Runtime::refusal() const {
    const std::shared_lock lock(mutex_);
    return refusal_;
}

const std::vector<std::shared_ptr<Device>> &Runtime::counted() {
    std::call_once(made_counted_, [&] {
        std::vector<std::shared_ptr<Device>> made;
        if (refusal().empty())
            try {
                for (DeviceConfig &device : read_devices())
                    made.push_back(std::make_shared<Device>(static_cast<int>(made.size()),
                                                            std::move(device), false));
            } catch (const nw::Error &error) {
                refuse(error.what());
                made.clear();
            }
        for (const auto &device : made)
            sharing.introduce(device);
        counted_ = std::move(made);
        has_counted_ = true;
    });
    return counted_;
}

// The threads that run commands are the parent's alone, and may have held any lock.
static void in_forked_child() {
    forked = true;
    ended = true;
    instance = nullptr;
}

Runtime &Runtime::get() {
    if (forked) {
        mark_process("forked");
        fail(hipErrorNotInitialized,
             "this process was forked from one that had used HIP; only one that hasn't may fork, "
             "or the child must exec");
    }
    if (ended)
        fail(hipErrorDeinitialized);
    static Runtime *const made = [] {
        auto *const runtime = new Runtime;
        publish_managed_variables(*runtime);
        instance = runtime;
        pthread_atfork(nullptr, nullptr, in_forked_child);
        return runtime;
    }();
    return *made;
}

Runtime *Runtime::if_running() { return ended ? nullptr : instance.load(); }

// Threads of ours must not run on while the libraries under them are being torn down. This runs
// after the destructors of statics made since the process began, and the host's may still call us:
// so no static of this library has a destructor
// (`*new`, tests/hip/test_abi.py).
__attribute__((destructor)) static void at_exit() {
    ended = true;
    sim::abandon();
    if (Runtime *runtime = instance) {
        runtime->stop();
        if (runtime->findings.wants_leaks())
            runtime->report_leaks();
    }
}

void Runtime::wait() {
    for (const auto &device : devices())
        device->wait();
}

std::vector<std::shared_ptr<Device>> Runtime::users_of(const Device &owner) const {
    auto users = devices();
    std::erase_if(users, [&](const auto &device) {
        return owner.own ? device.get() != &owner : device->own;
    });
    return users;
}

void Runtime::wait_for_users_of(const Device &owner) {
    for (const auto &device : users_of(owner))
        device->wait();
}

// Nothing waits for a command while a lock is held: the command may need that lock.
void Runtime::while_unused(const Device &owner, const std::function<void()> &body) {
    const auto users = users_of(owner); // by ordinal, as everyone locks them
    for (;;) {
        wait_for_users_of(owner);
        std::vector<std::unique_lock<std::mutex>> idle;
        for (const auto &device : users)
            if (auto lock = device->lock_if_idle(); lock.owns_lock())
                idle.push_back(std::move(lock));
            else
                break;
        if (idle.size() == users.size())
            return body();
    }
}

void Runtime::stop() {
    for (const auto &device : devices())
        device->stop();
}

void Runtime::report_leaks() {
    using Kind = Block::Kind;
    std::vector<Block> all = blocks.of_host();
    for (const auto &device : devices())
        for (Block &block : blocks.of_device(device->ordinal))
            if (block.kind == Kind::device)
                all.push_back(std::move(block));
    std::ranges::sort(all, {}, &Block::id);
    for (const Block &block : all)
        if (!block.borrowed && block.made_by.starts_with("hip"))
            findings.leaked(block.kind == Kind::device ? "device_memory" : "host_memory",
                            block.size, block.made_by);
    streams.for_each([&](const Stream &) { findings.leaked("stream", 0, ""); });
    events.for_each([&](const Event &) { findings.leaked("event", 0, ""); });
    modules.for_each([&](const Module &) { findings.leaked("module", 0, ""); });
}

std::vector<std::shared_ptr<Device>> Runtime::devices() const {
    const std::shared_lock lock(mutex_);
    std::vector<std::shared_ptr<Device>> out;
    for (const auto &[ordinal, device] : all_)
        out.push_back(device);
    return out;
}

int Runtime::device_count() { return static_cast<int>(counted().size()); }

std::shared_ptr<Device> Runtime::find_opened(int ordinal) const {
    const std::shared_lock lock(mutex_);
    const auto at = all_.find(ordinal);
    return at == all_.end() ? nullptr : at->second;
}

bool Runtime::has_device(int ordinal) {
    return ordinal >= first_opened ? find_opened(ordinal) != nullptr
                                   : ordinal >= 0 && ordinal < device_count();
}

Device &Runtime::device(int ordinal) {
    if (ordinal >= first_opened) {
        const auto opened = find_opened(ordinal);
        require(opened != nullptr, hipErrorInvalidDevice);
        return *opened; // closed by its opener after its last use
    }
    require(ordinal >= 0 && ordinal < device_count(), hipErrorInvalidDevice);
    return *counted_[static_cast<size_t>(ordinal)];
}

Device &Runtime::current_device() {
    require(current >= first_opened || device_count() > 0, hipErrorNoDevice);
    return device(current);
}

Device *Runtime::device_of(hipCtx_t context) {
    for (const auto &device : devices())
        if (context_of(*device) == context)
            return device.get();
    return nullptr;
}

void Runtime::add(std::shared_ptr<Device> device) {
    pools.add(device->default_pool);
    const std::unique_lock lock(mutex_);
    const int ordinal = device->ordinal;
    all_[ordinal] = std::move(device);
}

int Runtime::open(const std::string &spec, const std::string &defaults, bool own) {
    if (const std::string why = refusal(); !why.empty())
        throw nw::Error(why);
    DeviceConfig settings = parse_device(spec, defaults);
    if (!own && has_counted_ && spec == settings.facts->gfx && defaults.empty())
        for (const auto &device : counted_) // what the process uses already
            if (device->facts.gfx == spec)
                return device->ordinal;
    const std::pair key(spec, defaults);
    int ordinal = 0;
    {
        const std::unique_lock lock(mutex_);
        if (const auto at = by_spec_.find(key); !own && at != by_spec_.end())
            return at->second;
        ordinal = next_ordinal_++;
    }
    sharing.introduce(std::make_shared<Device>(ordinal, std::move(settings), own));
    opened_ = true;
    if (own)
        return ordinal;
    const std::unique_lock lock(mutex_);
    return by_spec_.emplace(key, ordinal).first->second; // another thread may have been faster
}

void Runtime::close(int ordinal) {
    std::shared_ptr<Device> device = find_opened(ordinal);
    require(device && device->own, hipErrorInvalidDevice);
    device->wait();
    for (const Block &block : blocks.of_device(ordinal))
        blocks.remove(block.begin);
    pools.remove(reinterpret_cast<hipMemPool_t>(device->default_pool.get()));
    const std::unique_lock lock(mutex_);
    all_.erase(ordinal);
}

int Runtime::current_ordinal() const { return current; }

void Runtime::set_current_device(int ordinal) {
    if (ordinal != 0 || !opened_) // 0 is where every thread begins, whether anybody wants it or not
        device(ordinal);
    current = ordinal;
}

namespace {

// The thread's own streams, one per device, destroyed with the thread.
struct ThreadStreams {
    std::map<int, std::shared_ptr<Stream>> by_device;
    ~ThreadStreams() {
        if (Runtime *runtime = Runtime::if_running())
            for (const auto &[ordinal, stream] : by_device)
                if (runtime->has_device(ordinal)) {
                    abandon_capture(*stream);
                    runtime->device_of(*stream).retire(stream);
                }
    }
};

} // namespace

static std::shared_ptr<Stream> thread_stream(Device &device) {
    thread_local ThreadStreams streams;
    std::shared_ptr<Stream> &own = streams.by_device[device.ordinal];
    if (!own)
        own = device.create_stream(hipStreamDefault, 0);
    return own;
}

std::shared_ptr<Stream> Runtime::stream(hipStream_t handle, hipError_t gone) {
    const hipStream_t legacy = reinterpret_cast<hipStream_t>(1); // hipStreamLegacy of HIP 6
    if (!handle || handle == legacy)
        return current_device().null_stream();
    if (handle == hipStreamPerThread)
        return thread_stream(current_device());
    auto stream = streams.find(handle);
    require(stream != nullptr, gone);
    return stream;
}

std::shared_ptr<Event> Runtime::event(hipEvent_t handle) {
    auto event = events.find(handle);
    require(event != nullptr, hipErrorInvalidHandle);
    return event;
}

Runtime &runtime() {
    Runtime &runtime = Runtime::get();
    if (!runtime.has_opened()) // then HIPSIM_ARCH may name none
        require(runtime.device_count() > 0, hipErrorNoDevice);
    return runtime;
}

} // namespace nw::hipsim
