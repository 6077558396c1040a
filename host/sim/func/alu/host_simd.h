// SPDX-License-Identifier: MIT
// The host's vector intrinsics. GCC 12 warns about registers that its own header leaves undefined
// on purpose, once they are inlined (GCC bug 105593).
#pragma once
#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif
