// What to do with a result goes back the way the work came.
#include "background.h"

#include <utility>

namespace lamina::gui {

void Background::Run(std::function<Then()> work) {
  ++waiting_;
  thread_.Post([this, work = std::move(work)] {
    results_.Post([this, then = work()] {
      --waiting_;
      then();
    });
  });
}

}  // namespace lamina::gui
