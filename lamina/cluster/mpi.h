// Ranks of an MPI job. A plug-in reaches the MPI library; it is opened when a launcher started this process or somebody
// asks for it. So programs with lamina need no MPI.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/cluster/communicator.h"

namespace lamina {

/// Whose launcher started this process as one of several, by its environment.
struct Launcher {
  std::string mpi;        // "openmpi", "mpich"; "": none
  std::string variables;  // what was seen: "OMPI_COMM_WORLD_SIZE=4"
  int rank = 0;           // of this process
  int size = 1;           // of the job, 0: the environment does not say
};
Launcher SeenLauncher();

/// What `mpi` may be besides the file of a plug-in: "auto", "off", "openmpi", "mpich".
std::vector<std::string> MpiNames();

/// Joins the job. "auto": that of SeenLauncher(), null where there is none; "off": null. Throws Error(kNotFound) where
/// the plug-in is not there (it says where it was looked for), Error(kUnsupported) where it cannot be used. Once a
/// process. The communicator's destructor leaves the job, which waits for the other ranks.
std::unique_ptr<Communicator> JoinMpi(std::string_view mpi);

}  // namespace lamina
