// Files: good and bad ones, dropped ones, models there and back, recent ones.
#include <fmt/format.h>

#include <QMenu>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QTableView>
#include <QTableWidget>

#include "curves_view.h"
#include "lamina/model/html_page/html_page.h"
#include "lamina/model/onnx_export.h"
#include "lamina/run/session.h"
#include "model_page.h"
#include "predict_panel.h"
#include "prediction.h"
#include "table_models.h"
#include "tests/data/book_writer.h"
#include "tests/gui/window_test.h"

namespace lamina::gui {
namespace {

class FilesTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void SheetsOfABookAreChosen();
  void BadFilesSayWhatHappened_data();
  void BadFilesSayWhatHappened();
  void ABadFileLeavesTheOpenOneAlone();
  void ReadAgainAsTextWhenToldSo();
  void DroppedFilesOpen();
  void EveryFormatOpens();
  void ModelsThereAndBack();
  void PredictionsOfAFile();
  void EveryDerivedColumnIsPredicted();
  void UnwritableTargetsLeaveNothing();
  void ModelsAreExported();
  void AModelIsDistilled();
  void RecentFilesAreRemembered();
  void ExamplesAreThere();
};

// A field where there are several, in Basic, too, and a list beside the predictions.
void FilesTest::SheetsOfABookAreChosen() {
  const auto rows = [](const std::string& name) {
    std::string text = "<row r=\"1\"><c t=\"inlineStr\"><is><t>x</t></is></c><c t=\"inlineStr\"><is><t>" + name +
                       "</t></is></c></row>";
    for (int i = 2; i < 40; ++i) {
      text += fmt::format("<row r=\"{}\"><c><v>{}.5</v></c><c><v>{}.25</v></c></row>", i, i % 7, 2 * (i % 7));
    }
    return text;
  };
  const auto book = [&](const BookParts& sheets) { return QByteArray::fromStdString(ZipOf(XlsxParts(sheets))); };
  window().document().ShowAll(false);
  QVERIFY(Load(Write(QStringLiteral("one.xlsx"), book({{"Only", rows("y")}}))));
  auto* field = Find<QComboBox>("field.sheet");
  QVERIFY(!field->isVisible());
  const QString path = Write(QStringLiteral("two.xlsx"), book({{"Plan", rows("plan")}, {"Ist", rows("y")}}));
  QVERIFY(Load(path));
  QVERIFY(field->isVisible());
  QVERIFY2(Find<QLabel>("data.summary")->text().contains(QStringLiteral("sheet 'Plan', the first of 2")),
           qPrintable(Find<QLabel>("data.summary")->text()));
  QCOMPARE(field->count(), 3);
  field->setCurrentText(QStringLiteral("Ist"));
  QVERIFY(QTest::qWaitFor([this] { return window().document().data()->raw.main.train.columns[1].name == "y"; },
                          kPatience_ms));
  SmallRun(3);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(path);  // the open one: its sheet
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction() != nullptr; }, kPatience_ms));
  QCOMPARE(panel.prediction()->table.sheet->name, std::string("Ist"));
  auto* sheet = Find<QComboBox>("predict.sheet");
  QCOMPARE(sheet->currentText(), QStringLiteral("Ist"));
  sheet->setCurrentIndex(0);
  Q_EMIT sheet->activated(0);
  QVERIFY(QTest::qWaitFor(
      [&] { return panel.prediction() != nullptr && panel.prediction()->table.sheet->name == "Plan"; }, kPatience_ms));
}

void FilesTest::BadFilesSayWhatHappened_data() {
  QTest::addColumn<QByteArray>("content");
  QTest::addColumn<QString>("said");
  QTest::addRow("missing.csv") << QByteArray() << QStringLiteral("missing.csv");
  QTest::addRow("empty.csv") << QByteArray("") << QStringLiteral("empty");
  QTest::addRow("ragged.csv") << QByteArray("a,b\n1,2\n3\n4,5\n") << QStringLiteral("line 3");
  QTest::addRow("picture.png") << QByteArray("\x89PNG\r\n\x1a\n\0\0", 10) << QStringLiteral("PNG");
  QTest::addRow("broken.csv.gz") << QByteArray("\x1f\x8b\x08\0\0\0\0\0\0\3garbage", 17)
                                 << QStringLiteral("broken.csv.gz");
  QTest::addRow("broken.npy") << QByteArray("\x93NUMPY\1\0\xff\xff", 10) << QStringLiteral("broken.npy");
  QTest::addRow("broken-idx3-ubyte") << QByteArray("\0\0\x08\3\xff\xff\xff\xff", 8) << QStringLiteral("broken-idx3");
  QTest::addRow("no.safetensors") << QByteArray("not a model") << QStringLiteral("no.safetensors");
}

void FilesTest::BadFilesSayWhatHappened() {
  QFETCH(QByteArray, content);
  QFETCH(QString, said);
  const QString name = QString::fromLatin1(QTest::currentDataTag());
  if (!content.isNull()) {
    Write(name, content);
  }
  QVERIFY(Load(Path(name)));
  QVERIFY2(Notice().contains(said, Qt::CaseInsensitive), qPrintable(Notice()));
  QVERIFY(!Start()->isEnabled());
  QVERIFY(window().document().data() == nullptr && window().store().model() == nullptr);
}

void FilesTest::ABadFileLeavesTheOpenOneAlone() {
  QVERIFY(Load(Digits()));
  QVERIFY(Load(Path(QStringLiteral("missing.csv"))));
  QVERIFY(!Notice().isEmpty());
  QCOMPARE(window().document().data()->path, Digits());
  QVERIFY(Settled());
  QVERIFY(Start()->isEnabled());
  QVERIFY(Load(Digits()));
  QVERIFY(Notice().isEmpty());
}

void FilesTest::ReadAgainAsTextWhenToldSo() {
  QVERIFY(Load(Write(QStringLiteral("mixed.csv"), "a,code,y\n" + QByteArray("1,2,5\n4,x,9\n").repeated(9))));
  QVERIFY2(Notice().isEmpty(), qPrintable(Notice()));
  QVERIFY(window().document().data()->raw.main.train.columns[1].kind == ColumnKind::kText);  // half of it are words
  QVERIFY(window().document().data()->raw.main.train.columns[0].kind == ColumnKind::kNumber);
  Type("field.text-columns", QStringLiteral("code,a"));
  const auto is_text = [this] {
    const auto data = window().document().data();
    return data != nullptr && data->raw.main.train.columns[0].kind == ColumnKind::kText;
  };
  QVERIFY(QTest::qWaitFor(is_text, kPatience_ms));
  Type("field.text-columns", QStringLiteral("code"));
  QVERIFY(QTest::qWaitFor([&] { return window().document().data() != nullptr && !is_text(); }, kPatience_ms));
  QCOMPARE(Find<QLineEdit>("field.text-columns")->text(), QStringLiteral("code"));
  QVERIFY(Settled());
  QVERIFY(Start()->isEnabled());
  Type("field.text-columns", QStringLiteral("cod"));
  QVERIFY(QTest::qWaitFor([this] { return !Notice().isEmpty(); }, kPatience_ms));
  QVERIFY2(Notice().contains(QStringLiteral("cod")), qPrintable(Notice()));
  QVERIFY2(!Start()->isEnabled(), "the rows open are not those that the settings ask for");
  Type("field.text-columns", QStringLiteral("code"));
  QVERIFY(QTest::qWaitFor([this] { return Start()->isEnabled(); }, kPatience_ms));
  QVERIFY(Load(Digits()));
  QVERIFY2(Notice().isEmpty(), qPrintable(Notice()));
  QVERIFY(Find<QLineEdit>("field.text-columns")->text().isEmpty());
}

void FilesTest::DroppedFilesOpen() {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(Digits())});
  QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window(), &enter);
  QVERIFY(enter.isAccepted());
  QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window(), &drop);
  QVERIFY(QTest::qWaitFor([this] { return window().document().data() != nullptr; }, kPatience_ms));
  QMimeData text;
  text.setText(QStringLiteral("words"));
  QDragEnterEvent words(QPoint(50, 50), Qt::CopyAction, &text, Qt::LeftButton, Qt::NoModifier);
  words.ignore();
  QCoreApplication::sendEvent(&window(), &words);
  QVERIFY(!words.isAccepted());
}

void FilesTest::EveryFormatOpens() {
  QByteArray npy("\x93NUMPY\x01\x00\x76\x00", 10);
  npy += QByteArray("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }").leftJustified(117, ' ') + '\n';
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  npy += QByteArray(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  QVERIFY(Load(Write(QStringLiteral("m.npy"), npy)));
  QVERIFY2(Notice().isEmpty(), qPrintable(Notice()));
  auto* preview = Find<QTableView>("preview");
  QCOMPARE(preview->model()->rowCount(), 3);
  QCOMPARE(preview->model()->index(2, 1).data().toString(), QStringLiteral("6"));

  const QByteArray images = QByteArray("\0\0\x08\3\0\0\0\2\0\0\0\1\0\0\0\3", 16) + QByteArray("\1\2\3\4\5\6", 6);
  const QByteArray labels = QByteArray("\0\0\x08\1\0\0\0\2", 8) + QByteArray("\7\x09", 2);
  for (const char* set : {"train", "t10k"}) {
    Write(QString::fromLatin1(set) + QStringLiteral("-images-idx3-ubyte"), images);
    Write(QString::fromLatin1(set) + QStringLiteral("-labels-idx1-ubyte"), labels);
  }
  QVERIFY(Load(Path(QStringLiteral("train-images-idx3-ubyte"))));
  QVERIFY2(Notice().isEmpty(), qPrintable(Notice()));
  QCOMPARE(preview->model()->columnCount(), 3);
  QVERIFY(Load(Path(QString())));
  QVERIFY2(Notice().isEmpty(), qPrintable(Notice()));
  QCOMPARE(preview->model()->columnCount(), 4);
  QCOMPARE(preview->model()->index(1, 3).data().toString(), QStringLiteral("9"));
  QVERIFY(Find<QLabel>("data.summary")->text().contains(QStringLiteral("2 rows for testing")));
}

void FilesTest::ModelsThereAndBack() {
  QVERIFY(Load(Digits()));
  SmallRun(2);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  const QString path = Path(QStringLiteral("m.safetensors"));
  QVERIFY(window().files().SaveModelTo(path));
  QVERIFY(window().files().SaveHistoryTo(Path(QStringLiteral("h.csv"))));
  QFile history(Path(QStringLiteral("h.csv")));
  QVERIFY(history.open(QIODevice::ReadOnly));
  QCOMPARE(history.readAll().count('\n'), 3);
  NewWindow();
  QVERIFY(Load(path));
  QVERIFY2(Notice().contains(path), qPrintable(Notice()));
  const QString text = Find<QPlainTextEdit>("model.description")->toPlainText();
  QVERIFY(text.contains(QStringLiteral("64-16-10")) && text.contains(QStringLiteral("Trained for 2 epochs")));
  QVERIFY(text.contains(QStringLiteral("label")) && text.contains(path));
  QVERIFY(Find<QPlainTextEdit>("model.command")->toPlainText().contains(QStringLiteral("--hidden 16")));
  QVERIFY(!window().isWindowModified());
  QVERIFY(window().close());
}

void FilesTest::PredictionsOfAFile() {
  QVERIFY(Load(Digits()));
  SmallRun(15);
  QVERIFY(Settled());
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(Digits());
  QVERIFY(Notice().contains(QStringLiteral("no model")));
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  panel.Predict(Write(QStringLiteral("wrong.csv"), "a,b\n1,2\n3,4\n"));
  QVERIFY(QTest::qWaitFor([this] { return Notice().contains(QStringLiteral("wrong.csv")); }, kPatience_ms));
  QVERIFY(panel.prediction() == nullptr);
  panel.Predict(Digits());
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction() != nullptr; }, kPatience_ms));
  const QAbstractItemModel& shown = *Find<QTableView>("predict.table")->model();
  const auto cell = [&](int row, int column) { return shown.index(row, column).data().toString(); };
  QCOMPARE(shown.rowCount(), 1797);
  QCOMPARE(shown.columnCount(), 4);  // picture, answer, probability, truth
  QCOMPARE(shown.headerData(2, Qt::Horizontal).toString(), QStringLiteral("probability"));
  QCOMPARE(cell(0, 3), QStringLiteral("0"));  // the first digit
  panel.Save(Path(QStringLiteral("p.csv")));
  QFile saved(Path(QStringLiteral("p.csv")));
  QVERIFY(saved.open(QIODevice::ReadOnly));
  const QList<QByteArray> lines = saved.readAll().trimmed().split('\n');
  QCOMPARE(lines.size(), 1798);
  QCOMPARE(lines[0], QByteArray("label"));
  QCOMPARE(QString::fromLatin1(lines[1]), cell(0, 1));

  window().ShowPage(Page::kModel);
  Find<QSpinBox>("typed.row")->setValue(3);  // a row of the open data gives the same answer as in the file
  Click("typed.take");
  const QString expected = cell(2, 1);
  QVERIFY(QTest::qWaitFor([&] { return Find<QLabel>("typed.answer")->text() == expected; }, kPatience_ms));
}

