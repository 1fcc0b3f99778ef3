// Loading, and loading anew.
#include "lamina/serve/model_set.h"

#include <fmt/format.h>

#include <utility>

#include "lamina/base/error.h"

namespace lamina::serve {

ModelSet::ModelSet(std::vector<NamedModel> files, LoadFunction load) : load_(std::move(load)) {
  for (NamedModel& file : files) {
    if (file.name.empty() || file.name.find('/') != std::string::npos) {
      throw Error(ErrorCode::kInvalidArgument, "a model's name is a part of an address: not empty, without '/'",
                  {.value = file.name, .remedy = "Name it: NAME=FILE."});
    }
    if (!entries_.empty() && Find(file.name)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("two models are called '{}'", file.name),
                  {.remedy = "Name them: NAME=FILE."});
    }
    auto entry = std::make_unique<Entry>();
    entry->stamp = platform::StampOf(file.path.c_str());
    try {
      entry->model = std::make_shared<const ServedModel>(file.name, load_(file.path), entry->version);
    } catch (const Error& error) {
      if (!error.context().file.empty()) {
        throw;
      }
      ErrorContext context = error.context();
      context.file = file.path;
      throw Error(error.code(), error.message(), std::move(context));
    }
    entry->file = std::move(file);
    entries_.push_back(std::move(entry));
  }
}

std::optional<size_t> ModelSet::Find(std::string_view name) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (name.empty() || entries_[i]->file.name == name) {
      return i;
    }
  }
  return std::nullopt;
}

std::shared_ptr<const ServedModel> ModelSet::Get(size_t index) const {
  Entry& entry = *entries_[index];
  const std::lock_guard lock(entry.swap);
  return entry.model;
}

std::vector<Reloaded> ModelSet::Reload(bool all) {
  std::vector<Reloaded> done;
  for (const std::unique_ptr<Entry>& entry : entries_) {
    const platform::FileStamp now = platform::StampOf(entry->file.path.c_str());
    if (!all && (now == entry->stamp || now == platform::FileStamp{})) {  // none: a rename may be under way
      continue;
    }
    entry->stamp = now;
    Reloaded result{entry->file.name, entry->version, ""};
    try {
      auto fresh = std::make_shared<const ServedModel>(entry->file.name, load_(entry->file.path), entry->version + 1);
      {
        const std::lock_guard lock(entry->swap);
        entry->model.swap(fresh);  // the old one may end after the lock
      }
      result.version = ++entry->version;
      entry->reloads.fetch_add(1, std::memory_order_relaxed);
    } catch (const std::exception& error) {
      result.error = error.what();
      entry->failures.fetch_add(1, std::memory_order_relaxed);
    }
    done.push_back(std::move(result));
  }
  return done;
}

}  // namespace lamina::serve
