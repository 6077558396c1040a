// SPDX-License-Identifier: MIT
// nw run: launches a kernel on a device and shows, saves or compares its buffers.
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "base/targets.h"
#include "base/terminal.h"
#include "hip/library.h"
#include "nw/code_object.h"
#include "nw/commands.h"
#include "nw/gfx.h"
#include "nw/kernel_options.h"
#include "nw/run/results.h"
#include "nw/watch.h"
#include "sim/func/launch/hidden_args.h"

namespace nw::cli {

namespace {

struct Options {
    KernelOptions kernel;
    std::string device, check;
    std::vector<std::string> print, save, compare;
    bool watch = false;
};

// Buffers of a HIP device.
class DeviceMemory : public ArgumentMemory {
public:
    explicit DeviceMemory(const hip::Device &device) : device_(device) {}
    u64 make(u64 bytes, const std::string &, const Fill &fill) override {
        std::vector<std::byte> contents(bytes);
        fill(contents);
        buffers_.push_back(device_.allocate(bytes));
        buffers_.back().upload(contents.data(), bytes);
        return reinterpret_cast<u64>(buffers_.back().data());
    }
    const hip::Buffer &operator[](size_t n) const { return buffers_[n]; } // the n-th that was made
    std::vector<std::byte> read(size_t n) const {
        std::vector<std::byte> contents(buffers_[n].size());
        buffers_[n].download(contents.data(), contents.size());
        return contents;
    }

private:
    const hip::Device &device_;
    std::vector<hip::Buffer> buffers_;
};

bool runs(const std::string &device, const std::string &gfx) {
    const Target *of_device = find_target(device), *of_code = find_target(gfx);
    return of_device && of_code && of_device->runs(*of_code);
}

// --device, else that of NIBBLEWAVE_DEVICE. `auto` gives a device that runs the file's code or
// --gfx: the simulated one where the card is another.
hip::Device open(const Options &o) {
    if (!o.kernel.gfx.empty())
        check_gfx(o.kernel.gfx);
    const char *const variable = std::getenv("NIBBLEWAVE_DEVICE");
    const std::string asked = !o.device.empty() ? o.device : variable ? variable : "";
    if (o.kernel.gfx.empty() && !asked.empty() && asked != "auto")
        return hip::Device(asked);
    const std::string gfx = o.kernel.gfx.empty() ? gfx_of_file(o.kernel.file) : o.kernel.gfx;
    hip::Device device("auto");
    return gfx.empty() || runs(device.info().gfx, gfx) ? device
                                                       : hip::Device("sim:" + one_gfx(gfx));
}

hip::Device open_checked(const Options &o) {
    hip::Device device = open(o);
    if (o.check.empty())
        return device;
    const std::string &spec = device.info().spec;
    if (!device.info().simulated)
        throw Error(fmt::format("--check {}: {} is a card, which has no checkers: choose the "
                                "simulated GPU, --device sim:{}",
                                o.check, spec, device.info().gfx));
    return hip::Device(
        fmt::format("{}{}check={}", spec, spec.find('?') == spec.npos ? "?" : "&", o.check));
}

// Reports of faults name allocations by number and address.
void list_buffers(const DeviceMemory &memory, std::span<const BufferArgument> buffers) {
    std::string list;
    for (size_t n = 0; n < buffers.size(); ++n)
        list += fmt::format("{}{} {} bytes at {}", n ? ", " : "", title(buffers[n]),
                            buffers[n].bytes, fmt::ptr(memory[n].data()));
    if (!list.empty())
        fmt::print(stderr, "nw: buffers: {}\n", list);
}

// The explicit arguments alone: HIP adds the hidden ones.
std::span<const std::byte> explicit_part(const sim::KernelInfo &kernel,
                                         std::span<const std::byte> block) {
    size_t end = 0;
    for (const sim::Arg &arg : kernel.args)
        if (!sim::is_hidden(arg))
            end = std::max<size_t>(end, arg.offset + arg.size);
    return block.first(end);
}

void launch(const hip::Device &device, const hip::Function &function, const sim::Dispatch &d,
            std::span<const std::byte> arguments) {
    size_t bytes = arguments.size();
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::byte *>(arguments.data()),
                     HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
    const hip::Library &library = *device.library();
    library.check(library.on_device().hipModuleLaunchKernel(
                      static_cast<hipFunction_t>(function.handle), d.grid.x, d.grid.y, d.grid.z,
                      d.block.x, d.block.y, d.block.z, d.dynamic_lds, nullptr, nullptr,
                      bytes ? extra : nullptr),
                  "hipModuleLaunchKernel", function.name);
    device.synchronize();
}

struct Requests {
    std::vector<Print> print;
    std::vector<Save> save;
    std::vector<Compare> compare;

