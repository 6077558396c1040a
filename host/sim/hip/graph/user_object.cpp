// SPDX-License-Identifier: MIT
// Host objects that live as long as the graphs that use them. Since HIP 5.3.
#include <algorithm>
#include <set>

#include "sim/hip/graph/graph_call.h"

namespace nw::hipsim {

// User objects that the caller still references; graphs hold their own references.
static Handles<UserObject *, UserObject> &held_objects() {
    static auto *const made = new Handles<UserObject *, UserObject>;
    return *made;
}

// All that ever were: guarded by graph_mutex().
static std::set<const UserObject *> &handles_given() {
    static auto *const made = new std::set<const UserObject *>;
    return *made;
}

static void check_reference(const UserObject *handle, unsigned count) {
    require(handles_given().contains(handle) && count > 0 && count <= INT32_MAX,
            hipErrorInvalidValue);
}

// Null: gone, which is no error on real ROCm.
static std::shared_ptr<UserObject> find_object(UserObject *handle, unsigned count) {
    check_reference(handle, count);
    auto object = held_objects().find(handle);
    if (!object)
        say("this user object is gone; real ROCm ignores the call, too");
    return object;
}

// More references than the caller holds are all that it holds, as on real ROCm.
static void let_go(const std::shared_ptr<UserObject> &object, unsigned count) {
    object->held_by_caller -= std::min(count, object->held_by_caller);
    if (object->held_by_caller == 0)
        held_objects().remove(object.get());
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t create_object(UserObject **object, void *pointer, hipHostFn_t destroy,
                         unsigned references, unsigned flags) asm("hipUserObjectCreate");
hipError_t retain_object(UserObject *object, unsigned count) asm("hipUserObjectRetain");
hipError_t release_object(UserObject *object, unsigned count) asm("hipUserObjectRelease");
hipError_t retain_for_graph(hipGraph_t graph, UserObject *object, unsigned count,
                            unsigned flags) asm("hipGraphRetainUserObject");
hipError_t release_for_graph(hipGraph_t graph, UserObject *object,
                             unsigned count) asm("hipGraphReleaseUserObject");
}

hipError_t create_object(UserObject **object, void *pointer, hipHostFn_t destroy,
                         unsigned references, unsigned flags) {
    return graph_call("hipUserObjectCreate", [&] {
        constexpr unsigned no_destructor_sync = 1;
        require(object && destroy && flags == no_destructor_sync && references > 0 &&
                    references <= INT32_MAX,
                hipErrorInvalidValue);
        auto made = std::make_shared<UserObject>(pointer, destroy);
        made->held_by_caller = references;
        *object = held_objects().add(std::move(made));
        handles_given().insert(*object);
    });
}

hipError_t retain_object(UserObject *handle, unsigned count) {
    return graph_call("hipUserObjectRetain", [&] {
        if (const auto object = find_object(handle, count))
            object->held_by_caller += count;
    });
}

hipError_t release_object(UserObject *handle, unsigned count) {
    std::shared_ptr<UserObject> last; // destroyed without the lock
    return graph_call("hipUserObjectRelease", [&] {
        last = find_object(handle, count);
        if (last)
            let_go(last, count);
    });
}

hipError_t retain_for_graph(hipGraph_t graph, UserObject *handle, unsigned count, unsigned flags) {
    return graph_call("hipGraphRetainUserObject", [&] {
        constexpr unsigned move = 1; // hipGraphUserObjectMove: the caller's references
        const auto target = find_graph(graph);
        require(flags == 0 || flags == move, hipErrorInvalidValue);
        const auto object = find_object(handle, count);
        if (!object)
            return;
        if (flags == move)
            let_go(object, count);
        target->user_objects[object] += count;
    });
}

hipError_t release_for_graph(hipGraph_t graph, UserObject *handle, unsigned count) {
    std::shared_ptr<UserObject> last;
    return graph_call("hipGraphReleaseUserObject", [&] {
        auto &objects = find_graph(graph)->user_objects;
        const auto held =
            std::ranges::find(objects, handle, [](const auto &each) { return each.first.get(); });
        check_reference(handle, count);
        if (held == objects.end())
            return say("the graph has no reference to this user object; real ROCm ignores the "
                       "call, too");
        last = held->first;
        if ((held->second -= std::min(held->second, count)) == 0)
            objects.erase(held);
    });
}
