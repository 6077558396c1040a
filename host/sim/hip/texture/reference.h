// SPDX-License-Identifier: MIT
// Texture references: a struct of the host that says how a texture is sampled, and a variable of
// the device with the same bytes, where kernels find the texture object.
#pragma once
#include "sim/hip/texture/texture.h"

namespace nw::hipsim {

static_assert(sizeof(textureReference) == 88);

hipTextureDesc sampling_of(const textureReference &);
// An address at which textures can begin, at or before `pointer`. `offset` gets the bytes between
// them, which kernels add; only if there are none may it be null. hipErrorInvalidValue.
void *texture_begin(const void *pointer, size_t *offset);

// Resources that references are bound to.
hipResourceDesc array_resource(hipArray_const_t);
hipResourceDesc linear_resource(const void *pointer, const hipChannelFormatDesc &, u64 bytes,
                                size_t *offset); // from texture_begin() on
hipResourceDesc rows_resource(void *begin, const hipChannelFormatDesc &, u64 width, u64 height,
                              u64 pitch);

void unbind(textureReference &);
// Gives the reference another texture, and the device its bytes: `variable` is their address.
void bind(textureReference &, const hipResourceDesc &, u64 variable);

} // namespace nw::hipsim
