"""Jobs of MPI ranks on this host: their launchers, and the process of a rank."""

import os

# As root in a container, and on fewer cores than ranks.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}


def pid_of_rank(program, folder, rank):
    """The process of a job of `program` that runs in `folder`; None where there is none."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = dict(entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry)
            is_rank = environment.get(b"OMPI_COMM_WORLD_RANK", environment.get(b"PMI_RANK")) == str(rank).encode()
            if (is_rank and os.path.realpath(f"/proc/{name}/exe") == os.path.realpath(program) and
                    os.path.realpath(f"/proc/{name}/cwd") == os.path.realpath(folder)):
                return int(name)
        except OSError:  # it ended, or is another user's
            continue
    return None
