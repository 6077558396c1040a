// SPDX-License-Identifier: MIT
#include "sim/isa/image/program.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <sys/mman.h>

#include "base/targets.h"
#include "sim/isa/code.h"
#include "sim/isa/image/elf.h"
#include "sim/isa/image/line_table.h"
#include "sim/isa/image/metadata.h"
#include "sim/isa/image/parameter_names.h"

namespace nw::sim {

namespace {

constexpr u64 max_image = u64{1} << 30; // offsets are 32-bit; no real code object comes near
constexpr u64 page = 4096;
constexpr u64 descriptor_size = 64;
constexpr u32 max_kernarg = 1 << 16; // HIP passes at most 4 KiB, CUDA 32 KiB
constexpr u16 property_wave32 = 1 << 10;
constexpr u8 symbol_object = 1;

struct Unmap {
    u64 bytes = 0;
    void operator()(std::byte *p) const { munmap(p, bytes); }
};
using Pages = std::unique_ptr<std::byte[], Unmap>;

// Demand-allocated by the host: a corrupt size costs nothing.
Pages zero_pages(u64 bytes) {
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        throw BadImage(fmt::format("no host memory for an image of {} bytes", bytes));
    return {static_cast<std::byte *>(p), Unmap{bytes}};
}

struct Range {
    u32 begin = 0, end = 0;
};

} // namespace

struct Program::Impl {
    std::string gfx, cpu;
    u32 version = 0, generic_version = 0;
    bool generic = false;
    Pages memory;
    u64 size = 0;
    std::vector<Range> text;
    std::vector<KernelInfo> kernels;
    std::vector<Global> globals, functions; // data, code; functions by address
    std::vector<std::string> printf_formats;
    LineTable lines;
    std::vector<std::byte> debug_file;

    mutable std::mutex mutex; // guards the next two
    mutable std::map<u32, std::unique_ptr<Code>> codes;
    mutable std::map<std::pair<std::type_index, u32>, std::shared_ptr<void>> attachments;

    u64 base() const { return reinterpret_cast<u64>(memory.get()); }
    std::span<const std::byte> bytes() const { return {memory.get(), size}; }
    std::byte *at(u64 address, u64 count, std::string_view what) const;

