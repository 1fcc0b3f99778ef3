// The search for radius and overlap of a novelty classifier.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lamina/rbf/fsvc.h"

namespace lamina {

struct RadiusTrial {
  double radius = 0;
  double overlap = 0;
  int64_t centres = 0;
  double accuracy = 0;  // of the rows that judge
};

struct RadiusSearch {
  double radius = 0;
  double overlap = 0;
  std::vector<RadiusTrial> trials;  // those with a network, in the order they were made
  bool complete = false;            // false: stopped
};

/// The radius that answers `validation` best: from a large one by halves, then between the best one's neighbors. With
/// `any_overlap` it then also tries other overlaps than that of `options`, whose radius is ignored. The centers are 1 %
/// of the rows at least; at most 60 % of few rows, 10 % of many. Fewer than 2,000 validation rows decide together with
/// the training rows; each third of these is answered by what the others make. Without validation rows, every fifth
/// training row is one where the others have every class; else all are.
RadiusSearch FindRadius(const Dataset& train, const Dataset& validation, int64_t classes, FsvcOptions options,
                        bool any_overlap, const Backend& backend);

/// A novelty classifier, and the radius and overlap that it has; the trials where they were searched for.
struct FoundFsvc {
  FsvcResult result;  // not complete where stopped
  RadiusSearch search;
};

/// TrainFsvc() with the radius and overlap of `options`; those that are open FindRadius() finds. `class_names`: by
/// label. Throws Error(kInvalidArgument) as both, and where a class has no center by a radius given.
FoundFsvc FitFsvc(const Dataset& train, const Dataset& validation, const std::vector<std::string>& class_names,
                  FsvcOptions options, bool radius_open, bool overlap_open, const Backend& backend);

}  // namespace lamina