// A raw file for a model with a derived column of each kind: as many rows as `lamina predict` has answers for.
void FilesTest::EveryDerivedColumnIsPredicted() {
  QByteArray raw("day,size,debt,price\n");
  for (int i = 0; i < 30; ++i) {
    raw += QStringLiteral("2024-01-%1,%2,%3,%4\n")
               .arg(i + 1, 2, 10, QLatin1Char('0'))
               .arg(3 + i % 7)
               .arg(i % 5 + 1)
               .arg(40 + 1.5 * i)
               .toLatin1();
  }
  const QString path = Write(QStringLiteral("raw.csv"), raw);
  for (const DeriveFunction& function : DeriveFunctions()) {
    TrainSettings settings;
    settings.data = path.toStdString();
    const bool date = function.argument.empty() && function.name != "log";
    settings.derive = {fmt::format("made={}:{}{}", function.name, date ? "day" : "size",
                                   function.argument == "column" ? ":debt" : "")};
    settings.target = {"price"};
    settings.task = "regression";
    settings.drop = {"size"};
    settings.missing = "drop";
    settings.epochs = 2;
    settings.hidden = {3};
    settings.threads = 1;
    TrainSession session(settings);
    session.Run({});
    const auto model = std::make_shared<const Model>(session.model());
    Table table = ReadTable(settings.data, {});
    model->preprocessor.Prepare(table);
    int64_t gaps = 0;
    for (int64_t row = 0; row < table.rows; ++row) {
      gaps += table.columns.back().IsMissing(row) ? 1 : 0;
    }
    const auto prediction = PredictFile(model, path);
    int64_t empty = 0;
    for (int64_t row = 0; row < table.rows; ++row) {
      empty += prediction->Text(row).isEmpty() ? 1 : 0;
    }
    QCOMPARE(empty, gaps);
    QCOMPARE(prediction->answers.without_answer.rows, gaps);
    QVERIFY(prediction->answers.evaluation);
    QCOMPARE(prediction->answers.evaluation->samples, table.rows - gaps);

    std::vector<std::string> values;  // one row of it, typed: what it is derived from, unless that is other rows
    const std::vector<CellColumn> typed = CellColumnsOf(*model);
    for (const CellColumn& column : typed) {
      values.push_back(CellText(table.columns[static_cast<size_t>(table.FindColumn(column.name))], 9).toStdString());
    }
    QCOMPARE(PredictValues(model, values)->Text(0), prediction->Text(9));
    const bool asks_for_derived =
        std::any_of(typed.begin(), typed.end(), [](const CellColumn& column) { return column.name == "made"; });
    QCOMPARE(asks_for_derived, function.argument == "[count]");
  }
}

void FilesTest::UnwritableTargetsLeaveNothing() {
  QVERIFY(Load(Digits()));
  SmallRun(1);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  QVERIFY(!window().files().SaveModelTo(QStringLiteral("/nowhere/at/all.safetensors")));
  QVERIFY(Notice().contains(QStringLiteral("/nowhere/at")));
  QVERIFY(window().store().unsaved());
}

