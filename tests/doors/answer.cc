// The door of C++. answer MODEL CELL... prints the outputs of the library's public API for rows of texts, a line a row;
// notes go to standard error.
#include <cstdio>
#include <string_view>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/model/answer.h"
#include "lamina/model/cell_rows.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: answer MODEL CELL...\n", stderr);
    return 2;
  }
  try {
    const lamina::Model model = lamina::LoadModel(argv[1]);
    const std::vector<std::string_view> cells(argv + 2, argv + argc);
    lamina::Table table = lamina::TableOfCells(model, cells);
    const auto backend = lamina::MakeBackend("auto");
    const lamina::Answers answers = lamina::AnswerTable(model, *backend, table, lamina::AllRowsOf(table));
    for (const std::string& note : answers.Notes()) {
      std::fprintf(stderr, "note: %s\n", note.c_str());
    }
    for (int64_t i = 0; i < answers.outputs.rows(); ++i) {
      for (int64_t j = 0; j < answers.outputs.cols(); ++j) {
        std::printf("%s%.9g", j == 0 ? "" : ",", answers.outputs.Row<double>(i)[j]);
      }
      std::printf("\n");
    }
  } catch (const lamina::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
