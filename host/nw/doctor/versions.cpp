// SPDX-License-Identifier: MIT
// Versions of HIP, Linux, driver and firmware, and their known faults.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/utsname.h>

#include "base/lower_case.h"
#include "hip/known_faults.h"
#include "hip/library.h"
#include "nw/doctor/doctor.h"

namespace nw::cli {

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path &path) {
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    return line;
}

// Firmware versions in the device's sysfs folder, by name: "mes_fw_version": "0x00000080".
nlohmann::ordered_json firmware(const hip::Library &library) {
    nlohmann::ordered_json out;
    char pci[32] = "";
    if (library.on_device().hipDeviceGetPCIBusId(pci, sizeof pci, library.ordinal) != hipSuccess)
        return out;
    std::error_code none;
    std::vector<fs::path> files;
    for (const fs::directory_entry &file :
         fs::directory_iterator("/sys/bus/pci/devices/" + lower_case(pci) + "/fw_version", none))
        files.push_back(file.path());
    std::ranges::sort(files);
    for (const fs::path &file : files)
        out[file.filename().string()] = first_line(file);
    return out;
}

u32 number_of(const nlohmann::ordered_json &firmware, const char *name) {
    const std::string text = firmware.is_object() ? firmware.value(name, "") : "";
    u32 out = 0;
    if (text.starts_with("0x"))
        std::from_chars(text.data() + 2, text.data() + text.size(), out, 16);
    return out;
}

} // namespace

// Versions are those of this machine, for the simulated GPU too; known faults are of cards.
void look_at_versions(Examination &e) {
    const hip::Library &library = *e.device.library();
    hip::Platform platform{.gfx = e.device.info().gfx};
    utsname names{};
    if (uname(&names) == 0)
        platform.system = names.release;
    int driver = 0;
    library.check(library.on_device().hipRuntimeGetVersion(&platform.hip), "hipRuntimeGetVersion");
    library.check(library.call().hipDriverGetVersion(&driver), "hipDriverGetVersion");
    const std::string hip = hip::hip_version_text(platform.hip);
    nlohmann::ordered_json &v = e.versions;
    v["gfx"] = platform.gfx;
    v["device"] = e.device.info().name;
    v["wgps"] = e.device.info().wgps;
    v["simulated"] = e.device.info().simulated;
    v["library"] = library.loaded->path;
    v["hip_runtime"] = hip;
    v["hip_driver"] = hip::hip_version_text(driver);
    v["linux"] = platform.system;
    v["amdgpu"] = first_line("/sys/module/amdgpu/version"); // of a module outside the kernel alone
    if (!e.device.info().simulated)
        v["firmware"] = firmware(library);
    platform.mes =
        number_of(v.value("firmware", nlohmann::ordered_json::object()), "mes_fw_version");
    e.add("versions", State::ok,
          fmt::format("{} WGPs, HIP {}, Linux {}{}{}", e.device.info().wgps, hip, platform.system,
                      v["amdgpu"] == "" ? "" : ", amdgpu " + v["amdgpu"].get<std::string>(),
                      platform.mes ? fmt::format(", MES {:#x}", platform.mes & 0xfff) : ""));
    if (e.device.info().simulated)
        return;
    for (const hip::KnownFault &fault : hip::known_faults(platform))
        e.add("known", State::warn, fmt::format("{} (A-030, row {})", fault.text, fault.row));
}

} // namespace nw::cli
