// SPDX-License-Identifier: MIT
#include "sim/hip/ipc/shared_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "sim/hip/runtime.h"

namespace nw::hipsim {

namespace {

// The page after the data.
struct Control {
    std::atomic<u32> freed; // 1: the owner has released the allocation
};

u64 data_pages(u64 bytes) { return round_up(bytes, host_page); }
u64 file_bytes(u64 bytes) { return data_pages(bytes) + host_page; }

// A live allocation whose pages are a memory file's. The allocator puts nothing else into them.
class Exported {
public:
    Exported(void *at, u64 bytes)
        : at_(at), pages_(data_pages(bytes)), file_(file_bytes(bytes)),
          control_(static_cast<Control *>(file_.map(pages_, host_page))) {
        void *const copy = file_.map(0, pages_);
        std::memcpy(copy, at, bytes);
        munmap(copy, pages_);
        file_.map(0, pages_, at);
    }
    // The heap gets private pages back.
    ~Exported() {
        control_->freed.store(1, std::memory_order_release);
        munmap(control_, host_page);
        mmap(at_, pages_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    Exported(const Exported &) = delete;
    FileName name() const { return file_.name(); }

private:
    void *const at_;
    const u64 pages_;
    const SharedFile file_;
    Control *const control_;
};

struct Exports {
    std::mutex mutex; // guards what follows
    std::map<u64, std::weak_ptr<Exported>> by_begin;
};

Exports &exports() {
    static auto *const made = new Exports; // outlives the host's destructors
    return *made;
}

} // namespace

static std::shared_ptr<Exported> exported(const Block &block) {
    Exports &all = exports();
    const std::lock_guard lock(all.mutex);
    std::weak_ptr<Exported> &known = all.by_begin[block.begin];
    if (auto before = known.lock())
        return before;
    Device &owner = runtime().device(block.device);
    std::shared_ptr<Exported> made;
    runtime().while_unused(owner, [&] {
        void *const at = reinterpret_cast<void *>(block.begin);
        made = std::make_shared<Exported>(at, block.size);
        require(owner.memory.hold(at, made), hipErrorInvalidValue); // freed by another thread
    });
    known = made;
    return made;
}

MemoryHandle export_memory(const void *pointer) {
    const auto block = runtime().blocks.find(pointer);
    require(block && block->kind == Block::Kind::device && !block->borrowed, hipErrorInvalidValue);
    return {.mark = MemoryHandle::right_mark,
            .file = exported(*block)->name(),
            .bytes = block->size,
            .offset = reinterpret_cast<u64>(pointer) - block->begin,
            .pool = reinterpret_cast<u64>(block->pool.get())};
}

static int open_source(const MemoryHandle &handle) {
    require(handle.mark == MemoryHandle::right_mark && handle.offset < handle.bytes,
            hipErrorInvalidValue);
    std::string why;
    const int descriptor = open_file(handle.file, why);
    if (descriptor < 0)
        fail(hipErrorInvalidDevicePointer, "the memory of this handle is gone: " + why);
    return descriptor;
}

// Guard pages on both sides; the control page is beyond.
Imported::Imported(const MemoryHandle &handle)
    : file(handle.file), bytes(handle.bytes), source_(open_source(handle)) {
    require(bytes < source_.bytes() && source_.bytes() == file_bytes(bytes), hipErrorInvalidValue);
    const u64 pages = data_pages(bytes);
    mapped_ = mmap(nullptr, pages + 3 * host_page, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(mapped_ != MAP_FAILED, hipErrorOutOfMemory);
    auto *const begin = static_cast<std::byte *>(mapped_) + host_page;
    source_.map(0, pages, begin);
    source_.map(pages, host_page, begin + pages + host_page);
}

Imported::~Imported() { munmap(mapped_, data_pages(bytes) + 3 * host_page); }

bool Imported::freed() const {
    const u64 control = begin() + data_pages(bytes) + host_page;
    return reinterpret_cast<const Control *>(control)->freed.load(std::memory_order_acquire) != 0;
}

Imports &imports() {
    static auto *const made = new Imports; // outlives the host's destructors
    return *made;
}

void *Imports::publish(const std::shared_ptr<Imported> &memory, u64 offset,
                       std::shared_ptr<Pool> pool) {
    const int device = pool ? pool->device : runtime().current_device().ordinal;
    runtime().sharing.publish({.begin = memory->begin(),
                               .size = memory->bytes,
                               .kind = Block::Kind::device,
                               .device = device,
                               .borrowed = true,
                               .storage = memory,
                               .pool = std::move(pool)});
    std::erase_if(watched_, [](const auto &old) { return old.expired(); });
    watched_.push_back(memory);
    any_ = true;
    return reinterpret_cast<void *>(memory->begin() + offset);
}

void *Imports::open(const MemoryHandle &handle) {
    const std::lock_guard lock(mutex_);
    const int device = runtime().current_device().ordinal;
    std::erase_if(opened_, [](const auto &entry) { return entry.second.memory.expired(); });
    for (auto &[begin, opened] : opened_)
        if (const auto memory = opened.memory.lock();
            opened.device == device && memory->file == handle.file && !memory->freed()) {
            ++opened.times;
            return reinterpret_cast<void *>(begin + handle.offset);
        }
    const auto memory = std::make_shared<Imported>(handle);
    void *const at = publish(memory, handle.offset, nullptr);
    opened_[memory->begin()] = {memory, device, 1};
    return at;
}

void Imports::close(const void *pointer) {
    const auto block = runtime().blocks.find(pointer);
    require(block && has_opened(pointer), hipErrorInvalidValue);
    runtime().wait_for_users_of(runtime().device(block->device));
    const std::lock_guard lock(mutex_);
    const auto opened = opened_.find(block->begin);
    require(opened != opened_.end(), hipErrorInvalidValue); // another thread was faster
    if (--opened->second.times > 0)
        return;
    opened_.erase(opened);
    if (runtime().blocks.remove(block->begin))
        runtime().sharing.conceal(*block, "hipIpcCloseMemHandle");
}

bool Imports::has_opened(const void *pointer) const {
    const auto block = runtime().blocks.find(pointer);
    const std::lock_guard lock(mutex_);
    const auto opened = block ? opened_.find(block->begin) : opened_.end();
    return opened != opened_.end() && opened->second.memory.lock() == block->storage;
}

void *Imports::add(const MemoryHandle &handle, std::shared_ptr<Pool> pool) {
    const std::lock_guard lock(mutex_);
    return publish(std::make_shared<Imported>(handle), handle.offset, std::move(pool));
}

void Imports::drop_freed() {
    const std::lock_guard lock(mutex_);
    std::erase_if(watched_, [](const std::weak_ptr<Imported> &watched) {
        const auto memory = watched.lock();
        if (!memory || !memory->freed())
            return !memory;
        if (const auto block = runtime().blocks.find(memory->begin()))
            runtime().sharing.conceal(
                *block, fmt::format("its release in process {}", memory->file.process));
        return true;
    });
    any_ = !watched_.empty();
}

} // namespace nw::hipsim
