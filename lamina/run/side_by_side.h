// Training sessions side by side on one device.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "lamina/run/session.h"

namespace lamina {

/// Sessions 1, 2, ..., trained in this order, or as many side by side as the backend has room for.
class SideBySide {
 public:
  using Trained = std::pair<std::unique_ptr<TrainSession>, TrainResult>;
  using Make = std::function<std::unique_ptr<TrainSession>(int64_t number, MakesBackend make_backend)>;

  explicit SideBySide(Make make) : make_(std::move(make)) {}

  /// The next one, which is `number` of `count`; `started` is told before its result is there. The first
  /// of sessions side by side runs in the calling thread and alone tells `callbacks` how far it is. They are asked in
  /// that thread whether to stop, for all. Throws what one of them threw, after the end of all.
  Trained Train(int64_t number, int64_t count,
                const std::function<void(int64_t number, const TrainSession& session)>& started,
                const TrainCallbacks& callbacks);

 private:
  Make make_;
  std::deque<Trained> trained_;
};

}  // namespace lamina
