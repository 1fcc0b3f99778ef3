// Regions of team.h where no thread may be started (the predict library): the calling thread is the team.
#include "lamina/base/hardware.h"
#include "lamina/base/team.h"

namespace lamina {

void Team::Wait() const noexcept {}

int Team::Take(int /*loop*/, int /*owner*/) const noexcept { return 0; }

void RunRegion(int /*threads*/, void (*function)(void*, Team), void* context) noexcept { function(context, Team{}); }

int UsualThreads() { return 1; }

}  // namespace lamina
