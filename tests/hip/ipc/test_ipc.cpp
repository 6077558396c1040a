// SPDX-License-Identifier: MIT
// Memory, events and pools of two processes. This one plays one part, a Peer the other.
#include <unistd.h>

#include <cstring>
#include <memory>
#include <thread>

#include "hip/common.h"
#include "hip/ipc/hex.h"
#include "hip/ipc/peer.h"

using namespace hip_test;

static std::string handle_of(const void *pointer) {
    hipIpcMemHandle_t handle;
    OK(hipIpcGetMemHandle(&handle, const_cast<void *>(pointer)));
    return hex(handle);
}

static hipError_t open_here(int **pointer, const std::string &handle) {
    return hipIpcOpenMemHandle(reinterpret_cast<void **>(pointer), unhex<hipIpcMemHandle_t>(handle),
                               hipIpcMemLazyEnablePeerAccess);
}

TEST_CASE("ipc: a kernel of another process works on the same bytes") {
    Ints ints(1000, 5); // not whole pages
    Peer peer;
    REQUIRE_EQ(peer("open " + handle_of(ints.data)), "hipSuccess");
    CHECK_EQ(peer("value 999"), "5");
    CHECK_EQ(peer("increment 0 64"), "hipSuccess");
    CHECK_EQ(ints.get()[63], 6);
    CHECK_EQ(ints.get()[64], 5);
    const Code code;
    OK(launch(code["increment"], 64, nullptr, ints.data));
    OK(hipDeviceSynchronize());
    CHECK_EQ(peer("value 63"), "7");
    CHECK_EQ(peer("value 64"), "5");
}

TEST_CASE("ipc: the exporter's address and contents stay") {
    Ints ints(3000, 9);
    const std::string handle = handle_of(ints.data);
    CHECK_EQ(ints.get(), std::vector<int>(3000, 9));
    CHECK_EQ(handle_of(ints.data), handle);
    CHECK_NE(handle_of(ints.data + 1), handle);
    Ints other(3000, 8);
    CHECK_NE(handle_of(other.data), handle);
}

TEST_CASE("ipc: an export waits for kernels that may write the memory") {
    const Code code;
    const OwnStream stream(hipStreamNonBlocking);
    Ints word(1, 0);
    Held held(code, stream, word.data);
    std::atomic<bool> released = false;
    std::thread releaser([&] {
        usleep(20000);
        released = true;
        held.release();
    });
    const std::string handle = handle_of(word.data);
    CHECK(released);
    releaser.join();
    Peer peer;
    REQUIRE_EQ(peer("open " + handle), "hipSuccess");
    CHECK_EQ(peer("value 0"), "1");
}

TEST_CASE("ipc: no write is lost by an export beside launches of another thread") {
    constexpr int launches = 500;
    constexpr size_t large = 4 << 20; // ints: moving them takes many launches' time
    const Code code;
    std::vector<std::unique_ptr<Ints>> all;
    for (int n = 0; n < 4; ++n)
        all.push_back(std::make_unique<Ints>(large, 0));
    std::thread writer([&] {
        const OwnStream stream(hipStreamNonBlocking);
        for (int n = 0; n < launches; ++n)
            for (const auto &ints : all)
                static_cast<void>(launch(code["increment"], 64, stream, ints->data));
        OK(hipStreamSynchronize(stream));
    });
    for (const auto &ints : all) {
        usleep(1000);
        handle_of(ints->data);
    }
    writer.join();
    for (const auto &ints : all) {
        CHECK_EQ(ints->get().front(), launches);
        CHECK_EQ(ints->get()[63], launches);
    }
}

TEST_CASE("ipc: a pointer into an allocation has its offset, and the allocation's bounds") {
    CapturedStderr err;
    Ints ints(100, 1);
    Peer peer;
    REQUIRE_EQ(peer("open " + handle_of(ints.data + 40)), "hipSuccess");
    CHECK_EQ(peer("increment 0 32"), "hipSuccess");
    CHECK_EQ(ints.get()[39], 1);
    CHECK_EQ(ints.get()[40], 2);
    CHECK_EQ(peer("increment 30 32"), "hipErrorIllegalAddress"); // 70 .. 101
    CHECK_NE(err.text().find("hipIpcOpenMemHandle #1"), std::string::npos);
}

