// A request for answers between its reading and its writing.
#pragma once

#include <exception>
#include <functional>
#include <memory>

#include "lamina/serve/message.h"
#include "lamina/serve/served_model.h"

namespace lamina::serve {

struct Job {
  size_t model_index = 0;
  std::shared_ptr<const ServedModel> model;
  EncodedRows rows;
  /// The response for the outputs of the rows asked for, as Answers::outputs: NaN without an answer.
  std::function<Response(const Job&, const Matrix&)> write;
  /// How this protocol says an error.
  Response (*refuse)(int status, std::string_view words) = &Refusal;

  // Set by Worker::Run():
  Response response;
};

/// What there is to be said about the rows, as the program's notes.
std::vector<std::string> NotesOnRows(const EncodedRows& rows);

}  // namespace lamina::serve
