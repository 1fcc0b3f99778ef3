// The instruction sets that kernels are compiled for. Included before anything of Highway.
#pragma once

// SSSE3, SSE4 and AVX3_DL are left out to save compile time. Few machines without AVX2 remain, and AVX3_DL adds nothing
// that these kernels use; nor do later versions' AVX3_ZEN4 and AVX3_SPR. The register tiles need vectors of a size
// known when compiling, which SVE lacks; Arm processors use NEON.
#define LAMINA_NEVER_COMPILED \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#ifndef LAMINA_LEFT_OUT_TARGETS  // by LAMINA_KERNELS=native of the build
#define LAMINA_LEFT_OUT_TARGETS 0
#endif
#define HWY_DISABLED_TARGETS (LAMINA_NEVER_COMPILED | LAMINA_LEFT_OUT_TARGETS)
#include "hwy/detect_targets.h"

// Highway 1.0.3 does not know these yet.
#ifndef HWY_AVX3_ZEN4
#define HWY_AVX3_ZEN4 0
#endif
#ifndef HWY_AVX3_SPR
#define HWY_AVX3_SPR 0
#endif
