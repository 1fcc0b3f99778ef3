// A thread with an event loop that takes pieces of work.
#include "background.h"

namespace lamina::gui {

Background::Background(QObject* parent) : QObject(parent), worker_(new QObject) {
  worker_->moveToThread(&thread_);
  QObject::connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  thread_.setObjectName(QStringLiteral("background"));
  thread_.start();
}

Background::~Background() {
  thread_.quit();
  thread_.wait();
}

void Background::Run(std::function<Then()> work) {
  ++waiting_;
  QMetaObject::invokeMethod(worker_, [this, work = std::move(work)] {
    Then then = work();
    QMetaObject::invokeMethod(this, [this, then = std::move(then)] {
      --waiting_;
      then();
    });
  });
}

}  // namespace lamina::gui
