// Other libraries racing lamina piece by piece of the matrix, by bench/peers/matrix_peers. Each library has a process
// that lives as long as the race, so that all take turns.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/child_process.h"
#include "lamina/neuron/problem.h"

namespace lamina {

struct PeerTimes {
  std::string peer;           // "PyTorch 2.15.0 matmul"
  std::string reason;         // why it has no times: it is missing, or its result is wrong; else ""
  double seconds = 0;         // median of the turns
  double lamina_seconds = 0;  // of lamina in the same turns
  double times_as_long = 0;   // the median of the turns' own ratios: what a machine of changing speed shows best
};

class MatrixPeers {
 public:
  /// Starts `script` by `python` once for each library. threads: of the libraries.
  MatrixPeers(const std::string& python, const std::string& script, int threads, std::function<bool()> stop_requested);

  /// What a library computes: a pass of a layer in f32 (nobody races other types), a training step, or one row on one
  /// thread. Steps take seconds for 60,000 rows.
  static std::string Layer(const Problem& problem);
  static std::string Training(const std::vector<int64_t>& net, int64_t batch);
  static std::string Row(const std::vector<int64_t>& net);

  /// `lamina` measures itself once, for about round_seconds, and returns what the peers return. It begins each turn,
  /// then come all who offer the work. Empty for empty work or where nobody offers it.
  std::vector<PeerTimes> Race(const std::string& work, const std::function<double()>& lamina, int rounds,
                              double round_seconds);

 private:
  struct Library {
    Library(std::string library, const std::vector<std::string>& words)
        : name(std::move(library)), process(words, {.converses = true, .own_group = true}) {}
    std::string name;
    ChildProcess process;
    bool gone = false;  // said once
  };
  std::function<bool()> stop_requested_;
  std::list<Library> libraries_;
};

/// bench/peers/matrix_peers beside train_cpu (FindPeerScript()). Throws Error(kNotFound) where it is not there.
std::string FindMatrixPeers();

}  // namespace lamina
