// SPDX-License-Identifier: MIT
#include "sim/hip/module/programs.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>

#include "sim/hip/device/device.h"

namespace nw::hipsim {

namespace {

constexpr size_t most_programs = 64, most_bytes = size_t{4} << 20; // kept, of one

struct Kept {
    std::vector<std::byte> code_object;
    std::shared_ptr<const sim::Program> program;
    std::vector<std::byte> image; // as loaded: a kernel may yet find a way to write to it
};

struct Programs {
    std::mutex mutex;
    std::deque<Kept> kept; // the youngest first
    std::map<std::pair<const Device *, const sim::Program *>, std::weak_ptr<void>> adopted;
};

Programs &programs() {
    static auto *const made = new Programs; // outlives the host's destructors
    return *made;
}

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
    return {bytes.begin(), bytes.end()};
}

} // namespace

std::shared_ptr<const sim::Program> load_program(const Device &device,
                                                 std::vector<std::byte> code_object) {
    const std::string_view gfx = device.facts.gfx;
    if (device.timing || code_object.size() > most_bytes)
        return sim::Program::load(code_object, gfx);
    auto &[mutex, kept, adopted] = programs();
    const std::lock_guard lock(mutex);
    const auto same = std::ranges::find_if(kept, [&](const Kept &each) {
        return each.program->gfx() == gfx && each.code_object == code_object &&
               std::ranges::equal(each.program->image(), each.image);
    });
    if (same != kept.end())
        return same->program;
    auto program = sim::Program::load(code_object, gfx);
    if (program->globals().empty()) {
        auto image = copy_of(program->image());
        kept.push_front({std::move(code_object), program, std::move(image)});
        if (kept.size() > most_programs)
            kept.pop_back();
    }
    return program;
}

std::shared_ptr<void> adopt_image(Device &device, std::shared_ptr<const sim::Program> program) {
    auto &[mutex, kept, adopted] = programs();
    const std::lock_guard lock(mutex);
    std::erase_if(adopted, [](const auto &each) { return each.second.expired(); });
    std::weak_ptr<void> &known = adopted[{&device, program.get()}];
    if (auto lives = known.lock())
        return lives;
    const auto image = program->image();
    device.memory.adopt(image.data(), image.size(), "a module's image");
    std::shared_ptr<void> made(image.data(),
                               [&device, program](void *at) { device.memory.disown(at); });
    known = made;
    return made;
}

} // namespace nw::hipsim
