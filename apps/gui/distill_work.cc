// The library's Distill() on the rows of a file.
#include "distill_work.h"

#include <QObject>
#include <utility>

#include "lamina/model/answer.h"
#include "lamina/run/distill.h"

namespace lamina::gui {

std::function<Background::Then()> DistillWork(DistillRequest request, std::function<void(const QString& note)> done,
                                              std::function<void(const Problem& problem)> failed) {
  return [request = std::move(request), done = std::move(done), failed = std::move(failed)]() -> Background::Then {
    bool saved = false;
    double agreement = 0;
    bool learned = false;
    const auto problem = Attempt([&] {
      Table table = ReadTableFor(*request.model, request.rows.toStdString(), request.options);
      request.model->preprocessor.Prepare(table);
      const auto stopped = [&] { return request.stop->load(); };
      const Distilled distilled = Distill(*request.model, table, AllRowsOf(table), {},
                                          {.stop_requested = stopped, .abandon_requested = stopped});
      if (!distilled.interrupted) {
        SaveModel(request.path.toStdString(), distilled.model);
        saved = true;
        agreement = distilled.agreement;
        learned = distilled.checks_learned;
      }
    });
    return [problem, saved, agreement, learned, path = request.path, done, failed] {
      if (problem) {
        failed(*problem);
      } else if (saved) {
        done(QObject::tr("Saved one network as %1. On rows that it %3 it agrees with the model by %2 % (classes: the "
                         "same one; numbers: R²).")
                 .arg(path)
                 .arg(100 * agreement, 0, 'f', 1)
                 .arg(learned ? QObject::tr("learned") : QObject::tr("did not learn")));
      }
    };
  };
}

}  // namespace lamina::gui
