// SPDX-License-Identifier: MIT
// Models in one file or several.
#include <doctest/doctest.h>
#include <filesystem>
#include <unistd.h>

#include "base/error.h"
#include "formats/gguf/gguf_model.h"
#include "formats/gguf_file.h"

using namespace nw;
using test::GgufWriter;
namespace fs = std::filesystem;

namespace {

class Folder {
public:
    Folder() : path_(fs::temp_directory_path() / ("nw_gguf_" + std::to_string(getpid()))) {
        fs::create_directory(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    std::string operator/(const std::string &name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

// As llama.cpp's gguf-split writes them: u16, u16, i32.
GgufWriter part(u16 number, u16 count, i32 tensors) {
    GgufWriter w;
    if (number == 0)
        w.text("general.architecture", "qwen3");
    w.number("split.no", GgufType::u16, number).number("split.count", GgufType::u16, count);
    return w.number("split.tensors.count", GgufType::i32, tensors);
}

// m-00001-of-00003.gguf and so on, four tensors: a; b, c; d.
void write_three(const Folder &f) {
    part(0, 3, 4).tensor("a", {8}, 0, 32, 1).write(f / "m-00001-of-00003.gguf");
    part(1, 3, 4)
        .tensor("b", {8}, 0, 32, 2)
        .tensor("c", {4}, 0, 16, 3)
        .write(f / "m-00002-of-00003.gguf");
    part(2, 3, 4).tensor("d", {8}, 0, 32, 4).write(f / "m-00003-of-00003.gguf");
}

void refused(const std::string &path, std::initializer_list<const char *> words) {
    std::string said = "was opened";
    try {
        GgufModel model(path);
    } catch (const Error &e) {
        said = e.what();
    }
    CAPTURE(said);
    for (const char *word : words)
        CHECK_MESSAGE(said.find(word) != said.npos, word);
}

} // namespace

TEST_CASE("one file") {
    const Folder f;
    GgufWriter()
        .text("general.architecture", "llama")
        .tensor("a", {8}, 0, 32, 1)
        .write(f / "m.gguf");
    const GgufModel model(f / "m.gguf");
    CHECK(model.architecture() == "llama");
    CHECK(model.files().size() == 1);
    CHECK(model.tensors().size() == 1);
    CHECK(model.find("a")->bytes()[0] == std::byte{1});
    CHECK(model.find("b") == nullptr);
    refused(f / "n.gguf", {"n.gguf", "can't be opened"});
    GgufWriter().write(f / "e.gguf");
    CHECK(GgufModel(f / "e.gguf").architecture().empty());
}

TEST_CASE("any file of a split model opens all, in order") {
    const Folder f;
    write_three(f);
    for (const char *name :
         {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"}) {
        const GgufModel model(f / name);
        CHECK(model.files().size() == 3);
        CHECK(model.architecture() == "qwen3");
        std::string names;
        for (const GgufTensor *t : model.tensors())
            names += t->name;
        CHECK(names == "abcd");
        CHECK(model.find("c")->bytes()[0] == std::byte{3});
    }
}

TEST_CASE("split models that don't fit together") {
    const Folder f;
    write_three(f);
    const std::string first = f / "m-00001-of-00003.gguf", second = f / "m-00002-of-00003.gguf";
    fs::rename(second, f / "away");
    refused(first, {"m-00002-of-00003.gguf: is missing", "one of 3 files"});
    fs::rename(f / "away", second);

    part(1, 4, 4).tensor("b", {8}, 0, 32).write(second);
    refused(first, {"m-00002-of-00003.gguf", "file 2 of 4", "2 of 3"});
    part(2, 3, 4).tensor("b", {8}, 0, 32).write(second);
    refused(first, {"m-00002-of-00003.gguf", "file 3 of 3"});
    GgufWriter().tensor("b", {8}, 0, 32).write(second);
    refused(first, {"m-00002-of-00003.gguf", "file 1 of 1"});
    part(1, 3, 4).tensor("b", {8}, 0, 32).write(second);
    refused(first, {"split.tensors.count is 4", "3 files have 3"});
    part(1, 3, 4).tensor("b", {8}, 0, 32).tensor("d", {8}, 0, 32).write(second);
    refused(first, {"the tensor \"d\" is in two"});

    part(1, 3, 4).tensor("b", {8}, 0, 32).write(f / "other.gguf");
    refused(f / "other.gguf", {"file 2 of 3", "must be called NAME-00002-of-00003.gguf"});
    part(0, 3, 4).write(f / "m-00003-of-00003.gguf");
    refused(f / "m-00003-of-00003.gguf", {"file 1 of 3", "-00001-of-00003.gguf"});
    part(5, 3, 4).write(f / "x-00006-of-00003.gguf");
    refused(f / "x-00006-of-00003.gguf", {"file 6 of 3"});
    GgufWriter().number("split.count", GgufType::i32, i32{-2}).write(f / "x.gguf");
    refused(f / "x.gguf", {"split.count is of type i32", "non-negative"});
    GgufWriter().number("split.count", GgufType::u32, ~u32{0}).write(f / "x.gguf");
    refused(f / "x.gguf", {"split.count is 4294967295", "99999 files at most"});
}