    void map(const Elf &);
    void relocate(const Elf &);
    void find_text(const Elf &);
    void read_kernels(const Elf &);
    void read_functions(const Elf &);
    void read_descriptor(const Symbol &, KernelInfo &) const;
};

std::byte *Program::Impl::at(u64 address, u64 count, std::string_view what) const {
    if (address > size || count > size - address)
        throw BadImage(fmt::format("{}: addresses [0x{:x}, 0x{:x}) are outside the image of 0x{:x} "
                                   "bytes",
                                   what, address, address + count, size));
    return memory.get() + address;
}

void Program::Impl::map(const Elf &elf) {
    for (const Segment &s : elf.segments()) {
        if (s.type != segment_load)
            continue;
        if (s.address > max_image || s.memory_size > max_image - s.address)
            throw BadImage(
                fmt::format("a segment at 0x{:x} of 0x{:x} bytes: images end below 0x{:x}",
                            s.address, s.memory_size, max_image));
        size = std::max(size, s.address + s.memory_size);
    }
    if (size == 0)
        throw BadImage("no loadable segment: link the object (ld.lld -shared) before loading it");
    size = round_up(size, page);
    memory = zero_pages(size);
    for (const Segment &s : elf.segments()) {
        if (s.type != segment_load || s.file_size == 0)
            continue;
        auto bytes = elf.file().slice(s.offset, s.file_size);
        std::memcpy(at(s.address, s.file_size, "segment"), bytes.data(), bytes.size());
    }
}

void Program::Impl::relocate(const Elf &elf) {
    enum : u32 { none = 0, abs32_lo = 1, abs32_hi = 2, abs64 = 3, rel64 = 5, relative64 = 13 };
    for (const Relocation &r : elf.relocations()) {
        if (r.address >= size)
            continue; // of a section that isn't loaded: debug information
        u64 symbol = 0;
        if (r.symbol) {
            if (r.symbol >= elf.symbols().size())
                throw BadImage(fmt::format("a relocation names symbol {} of {}", r.symbol,
                                           elf.symbols().size()));
            const Symbol &s = elf.symbols()[r.symbol];
            if (s.section == 0)
                throw BadImage(fmt::format(
                    "undefined symbol '{}': link the code object with its definition", s.name));
            symbol = s.address;
        }
        u64 value = base() + symbol + static_cast<u64>(r.addend);
        u64 width = r.type == abs32_lo || r.type == abs32_hi ? 4 : 8;
        if (r.type == none)
            continue;
        if (r.type == rel64)
            value -= base() + r.address;
        else if (r.type == abs32_hi)
            value >>= 32;
        else if (r.type != abs64 && r.type != relative64 && r.type != abs32_lo)
            throw BadImage(
                fmt::format("relocation type {} at 0x{:x} is not valid in a linked AMDGPU object",
                            r.type, r.address));
        std::memcpy(at(r.address, width, "relocation"), &value, width);
    }
}

void Program::Impl::find_text(const Elf &elf) {
    auto add = [&](u64 address, u64 bytes) {
        at(address, bytes, "code");
        text.push_back({static_cast<u32>(address), static_cast<u32>(address + bytes)});
    };
    for (const Section &s : elf.sections())
        if ((s.flags & section_executable) && s.size && s.type != 8 /* NOBITS */)
            add(s.address, s.size);
    if (text.empty())
        for (const Segment &s : elf.segments())
            if (s.type == segment_load && (s.flags & segment_executable) && s.file_size)
                add(s.address, s.file_size);
    std::sort(text.begin(), text.end(), [](Range a, Range b) { return a.begin < b.begin; });
    for (size_t i = 1; i < text.size(); ++i)
        if (text[i].begin < text[i - 1].end)
            throw BadImage(fmt::format("code sections overlap at 0x{:x}", text[i].begin));
}

void Program::Impl::read_descriptor(const Symbol &symbol, KernelInfo &k) const {
    std::string what = "descriptor of " + k.name;
    Bytes d({at(symbol.address, descriptor_size, what), descriptor_size}, what.c_str());
    k.descriptor = base() + symbol.address;
    k.lds_bytes = std::max(k.lds_bytes, d.read<u32>(0));
    k.scratch_bytes = std::max(k.scratch_bytes, d.read<u32>(4));
    k.kernarg_bytes = std::max(k.kernarg_bytes, d.read<u32>(8));
    if (k.kernarg_bytes > max_kernarg)
        throw BadImage(fmt::format("kernel {}: {} bytes of arguments, more than {}", k.name,
                                   k.kernarg_bytes, max_kernarg));
    k.rsrc3 = d.read<u32>(44);
    k.rsrc1 = d.read<u32>(48);
    k.rsrc2 = d.read<u32>(52);
    k.properties = d.read<u16>(56);
    k.wave_size = k.properties & property_wave32 ? 32 : 64;
    u64 entry = symbol.address + d.read<u64>(16);
    bool inside = std::any_of(text.begin(), text.end(),
                              [&](Range r) { return entry >= r.begin && entry < r.end; });
    if (!inside || entry % 4)
        throw BadImage(fmt::format("kernel {}: its entry 0x{:x} is not in code", k.name, entry));
    k.entry = base() + entry;
}

void Program::Impl::read_kernels(const Elf &elf) {
    std::vector<KernelInfo> listed = read_metadata(elf.metadata());
    for (const Symbol &s : elf.symbols()) {
        if (s.section == 0 || s.type != symbol_object)
            continue;
        if (!s.name.ends_with(".kd")) {
            if (s.address <= size && s.size <= size - s.address)
                globals.push_back({std::string(s.name), base() + s.address, s.size});
            continue;
        }
        KernelInfo k;
        std::string_view name = s.name.substr(0, s.name.size() - 3);
        auto it = std::find_if(listed.begin(), listed.end(),
                               [&](const KernelInfo &m) { return m.name == name; });
        if (it != listed.end())
            k = *it;
        k.name = name;
        read_descriptor(s, k);
        kernels.push_back(std::move(k));
    }
}

void Program::Impl::read_functions(const Elf &elf) {
    for (const Symbol &s : elf.functions())
        if (s.address < size)
            functions.push_back({std::string(s.name), base() + s.address, s.size});
    std::sort(functions.begin(), functions.end(),
              [](const Global &a, const Global &b) { return a.address < b.address; });
}

Program::Program() : impl_(std::make_unique<Impl>()) {}
Program::~Program() = default;

std::shared_ptr<const Program> Program::load(std::span<const std::byte> file,
                                             std::string_view gfx) {
    Elf elf(file);
    const Target *target = find_target(gfx), *of_image = find_target(elf.gfx());
    if (!target) // LLVM would abort the process on an unknown target
        throw BadImage(fmt::format("{} is not a supported target: must be gfx10 to gfx12", gfx));
    if (!of_image || !target->runs(*of_image))
        throw BadImage(
            fmt::format("the code object is for {} (e_flags), the device is {}: assemble "
                        "it with -mcpu={}",
                        elf.gfx(), gfx, gfx));
    std::shared_ptr<Program> program(new Program);
    Impl &impl = *program->impl_;
    impl.gfx = gfx;
    impl.cpu = elf.gfx();
    impl.map(elf);
    impl.relocate(elf);
    impl.find_text(elf);
    impl.read_kernels(elf);
    add_parameter_names(elf, impl.kernels);
    impl.read_functions(elf);
    impl.printf_formats = read_printf_formats(elf.metadata());
    impl.lines = LineTable(elf);
    if (!elf.section(".debug_line").empty())
        impl.debug_file.assign(file.begin(), file.end());
    impl.version = elf.code_object_version();
    impl.generic = of_image->generic;
    impl.generic_version = elf.generic_version();
    return program;
}

const std::string &Program::gfx() const { return impl_->gfx; }
u32 Program::code_object_version() const { return impl_->version; }
bool Program::is_generic() const { return impl_->generic; }
u32 Program::generic_version() const { return impl_->generic_version; }
const std::vector<KernelInfo> &Program::kernels() const { return impl_->kernels; }
const std::vector<Global> &Program::globals() const { return impl_->globals; }
const std::vector<std::string> &Program::printf_formats() const { return impl_->printf_formats; }
std::span<const std::byte> Program::debug_file() const { return impl_->debug_file; }
std::span<std::byte> Program::image() const { return {impl_->memory.get(), impl_->size}; }

const KernelInfo *Program::find_kernel(std::string_view name) const {
    for (const KernelInfo &k : impl_->kernels)
        if (k.name == name)
            return &k;
    return nullptr;
}

const Global *Program::find_global(std::string_view name) const {
    for (const Global &g : impl_->globals)
        if (g.name == name)
            return &g;
    return nullptr;
}

const Code &Program::code(u32 wave_size) const {
    std::lock_guard lock(impl_->mutex);
    std::unique_ptr<Code> &code = impl_->codes[wave_size];
    if (!code) {
        auto fresh = std::make_unique<Code>();
        fresh->base = impl_->base();
        fresh->wave_size = wave_size;
        for (Range r : impl_->text)
            disassemble(impl_->bytes(), r.begin, r.end, impl_->cpu, *fresh);
        code = std::move(fresh);
    }
    return *code;
}

bool Program::overlaps_code(u64 address, u64 size) const {
    const u64 begin = address - impl_->base();
    return begin < impl_->size && std::any_of(impl_->text.begin(), impl_->text.end(), [&](Range r) {
               return begin < r.end && begin + size > r.begin;
           });
}

const Global *Program::function_at(u64 pc) const {
    const std::vector<Global> &all = impl_->functions;
    auto above = std::upper_bound(all.begin(), all.end(), pc,
                                  [](u64 at, const Global &f) { return at < f.address; });
    if (above == all.begin())
        return nullptr;
    const Global &f = *std::prev(above);
    return f.size == 0 || pc - f.address < f.size ? &f : nullptr; // assembly may leave sizes out
}

SourcePlace place_of(const std::string &source_line) {
    const size_t colon = source_line.rfind(':');
    if (colon == source_line.npos)
        return {};
    SourcePlace place{source_line.substr(0, colon), 0};
    std::from_chars(source_line.data() + colon + 1, source_line.data() + source_line.size(),
                    place.line);
    return place;
}

std::string Program::source_line(u64 pc) const { return impl_->lines.find(pc - impl_->base()); }

const void *Program::attached(std::type_index type, u32 key,
                              const std::function<std::shared_ptr<void>()> &make) const {
    {
        std::lock_guard lock(impl_->mutex);
        if (auto it = impl_->attachments.find({type, key}); it != impl_->attachments.end())
            return it->second.get();
    }
    std::shared_ptr<void> fresh = make(); // may call code(), so without the lock
    std::lock_guard lock(impl_->mutex);
    return impl_->attachments.try_emplace({type, key}, std::move(fresh)).first->second.get();
}

} // namespace nw::sim
