// SPDX-License-Identifier: MIT
// Texture references: a struct of the host that says how a texture is sampled, and a variable of
// the device with the same bytes, where kernels find the texture object.
#pragma once
#include "sim/hip/texture/texture.h"

namespace nw::hipsim {

static_assert(sizeof(textureReference) == 88);

hipTextureDesc sampling_of(const textureReference &);
// How far `pointer` is behind an address that textures can begin at.
u64 offset_to_texture(const void *pointer);
void unbind(textureReference &);
// Gives the reference another texture, and the device its bytes: `variable` is their address.
void bind(textureReference &, const hipResourceDesc &, u64 variable);

} // namespace nw::hipsim