    Requests(const Options &o, std::span<const BufferArgument> buffers) {
        for (const std::string &text : o.print)
            print.push_back(read_print(text, buffers));
        for (const std::string &text : o.save)
            save.push_back(read_save(text, buffers));
        for (const std::string &text : o.compare)
            compare.push_back(read_compare(text, buffers));
    }
};

std::string dim(const sim::Dim3 &d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

void run(const Options &o) {
    const hip::Device device = open_checked(o);
    const std::string &gfx = device.info().gfx;
    const std::string object = code_object(o.kernel.file, gfx);
    const auto program = load_object(o.kernel.file, object, gfx);

    sim::Dispatch d;
    d.program = program.get();
    d.kernel = &choose_kernel(*program, o.kernel);
    d.grid = grid_of(o.kernel);
    d.block = block_of(o.kernel, *d.kernel);
    d.dynamic_lds = o.kernel.dynamic_lds;
    DeviceMemory memory(device);
    const Kernarg arguments = make_kernarg(d, o.kernel.args, memory, o.kernel.seed);
    const Requests requests(o, arguments.buffers);

    const hip::Module module = device.load(std::as_bytes(std::span(object)));
    try {
        launch(device, module.function(d.kernel->name), d,
               explicit_part(*d.kernel, arguments.block));
    } catch (const hip::Error &) {
        list_buffers(memory, arguments.buffers);
        throw;
    }

    fmt::print(heading_style(), "{} on {}, grid {}, block {}", d.kernel->name, device.info().label,
               dim(d.grid), dim(d.block));
    fmt::print("{}\n", o.check.empty() || o.check == "off"
                           ? ""
                           : fmt::format(": no findings of --check {}", o.check));
    const auto bytes = [&](const BufferArgument *buffer) {
        return memory.read(static_cast<size_t>(buffer - arguments.buffers.data()));
    };
    for (const Print &p : requests.print)
        print(p, bytes(p.buffer));
    for (const Save &s : requests.save)
        save(s, bytes(s.buffer));
    bool good = true;
    for (const Compare &c : requests.compare)
        good &= agrees(c, bytes(c.buffer));
    if (!good)
        throw Findings();
}

constexpr const char *footer = R"(
  nw run saxpy.hip --grid 4 --args x=buf:4000:f32 y=buf:4000 n=u32:1000 --check all --print y:f32:8
  nw run kernel.s --gfx gfx1201 --grid 4 --args npy:x.npy buf:4000 u32:1000 --compare 1:want.npy:1e-6

Sources are compiled for the device: .s by clang, .hip as hiprtc does, .cl as OpenCL C 2.0, without ROCm. Exit code 1: the
kernel faults, a checker has a finding, or a comparison fails; nw --help)";

} // namespace

void add_run(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command =
        app.add_subcommand("run", "Run a kernel and show, save or compare its results");
    command.footer = footer;
    add_kernel_file(command, o->kernel);
    add_kernel_options(command, o->kernel);
    command.add("--device", &o->device,
                "hip:N, sim:gfx1151, sim:\"7900 XTX\" or auto; default: NIBBLEWAVE_DEVICE, else a "
                "card that can run the code, else the simulated GPU",
                {.excludes = {"--gfx"}});
    command.add("--check", &o->check,
                "all, or a comma list of mem, init, wait, race, as HIPSIM_CHECK");
    command.add("--print", &o->print, print_help);
    command.add("--save", &o->save, save_help);
    command.add("--compare", &o->compare, compare_help);
    add_watch_option(command, o->watch);
    command.run = [o] { run_watched(o->watch, {o->kernel.file}, [&] { run(*o); }); };
}

} // namespace nw::cli
