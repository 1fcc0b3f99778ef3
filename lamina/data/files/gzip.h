// gzip decompression in memory.
#pragma once

#include <string>
#include <string_view>

namespace lamina {

/// True if `content` starts like a gzip file (RFC 1952).
bool IsGzip(std::string_view content);

/// The decompressed bytes of all members of `content`. Never allocates on the word of the file alone; refuses
/// to grow beyond the memory of the machine. Throws Error(kBadData) for truncated or damaged data,
/// Error(kResource).
std::string Gunzip(std::string_view content, const std::string& source);

/// The bytes of the file `path`, decompressed if it is gzip. Throws like ReadFile and Gunzip.
std::string ReadFileDecompressed(const std::string& path);

}  // namespace lamina
