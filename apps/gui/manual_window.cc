// The manual.
#include "manual_window.h"

#include <QAction>
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QImage>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "lamina/base/error.h"

namespace lamina::gui {
namespace {

constexpr QSize kManualSize(860, 680);

// Pictures no wider than the page.
class PageBrowser : public QTextBrowser {
 public:
  using QTextBrowser::QTextBrowser;

 protected:
  QVariant loadResource(int type, const QUrl& name) override {
    if (type == QTextDocument::ImageResource) {
      const QUrl url = name.isRelative() ? source().resolved(name) : name;
      const QImage image(url.toLocalFile());
      const int room = viewport()->width() - 40;
      if (!image.isNull()) {
        return image.width() > room ? image.scaledToWidth(room, Qt::SmoothTransformation) : image;
      }
    }
    return QTextBrowser::loadResource(type, name);
  }
};

}  // namespace

QString DocumentPath(const QString& name) {
  const QDir program(QCoreApplication::applicationDirPath());
  for (const char* folder : {"../share/doc/lamina", "../../docs", "../../../docs", "../../../../docs"}) {
    const QFileInfo file(program.filePath(QLatin1String(folder) + QLatin1Char('/') + name));
    if (file.isFile()) {
      return file.canonicalFilePath();
    }
  }
  return {};
}

ManualWindow::ManualWindow(QWidget* parent) : QDialog(parent), text_(new PageBrowser) {
  setWindowTitle(tr("Manual"));
  setObjectName(QStringLiteral("manual"));
  text_->setObjectName(QStringLiteral("manual.text"));
  text_->setAccessibleName(tr("Manual"));
  text_->setOpenExternalLinks(true);
  auto* back = new QPushButton(tr("&Back"));
  auto* forward = new QPushButton(tr("&Forward"));
  auto* close = new QPushButton(tr("&Close"));
  back->setEnabled(false);
  forward->setEnabled(false);
  connect(text_, &QTextBrowser::backwardAvailable, back, &QPushButton::setEnabled);
  connect(text_, &QTextBrowser::forwardAvailable, forward, &QPushButton::setEnabled);
  connect(back, &QPushButton::clicked, text_, &QTextBrowser::backward);
  connect(forward, &QPushButton::clicked, text_, &QTextBrowser::forward);
  connect(close, &QPushButton::clicked, this, &QDialog::close);
  auto* row = new QHBoxLayout;
  row->addWidget(back);
  row->addWidget(forward);
  row->addStretch();
  row->addWidget(close);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(row);
  layout->addWidget(text_, 1);
  resize(kManualSize);
}

void ManualWindow::ShowPage(const QString& name) {
  const QString path = DocumentPath(name);
  if (path.isEmpty()) {
    throw Error(ErrorCode::kNotFound, "the manual is not installed",
                {.value = name.toStdString(), .remedy = "It belongs into share/doc/lamina beside the program."});
  }
  show();  // first: pictures are as wide as the page
  text_->setSource(QUrl::fromLocalFile(path), QTextDocument::MarkdownResource);
  raise();
}

void ManualWindow::ShowKeys(const QMenuBar& menus) {
  QString rows;
  for (const QAction* menu : menus.actions()) {
    for (const QAction* action : menu->menu()->actions()) {
      if (!action->shortcut().isEmpty()) {
        rows += QStringLiteral("<tr><td><b>%1</b>&nbsp;&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(action->shortcut().toString(QKeySequence::NativeText).toHtmlEscaped(),
                         action->text().remove(QLatin1Char('&')).remove(QStringLiteral(" …")).toHtmlEscaped());
      }
    }
  }
  rows +=
      tr("<tr><td><b>Ctrl++, Ctrl+0</b></td><td>Look closer at the curves, show all of them</td></tr>"
         "<tr><td><b>Tab, Shift+Tab</b></td><td>Next and previous field</td></tr>"
         "<tr><td><b>Alt+letter</b></td><td>The field or button with that letter underlined</td></tr>"
         "<tr><td><b>Alt+Down</b></td><td>Choose columns or a file for a field</td></tr>");
  text_->setHtml(tr("<h2>Keys</h2>") + QStringLiteral("<table cellspacing=6>") + rows + QStringLiteral("</table>"));
  show();
  raise();
}

}  // namespace lamina::gui
