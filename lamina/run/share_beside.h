// How much a model counts beside others, by rows that none of them has seen.
#pragma once

#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/model/model.h"

namespace lamina {

/// Before any row is asked a share is `usual`, and by so much: 20 (share - usual)², in nats. It is 0, or from `least`
/// to `most`, which is below 1: all networks of an ensemble count.
struct ShareRule {
  double usual = 0;
  double least = 0;
  double most = 0.5;
};

/// Adds `network` to those of `model` where it helps, with the likeliest share in steps of a twentieth. `answers` are
/// the model's to rows left out (rows × outputs), `beside` those of the network (f64), `targets` the truth. Rows that
/// are NaN are not looked at. Returns the share; `answers` are then those of both.
double AddBeside(Network network, const Matrix& beside, const Matrix& targets, const ShareRule& rule, Matrix& answers,
                 Model& model);

}  // namespace lamina
