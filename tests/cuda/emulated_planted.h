// More mistakes for RunPlanted() of emulated_backend.h.
#pragma once

namespace lamina::cuda_emulated {

/// Ends the program with a message.
enum class PlantedEnd { kMisalignedCopy, kProductOutside, kProductTooEarly, kHalfABarrier, kHalfAMeeting };
void RunPlanted(PlantedEnd mistake);

/// A number of what the kernel gives that is not 1; without the mistake all are.
enum class PlantedNumbers { kUnwritten, kCopyNotWaitedFor, kNoBarrier, kProductNotWaitedFor, kNotPublished };
float NumberOf(PlantedNumbers mistake, bool planted);

}  // namespace lamina::cuda_emulated
