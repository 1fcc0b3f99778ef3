// gzip decompression in memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lamina {

/// True if `content` starts like a gzip file (RFC 1952).
bool IsGzip(std::string_view content);

/// The decompressed bytes of all members of `content`. Allocates a small multiple of the content, and more only as it
/// is filled. Refuses to grow beyond the memory that is available, also to the control group. Throws Error(kBadData)
/// for truncated or damaged data, Error(kResource).
std::string Gunzip(std::string_view content, const std::string& source);

/// The first bytes of what Gunzip() gives, `most` of them or all: what it is can be seen before the rest is
/// decompressed. Throws like Gunzip.
std::string GunzipStart(std::string_view content, size_t most, const std::string& source);

/// The same piece by piece: `sink` gets the bytes in order. Throws like Gunzip.
void GunzipTo(std::string_view content, const std::string& source, const std::function<void(std::string_view)>& sink);

/// The bytes of the file `path`, decompressed if it is gzip. Throws like ReadFile and Gunzip.
std::string ReadFileDecompressed(const std::string& path);

}  // namespace lamina
