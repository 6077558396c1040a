// SPDX-License-Identifier: MIT
// Every .hsaco of the build: code object V5 for the target of its folder, metadata that LLVM's own
// verifier accepts in strict mode and that agrees with manifest.json, line tables, end padding.
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <llvm/BinaryFormat/AMDGPUMetadataVerifier.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/Object/ELFObjectFile.h>
#include <nlohmann/json.hpp>
#include <string>

namespace {

namespace fs = std::filesystem;
using llvm::object::ELF64LEObjectFile;
using nlohmann::json;

// The NT_AMDGPU_METADATA note; empty when there is none.
llvm::StringRef metadata_note(const ELF64LEObjectFile &file) {
    const auto &elf = file.getELFFile();
    for (const auto &header : llvm::cantFail(elf.program_headers())) {
        if (header.p_type != llvm::ELF::PT_NOTE) {
            continue;
        }
        llvm::Error error = llvm::Error::success();
        for (const auto &note : elf.notes(header, error)) {
            if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA) {
                llvm::consumeError(std::move(error));
                return note.getDescAsStringRef(4);
            }
        }
        llvm::consumeError(std::move(error));
    }
    return {};
}

bool has_section(const ELF64LEObjectFile &file, llvm::StringRef name) {
    for (const auto &section : file.sections()) {
        if (llvm::cantFail(section.getName()) == name) {
            return section.getSize() > 0;
        }
    }
    return false;
}

// 64 dwords of s_code_end behind the last instruction.
bool padded(const ELF64LEObjectFile &file) {
    for (const auto &section : file.sections()) {
        if (llvm::cantFail(section.getName()) != ".text") {
            continue;
        }
        const llvm::StringRef code = llvm::cantFail(section.getContents());
        bool all = code.size() >= 256;
        for (std::size_t at = code.size() - 256; all && at < code.size(); at += 4) {
            all = code.substr(at, 4) == llvm::StringRef("\x00\x00\x9f\xbf", 4);
        }
        return all;
    }
    return false;
}

// The metadata of one kernel against its manifest row and its family's arguments.
void agrees(llvm::msgpack::MapDocNode kernel, const json &row, const json &listed) {
    const auto number = [](llvm::msgpack::DocNode node) { return node.getUInt(); };
    CHECK(kernel[".name"].getString() == row["symbol"].get<std::string>());
    CHECK(number(kernel[".kernarg_segment_size"]) == row["kernarg_bytes"]);
    CHECK(number(kernel[".group_segment_fixed_size"]) == row["lds_bytes"]);
    CHECK(number(kernel[".vgpr_count"]) == row["vgprs"]);
    CHECK(number(kernel[".sgpr_count"]) == row["sgprs"]);
    CHECK(number(kernel[".max_flat_workgroup_size"]) == row["block"][0]);
    CHECK(number(kernel[".private_segment_fixed_size"]) == 0u); // nothing spills
    auto args = kernel[".args"].getArray();
    REQUIRE(args.size() == listed.size());
    for (std::size_t i = 0; i < args.size(); ++i) {
        auto arg = args[i].getMap();
        CHECK(arg[".name"].getString() == listed[i]["name"].get<std::string>());
        CHECK(number(arg[".offset"]) == listed[i]["offset"]);
        CHECK(number(arg[".size"]) == listed[i]["size"]);
        CHECK(arg[".value_kind"].getString() == listed[i]["kind"].get<std::string>());
    }
}

} // namespace

TEST_CASE("every code object is what the manifest says") {
    const fs::path root = fs::path(NW_BUILD_DIR) / "hsaco";
    const json manifest = json::parse(std::ifstream(root / "manifest.json"));
    REQUIRE(manifest["kernels"].size() > 0);
    for (const json &row : manifest["kernels"]) {
        const std::string path = root / row["file"].get<std::string>();
        CAPTURE(path);
        auto binary = llvm::object::ObjectFile::createObjectFile(path);
        REQUIRE(bool(binary));
        const auto *file = llvm::dyn_cast<ELF64LEObjectFile>(binary->getBinary());
        REQUIRE(file);
        const auto abi_version =
            static_cast<unsigned char>(file->getData()[llvm::ELF::EI_ABIVERSION]);
        CHECK(abi_version == llvm::ELF::ELFABIVERSION_AMDGPU_HSA_V5);
        CHECK(file->tryGetCPUName()->str() == row["gfx"].get<std::string>());
        CHECK(has_section(*file, ".debug_line"));
        CHECK(padded(*file));

        llvm::msgpack::Document document;
        REQUIRE(document.readFromBlob(metadata_note(*file), false));
        CHECK(llvm::AMDGPU::HSAMD::V3::MetadataVerifier(true).verify(document.getRoot()));
        auto kernels = document.getRoot().getMap()["amdhsa.kernels"].getArray();
        REQUIRE(kernels.size() == 1);
        agrees(kernels[0].getMap(), row,
               manifest["families"][row["family"].get<std::string>()]["arguments"]);
    }
}

TEST_CASE("the strict verifier does refuse") {
    llvm::msgpack::Document document;
    REQUIRE(
        document.fromYAML("---\namdhsa.version: [ 1, 2 ]\namdhsa.kernels:\n  - .name: x\n...\n"));
    CHECK_FALSE(llvm::AMDGPU::HSAMD::V3::MetadataVerifier(true).verify(document.getRoot()));
}
