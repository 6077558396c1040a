// SPDX-License-Identifier: MIT
// Image instructions: data, address VGPRs, resource descriptor[, sampler descriptor].
#include <bit>
#include <fmt/format.h>

#include "sim/func/executable/build.h"
#include "sim/func/memory/image_access.h"

namespace nw::sim {

namespace {

ImageDim dim_of(const Operation &op) {
    constexpr std::pair<std::string_view, ImageDim> dims[] = {
        {"SQ_RSRC_IMG_1D", ImageDim::d1},
        {"SQ_RSRC_IMG_2D", ImageDim::d2},
        {"SQ_RSRC_IMG_3D", ImageDim::d3},
        {"SQ_RSRC_IMG_1D_ARRAY", ImageDim::d1_array},
        {"SQ_RSRC_IMG_2D_ARRAY", ImageDim::d2_array},
    };
    const Modifier *dim = op.modifier("dim");
    for (const auto &[name, value] : dims)
        if (dim && dim->text == name)
            return value;
    throw Unsupported{fmt::format("images of dimension {}: neither cubes nor several samples",
                                  dim ? dim->text : "none")};
}

// Address registers before the coordinates, and behind them.
unsigned before(ImageForm form, const ImageAccess &image) {
    return form == ImageForm::sample_bias        ? 1
           : form == ImageForm::sample_gradients ? 2 * image.filtered()
                                                 : 0;
}
unsigned behind(ImageForm form) {
    return form == ImageForm::texel_of_level || form == ImageForm::sample_level ||
           form == ImageForm::gather_level;
}

// Texels of a lane.
unsigned texels_of(ImageForm form, const ImageAccess &image) {
    switch (form) {
    case ImageForm::size:
        return 0;
    case ImageForm::texel:
    case ImageForm::texel_of_level:
        return 1;
    case ImageForm::gather:
    case ImageForm::gather_level:
        return 4;
    default:
        return 1u << image.filtered();
    }
}

void require_plain(const Operation &op, ImageForm form) {
    for (std::string_view name : {"tfe", "lwe", "r128"})
        if (op.has(name))
            throw Unsupported{fmt::format("{} of an image instruction", name)};
    const bool mixed = form == ImageForm::sample_bias || form == ImageForm::sample_gradients;
    if (op.has("a16") && mixed) // how these pack isn't published
        throw Unsupported{"16-bit coordinates with a bias or gradients"};
}

bool gathers(ImageForm form) {
    return form == ImageForm::gather || form == ImageForm::gather_level;
}

} // namespace

void Builder::image(Inst &i, const Instruction &inst, const MemoryOp &m) {
    const Operation &op = inst.x;
    if (target_.generation == Generation::gfx10)
        throw Unsupported{"out of scope (image)"};
    require_plain(op, m.image);
    ImageAccess image;
    image.dim = dim_of(op);
    image.mask = static_cast<u8>(op.value("dmask", 0));
    image.unnormalized = op.has("unorm");
    image.packed = op.has("a16");
    MemoryAccess a;
    a.op = m;
    a.op.d16 = op.has("d16");
    a.space = Space::image;
    a.find_places = image_places;
    a.parts = static_cast<u8>(texels_of(m.image, image));
    const auto components = static_cast<unsigned>(std::popcount(image.mask));
    if (components == 0)
        throw Unsupported{"an image instruction without a component in its dmask"};
    a.op.components = static_cast<u8>(gathers(m.image) ? 4 : components);
    a.op.elements = static_cast<u8>(a.op.d16 ? (a.op.components + 1) / 2 : a.op.components);
    a.result = a.data = vgpr(operand(op, 0), a.op.elements);
    image_addresses(a, image, op);
    i.access = &e_.accesses.emplace_back(a);
    i.run = run_image;
}

void Builder::image_addresses(MemoryAccess &a, ImageAccess &image, const Operation &op) {
    const ImageForm form = a.op.image;
    image.first = static_cast<u8>(before(form, image));
    const bool size = form == ImageForm::size; // its only address is a level
    image.addresses = static_cast<u8>(size ? 1 : image.first + image.coordinates() + behind(form));
    unsigned next = 1, found = 0;
    for (; operand(op, next).kind == Operand::Kind::vgpr; ++next)
        for (unsigned n = 0; n < op.operands[next].count && found < image.registers(); ++n)
            image.address[found++] = static_cast<u16>(op.operands[next].reg + n);
    if (found != image.registers())
        throw Unsupported{
            fmt::format("{} address registers where there must be {}", found, image.registers())};
    constexpr unsigned resource_dwords = 8, sampler_dwords = 4;
    a.base = sgpr(operand(op, next++), resource_dwords);
    if (form >= ImageForm::sample && !size)
        image.sampler = sgpr(operand(op, next), sampler_dwords);
    a.image = &e_.images.emplace_back(image);
}

} // namespace nw::sim