TEST_CASE("ipc: opened twice, it is closed twice") {
    CapturedStderr err;
    Ints ints(16, 0);
    Peer peer;
    const std::string handle = handle_of(ints.data);
    REQUIRE_EQ(peer("open " + handle), "hipSuccess");
    CHECK_EQ(peer("open_again " + handle), "same");
    CHECK_EQ(peer("free"), "hipErrorInvalidValue"); // not the importer's to free
    CHECK_EQ(peer("close"), "hipSuccess");
    CHECK_EQ(peer("increment 0 8"), "hipSuccess");
    CHECK_EQ(peer("close"), "hipSuccess");
    CHECK_EQ(peer("close"), "hipErrorInvalidValue");
    CHECK_EQ(peer("value 0"), "hipErrorInvalidValue");
    CHECK_EQ(peer("increment 0 8"), "hipErrorIllegalAddress");
    CHECK_NE(err.text().find("hipIpcCloseMemHandle has freed"), std::string::npos);
}

TEST_CASE("ipc: memory that its exporter freed") {
    CapturedStderr err;
    Peer peer;
    std::string handle;
    {
        Ints ints(16, 3);
        handle = handle_of(ints.data);
        REQUIRE_EQ(peer("open " + handle), "hipSuccess");
    }
    CHECK_EQ(peer("value 0"), "3"); // still mapped: a copy can't crash
    CHECK_EQ(peer("increment 0 8"), "hipErrorIllegalAddress");
    CHECK_NE(err.text().find("its release in process " + std::to_string(getpid())),
             std::string::npos);
    Peer other;
    CHECK_EQ(other("open " + handle), "hipErrorInvalidDevicePointer");
    CHECK_NE(err.text().find("has freed it"), std::string::npos);
    // The heap's next use of these pages is private to this process.
    Ints next(16, 4);
    CHECK_EQ(peer("value 0"), "3");
}

TEST_CASE("ipc: the exporter has ended") {
    CapturedStderr err;
    Peer peer;
    const std::string handle = peer("make 4096");
    int *memory = nullptr;
    OK(open_here(&memory, handle));
    OK(hipMemset(memory, 0, 4096));
    peer.end();
    const Code code;
    OK(launch(code["increment"], 64, nullptr, memory)); // the pages live on
    OK(hipDeviceSynchronize());
    OK(hipIpcCloseMemHandle(memory));
    FAILS(open_here(&memory, handle), hipErrorInvalidDevicePointer);
    CHECK_NE(err.text().find("has ended"), std::string::npos);
}