void FilesTest::ModelsAreExported() {
  QVERIFY(!Find<QPushButton>("model.export")->isEnabled());
  QVERIFY(Load(Digits()));
  SmallRun(1);
  QVERIFY(Settled());
  Start()->click();
  QVERIFY(Trained());
  QVERIFY(Find<QPushButton>("model.export")->isEnabled());
  QVERIFY(window().files().ExportTo(Path(QStringLiteral("m.onnx"))));
  QFile file(Path(QStringLiteral("m.onnx")));
  QVERIFY(file.open(QIODevice::ReadOnly));
  QVERIFY(file.readAll() == QByteArray::fromStdString(ToOnnx(*window().store().model())));
  QVERIFY(window().files().ExportTo(Path(QStringLiteral("digits.c"))));
  for (const char* name : {"digits.c", "digits.h"}) {
    QFile made(Path(QString::fromLatin1(name)));
    QVERIFY(made.open(QIODevice::ReadOnly));
    QVERIFY(made.readAll().contains("int digits_predict(const double numbers[DIGITS_NUMBERS]"));
  }
  QVERIFY(window().files().ExportTo(Path(QStringLiteral("my digits.html"))));
  QFile page(Path(QStringLiteral("my digits.html")));
  QVERIFY(page.open(QIODevice::ReadOnly));
  QVERIFY(page.readAll() == QByteArray::fromStdString(ToHtml(*window().store().model(), {.title = "my digits"})));
  QVERIFY(!window().files().ExportTo(QStringLiteral("/no/such/m.onnx")));
  QVERIFY2(Notice().contains(QStringLiteral("/no/such")), qPrintable(Notice()));
}

void FilesTest::AModelIsDistilled() {
  QVERIFY(!Find<QPushButton>("model.distill")->isEnabled());
  QByteArray line("a,y\n");
  for (int i = 0; i < 60; ++i) {
    line += QByteArray::number(i % 17) + ',' + QByteArray::number(2.5 * (i % 17)) + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("line.csv"), line)));
  SmallRun(1);
  QVERIFY(Settled());
  Start()->click();
  QVERIFY(Trained());
  const QString path = Path(QStringLiteral("one.safetensors"));
  window().files().ask_where_to_save = [&](const QString&, const QString&, const QString&) { return path; };
  Find<QPushButton>("model.distill")->click();
  QTRY_VERIFY_WITH_TIMEOUT(Notice().contains(QStringLiteral("Saved one network")), kPatience_ms);
  QCOMPARE(LoadModel(path.toStdString()).training["distilled"]["rows"].get<int>(), 60);
  Background background;
  window().files().DistillTo(QStringLiteral("/no/such/one"), Path(QStringLiteral("lacking.csv")), background);
  QTRY_VERIFY_WITH_TIMEOUT(Notice().contains(QStringLiteral("lacking.csv")), kPatience_ms);
}

void FilesTest::RecentFilesAreRemembered() {
  const QString first = Write(QStringLiteral("first.csv"), "a,y\n1,2\n2,3\n3,1\n");
  const QString other = Write(QStringLiteral("o.csv"), "a,y\n1,2\n2,3\n3,1\n");
  for (const QString& path : {first, other, first}) {
    QVERIFY(Load(path));
  }
  NewWindow();
  QCOMPARE(window().files().recent(), (QStringList{first, other}));
  QMenu menu;
  window().files().FillRecent(menu);
  QCOMPARE(menu.actions().size(), 2);
  menu.actions().last()->trigger();
  QVERIFY(QTest::qWaitFor([this] { return window().document().data() != nullptr; }, kPatience_ms));
  QCOMPARE(window().document().data()->path, other);
}

void FilesTest::ExamplesAreThere() {
  for (const char* button : {"data.digits", "data.stocks"}) {
    Click(button);
    QVERIFY(QTest::qWaitFor([this] { return !window().document().loading(); }, kPatience_ms));
    QVERIFY2(Notice().isEmpty(), qPrintable(Notice()));
    QVERIFY(Settled());
    QVERIFY2(Start()->isEnabled(), qPrintable(window().document().StartBlocker()));
  }
  QVERIFY(window().document().plan()->data.preprocessor.targets().task() == Task::kRegression);
  QVERIFY2(window().files().recent().isEmpty(), "an example is no file of the user's");
}

}  // namespace

std::unique_ptr<QObject> MakeFilesTest() { return std::make_unique<FilesTest>(); }

}  // namespace lamina::gui

#include "files_qtest.moc"
