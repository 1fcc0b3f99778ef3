// The models of a service by name, and their files: a new one takes the place of the old one while requests run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/platform/daemon.h"
#include "lamina/serve/served_model.h"

namespace lamina::serve {

/// A file to serve and what it is called.
struct NamedModel {
  std::string name;
  std::string path;
};

/// What came of looking at the files once more.
struct Reloaded {
  std::string name;
  int64_t version = 0;
  std::string error;  // empty: the new model answers now; else the old one still does
};

class ModelSet {
 public:
  using LoadFunction = std::function<Model(const std::string& path)>;

  /// Loads all. Throws Error for a file that cannot be loaded, and kInvalidArgument for a name that is there twice.
  ModelSet(std::vector<NamedModel> files, LoadFunction load);

  size_t size() const { return entries_.size(); }
  const std::string& name(size_t index) const { return entries_[index]->file.name; }
  const std::string& path(size_t index) const { return entries_[index]->file.path; }
  /// Which has this name; "": the first.
  std::optional<size_t> Find(std::string_view name) const;
  std::shared_ptr<const ServedModel> Get(size_t index) const;

  /// Loads files that have changed since they were last looked at; `all`: all. Called by one thread.
  std::vector<Reloaded> Reload(bool all);

  int64_t reloads(size_t index) const { return entries_[index]->reloads.load(std::memory_order_relaxed); }
  int64_t failures(size_t index) const { return entries_[index]->failures.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    NamedModel file;
    platform::FileStamp stamp;
    int64_t version = 1;
    std::atomic<int64_t> reloads{0};
    std::atomic<int64_t> failures{0};
    std::mutex swap;  // libc++ has no atomic shared_ptr
    std::shared_ptr<const ServedModel> model;
  };

  LoadFunction load_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace lamina::serve
