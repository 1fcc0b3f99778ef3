// Background: work that takes time, one piece after the other on a thread of its own.
#pragma once

#include <QObject>
#include <QThread>
#include <functional>

namespace lamina::gui {

/// Work runs on the background thread and returns what is to be done with its result, which runs on the interface
/// thread unless the Background is gone by then. Work must not throw (use Attempt) nor touch widgets.
class Background : public QObject {
 public:
  explicit Background(QObject* parent = nullptr);
  /// Waits for the piece that runs; the rest is dropped.
  ~Background() override;

  using Then = std::function<void()>;
  void Run(std::function<Then()> work);
  /// Whether anything is running or waiting.
  bool busy() const { return waiting_ > 0; }

 private:
  QThread thread_;
  QObject* worker_;  // lives on thread_
  int waiting_ = 0;
};

}  // namespace lamina::gui