TEST_CASE("ipc: what is refused") {
    CapturedStderr err;
    Ints ints(16, 0);
    int *memory = nullptr;
    const std::string handle = handle_of(ints.data);
    hipIpcMemHandle_t made;
    FAILS(open_here(&memory, handle), hipErrorInvalidContext); // this process's own
    void **const at = reinterpret_cast<void **>(&memory);
    made = unhex<hipIpcMemHandle_t>(handle);
    // The lazy peer access of HIP 5's headers and of later ones; then neither.
    FAILS(hipIpcOpenMemHandle(at, made, 0), hipErrorInvalidContext);
    FAILS(hipIpcOpenMemHandle(at, made, 1), hipErrorInvalidContext);
    FAILS(hipIpcOpenMemHandle(at, made, 2), hipErrorInvalidValue);
    FAILS(hipIpcCloseMemHandle(ints.data), hipErrorInvalidValue);
    FAILS(hipIpcCloseMemHandle(nullptr), hipErrorInvalidValue);
    FAILS(hipIpcGetMemHandle(&made, nullptr), hipErrorInvalidValue);
    FAILS(hipIpcGetMemHandle(nullptr, ints.data), hipErrorInvalidValue);
    FAILS(hipIpcGetMemHandle(&made, ints.data + 16), hipErrorInvalidValue);
    FAILS(hipIpcOpenMemHandle(nullptr, made, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidValue);
    FAILS(open_here(&memory, ""), hipErrorInvalidValue); // zeros
    void *host = nullptr;
    OK(hipHostMalloc(&host, 64, 0));
    FAILS(hipIpcGetMemHandle(&made, host), hipErrorInvalidValue);
    OK(hipHostFree(host));
    // Every byte of a handle may be damaged: an error or, in what says the offset, the memory.
    for (size_t byte = 0; byte < sizeof made; ++byte) {
        made = unhex<hipIpcMemHandle_t>(handle);
        made.reserved[byte] = static_cast<char>(made.reserved[byte] ^ 0x55);
        Peer peer;
        const std::string answer = peer("open " + hex(made));
        CHECK_NE(answer, "");
        if (byte < 32)
            CHECK_NE(answer, "hipSuccess");
    }
}

TEST_CASE("ipc: an event of this process holds another one's stream") {
    const Code code;
    const OwnStream stream(hipStreamNonBlocking); // the null stream is not held
    const OwnEvent event(hipEventDisableTiming | hipEventInterprocess);
    Ints ints(8, 0), word(1, 0);
    hipIpcEventHandle_t handle;
    OK(hipIpcGetEventHandle(&handle, event));
    Peer peer;
    REQUIRE_EQ(peer("open " + handle_of(ints.data)), "hipSuccess");
    REQUIRE_EQ(peer("open_event " + hex(handle)), "hipSuccess");
    CHECK_EQ(peer("query"), "hipSuccess"); // never recorded
    {
        Held held(code, stream, word.data);
        OK(hipEventRecord(event, stream));
        CHECK_EQ(peer("query"), "hipErrorNotReady");
        CHECK_EQ(peer("await"), "hipSuccess");
        peer.tell("increment 0 8");
        usleep(20000);
        CHECK_EQ(ints.get()[0], 0);
        held.release();
        CHECK_EQ(peer.hear(), "hipSuccess");
    }
    CHECK_EQ(ints.get()[0], 1);
    CHECK_EQ(peer("synchronize"), "hipSuccess");
    CHECK_EQ(peer("query"), "hipSuccess");
}

TEST_CASE("ipc: events of another process, recorded there and here") {
    Peer peer;
    hipEvent_t event = nullptr;
    OK(hipIpcOpenEventHandle(&event, unhex<hipIpcEventHandle_t>(peer("make_event"))));
    OK(hipEventQuery(event));
    CHECK_EQ(peer("record"), "hipSuccess");
    OK(hipEventSynchronize(event));
    OK(hipEventQuery(event));
    {
        const Code code;
        const OwnStream stream(hipStreamNonBlocking); // the null stream is not held
        Ints word(1, 0);
        Held held(code, stream, word.data);
        OK(hipEventRecord(event, stream));
        FAILS(hipEventQuery(event), hipErrorNotReady);
        CHECK_EQ(peer("query"), "hipErrorNotReady");
        held.release();
        CHECK_EQ(peer("synchronize"), "hipSuccess");
    }
    OK(hipEventDestroy(event));
}

TEST_CASE("ipc: a process that ends without reaching its event") {
    CapturedStderr err;
    const Code code;
    const OwnStream stream(hipStreamNonBlocking); // the null stream is not held
    const OwnEvent here(hipEventDisableTiming | hipEventInterprocess);
    hipIpcEventHandle_t handle;
    OK(hipIpcGetEventHandle(&handle, here));
    Ints word(1, 0);
    Held held(code, stream, word.data);
    OK(hipEventRecord(here, stream));

    Peer peer;
    hipEvent_t event = nullptr;
    OK(hipIpcOpenEventHandle(&event, unhex<hipIpcEventHandle_t>(peer("make_event"))));
    CHECK_EQ(peer("await_other " + hex(handle)), "hipSuccess"); // its stream is held, too
    CHECK_EQ(peer("record"), "hipSuccess");
    FAILS(hipEventQuery(event), hipErrorNotReady);
    peer.kill();
    FAILS(hipEventSynchronize(event), hipErrorLaunchFailure);
    CHECK_NE(err.text().find("ended before it was reached"), std::string::npos);
    OK(hipEventDestroy(event));
}

TEST_CASE("ipc: which events have handles") {
    CapturedStderr err;
    const OwnEvent plain, shared(hipEventDisableTiming | hipEventInterprocess);
    hipIpcEventHandle_t handle;
    hipEvent_t opened = nullptr;
    FAILS(hipIpcGetEventHandle(&handle, plain), hipErrorInvalidConfiguration);
    FAILS(hipIpcGetEventHandle(nullptr, shared), hipErrorInvalidValue);
    FAILS(hipIpcGetEventHandle(&handle, nullptr), hipErrorInvalidValue);
    OK(hipIpcGetEventHandle(&handle, shared));
    FAILS(hipIpcOpenEventHandle(&opened, handle), hipErrorInvalidContext);
    FAILS(hipIpcOpenEventHandle(nullptr, handle), hipErrorInvalidValue);
    int kinds = 0; // of handles that pools have; newer than the oldest headers
    OK(hipDeviceGetAttribute(
        &kinds, static_cast<hipDeviceAttribute_t>(hipDeviceAttributeMemoryPoolsSupported + 3), 0));
    CHECK_EQ(kinds, hipMemHandleTypePosixFileDescriptor);
}

// ---- pools

namespace {

struct SharedPool {
    SharedPool() {
        hipMemPoolProps props{};
        props.allocType = hipMemAllocationTypePinned;
        props.handleTypes = hipMemHandleTypePosixFileDescriptor;
        props.location = {hipMemLocationTypeDevice, 0};
        OK(hipMemPoolCreate(&pool, &props));
        OK(hipMemPoolExportToShareableHandle(&file, pool, hipMemHandleTypePosixFileDescriptor, 0));
        OK(hipMallocFromPoolAsync(reinterpret_cast<void **>(&memory), 4000, pool, nullptr));
        OK(hipMemset(memory, 0, 4000));
        hipMemPoolPtrExportData data;
        OK(hipMemPoolExportPointer(&data, memory));
        pointer = hex(data);
    }
    ~SharedPool() {
        static_cast<void>(hipFree(memory));
        static_cast<void>(hipMemPoolDestroy(pool));
        ::close(file);
    }
    hipMemPool_t pool = nullptr;
    int file = -1; // inherited by peers
    int *memory = nullptr;
    std::string pointer;
};

} // namespace

TEST_CASE("ipc: memory of another process's pool") {
    const SharedPool shared;
    Peer peer;
    REQUIRE_EQ(peer("open_pool " + std::to_string(shared.file)), "hipSuccess");
    REQUIRE_EQ(peer("import " + shared.pointer), "hipSuccess");
    CHECK_EQ(peer("increment 0 8"), "hipSuccess");
    int got = 0;
    OK(hipMemcpy(&got, shared.memory + 7, sizeof got, hipMemcpyDeviceToHost));
    CHECK_EQ(got, 1);
    CHECK_EQ(peer("close"), "hipErrorInvalidValue");
    CHECK_EQ(peer("free"), "hipSuccess");
    CHECK_EQ(peer("value 0"), "hipErrorInvalidValue");
    OK(hipMemcpy(&got, shared.memory, sizeof got, hipMemcpyDeviceToHost)); // the exporter's lives
    CHECK_EQ(got, 1);
}

TEST_CASE("ipc: pools and pointers that don't go together") {
    CapturedStderr err;
    const SharedPool one, two;
    Peer peer;
    CHECK_EQ(peer("import " + one.pointer), "hipErrorInvalidValue"); // no pool
    REQUIRE_EQ(peer("open_pool " + std::to_string(one.file)), "hipSuccess");
    CHECK_EQ(peer("import " + two.pointer), "hipErrorInvalidValue");
    CHECK_EQ(peer("open_pool 0"), "hipErrorInvalidValue");    // null
    CHECK_EQ(peer("open_pool 1"), "hipErrorInvalidValue");    // a pipe
    CHECK_EQ(peer("open_pool 1000"), "hipErrorInvalidValue"); // no file
    Ints plain(4, 0);
    hipMemPoolPtrExportData data;
    FAILS(hipMemPoolExportPointer(&data, plain.data), hipErrorInvalidValue);
    hipMemPool_t default_pool = nullptr, imported = nullptr;
    int file = -1;
    OK(hipDeviceGetDefaultMemPool(&default_pool, 0));
    FAILS(hipMemPoolExportToShareableHandle(&file, default_pool,
                                            hipMemHandleTypePosixFileDescriptor, 0),
          hipErrorInvalidValue);
    OK(hipMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void *>(long{one.file}),
                                           hipMemHandleTypePosixFileDescriptor, 0));
    void *made = nullptr;
    FAILS(hipMallocFromPoolAsync(&made, 64, imported, nullptr), hipErrorInvalidValue);
    OK(hipMemPoolDestroy(imported));
}
