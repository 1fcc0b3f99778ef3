// A model as one HTML file that a browser opens without a network: a form, its answers and what they depend on. How it
// is laid out: docs/decisions/0069-html-page.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lamina/data/files/table.h"
#include "lamina/model/html_page/page_blob.h"
#include "lamina/model/model.h"

namespace lamina {

struct PageOptions {
  std::string title;            // empty: the names of the targets
  const Table* rows = nullptr;  // that the page checks itself with, as ReadTableFor() gives them; null: made up
};

/// Any model that answers. Weights stand in it as Model::weights says. With Model::int8 they are its whole numbers, and
/// the page computes these to the bit. Throws Error(kUnsupported) with the reason.
std::string ToHtml(const Model& model, const PageOptions& options = {});

/// What the page's engine is given: the model, its numbers in `blob`.
nlohmann::json PageModelOf(const Model& model, const PageOptions& options, PageBlob& blob);

}  // namespace lamina
