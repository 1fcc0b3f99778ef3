// Distilling in the window: one network that answers as the model does, saved as a file.
#pragma once

#include <QString>
#include <atomic>
#include <functional>
#include <memory>

#include "background.h"
#include "lamina/data/files/reader.h"
#include "lamina/model/model.h"
#include "problem.h"

namespace lamina::gui {

struct DistillRequest {
  QString path;  // of the new model
  QString rows;  // a file, read as `options` say
  ReadOptions options;
  std::shared_ptr<const Model> model;
  std::shared_ptr<const std::atomic<bool>> stop;  // true: it ends soon, and nothing is saved
};

/// Work of a Background. `done` is told what was saved, `failed` what was wrong; neither where it was stopped.
std::function<Background::Then()> DistillWork(DistillRequest request, std::function<void(const QString& note)> done,
                                              std::function<void(const Problem& problem)> failed);

}  // namespace lamina::gui
