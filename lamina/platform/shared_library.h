// Shared libraries that are opened while a program runs.
#pragma once

#include <string>

namespace lamina::platform {

/// Why this program opens none; "" where it does.
std::string WhyNoLibraries();
/// `name` as the loader of the system looks it up; null where it cannot be opened, with the reason in `failure`.
/// `for_others`: libraries that are opened later find its names.
void* OpenLibrary(const char* name, bool for_others, std::string& failure);
/// Null where it has no such name.
void* AddressIn(void* library, const char* name) noexcept;
/// The file of the library or program that holds this function; "" where it cannot be told.
std::string FileOfFunction(const void* function);

}  // namespace lamina::platform
