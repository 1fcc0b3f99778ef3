// Launches of ArrayMath on the device.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/device.h"
#include "lamina/base/half.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// to = scale × from, or where `add`, to += scale × from. T: float or double.
template <class T>
void LaunchScale(Device& device, T* to, const T* from, T scale, bool add, int64_t count);
/// By way of f32. To and From: BFloat16 and float or double.
template <class To, class From>
void LaunchConvert(Device& device, To* to, const From* from, int64_t count);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
