// Plans that the tuner may try on backend cpu.
#pragma once

#include <vector>

#include "lamina/backend/plan.h"

namespace lamina::cpu {

/// A plan and the cost that a rough model gives it: about the cycles of a vector operation.
struct Candidate {
  double cost;
  Plan plan;
};

/// Plans of the blocked product, by a model of register tile and caches; and of dot products without packing.
std::vector<Candidate> TileCandidates(const Problem& problem, int threads);

/// Thread counts worth trying; 0: as the backend decides.
std::vector<int64_t> CandidateTeams(const Problem& problem, int threads);

}  // namespace lamina::cpu
