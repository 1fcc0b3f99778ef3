// Copies that run beside a device's work: what slices of large layers and chunks of large data sets are made of.
#pragma once

#include <cstdint>
#include <memory>

#include "lamina/backend/backend.h"

namespace lamina {

/// Copies between pinned host memory and a device, in a queue for each direction. Copies of one direction are done in
/// the order asked for. Unless an order is asked for, they run beside those of the other direction and the backend's
/// work. Used by one thread at a time. It may differ from the backend's thread, as long as it asks for no order with
/// the backend's work. All calls but the waits return at once; all may throw Error.
class CopyStreams {
 public:
  virtual ~CopyStreams() = default;
  /// Host memory that the device can reach by itself.
  virtual std::unique_ptr<Buffer> AllocatePinned(int64_t size_bytes) const = 0;

  /// Asks for a copy; the number it returns says which to wait for.
  virtual int64_t StartUpload(void* to, const void* pinned, int64_t size_bytes) = 0;
  virtual int64_t StartDownload(void* pinned, const void* from, int64_t size_bytes) = 0;
  virtual void WaitForUpload(int64_t copy) = 0;
  virtual void WaitForDownload(int64_t copy) = 0;

  /// What the backend is asked to do from now on starts after the uploads asked for so far.
  virtual void WorkAfterUploads() = 0;
  /// Downloads asked for from now on start after what the backend was asked to do so far.
  virtual void DownloadsAfterWork() = 0;
};

}  // namespace lamina
