// What a network's outputs mean: units of the target, classes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/model/model.h"

namespace lamina {

/// The answers of an ensemble's networks (each rows × outputs, one type) times their shares, summed in f64.
Matrix SumOfShares(std::span<const Matrix> answers, std::span<const double> shares);
/// Adds the softmax of logits / temperature, `weight` times, to `sums`.
void AddSoftmax(const double* logits, double temperature, double weight, std::span<double> sums);
/// The shares of networks by Model::gates, row by row, in f64: the gates' outputs (rows × networks) over their sum.
Matrix SharesOfGates(const Matrix& gates);
/// NetworkOutputs() in f64 and, for regression, in units of the target; of encoded targets, too.
Matrix InTargetUnits(const Model& model, const Matrix& outputs);
/// The first row with a number that is not finite; -1: none.
int64_t FirstNotFinite(const Matrix& outputs);
/// The class of each row of such outputs; -1 where the row holds a NaN.
std::vector<int32_t> ClassesOf(const Model& model, const Matrix& outputs);

}  // namespace lamina
