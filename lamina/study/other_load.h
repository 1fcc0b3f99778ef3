// What else the machine was doing: times measured beside it are too long.
#pragma once

#include <string>

namespace lamina {

/// How many programs wanted to compute in the minute before, on average; 0 where the system does not tell.
double OtherLoad();

/// A sentence where `load` is a quarter of the processors or more: "This machine was busy before: ..."; else "".
std::string LoadRemark(double load, int processors);

}  // namespace lamina
