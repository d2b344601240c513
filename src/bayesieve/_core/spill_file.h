// Temporary records on disk, for work that is larger than the memory it may use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

#if !defined(_WIN32)
#include <sys/types.h>
#endif

namespace bayesieve {

// Records in a file. A spill file is gone as soon as it is closed, however the process ends;
// one that is kept stays where it was written.
class SpillFile {
public:
    SpillFile() = default;
    SpillFile(const SpillFile&) = delete;
    SpillFile& operator=(const SpillFile&) = delete;
    ~SpillFile() {
        if (file_ != nullptr) std::fclose(file_);
    }
    bool open() const { return file_ != nullptr; }
    std::uint64_t size() const { return size_; }

    void create_kept(const std::string& path) {
        file_ = std::fopen(path.c_str(), "w+b");
        if (file_ == nullptr) throw std::runtime_error("cannot write " + path);
    }
    void open_kept(const std::string& path) {
        file_ = std::fopen(path.c_str(), "rb");
        if (file_ == nullptr) throw std::runtime_error("cannot read " + path);
#if defined(_WIN32)
        _fseeki64(file_, 0, SEEK_END);
        size_ = static_cast<std::uint64_t>(_ftelli64(file_));
#else
        fseeko(file_, 0, SEEK_END);
        size_ = static_cast<std::uint64_t>(ftello(file_));
#endif
    }
    void create(const std::string& path) {
#if defined(_WIN32)
        file_ = std::fopen(path.c_str(), "w+bTD");
#else
        file_ = std::fopen(path.c_str(), "w+b");
#endif
        if (file_ == nullptr)
            throw std::runtime_error("cannot write temporary records to " + path);
#if !defined(_WIN32)
        std::remove(path.c_str());
#endif
    }
    // Returns where the bytes begin.
    std::uint64_t append(const void* data, std::size_t bytes) {
        const std::uint64_t at = size_;
        seek(at);
        if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes)
            throw std::runtime_error("writing temporary records failed: is the disk full?");
        size_ += bytes;
        return at;
    }
    void rewrite(std::uint64_t at, const void* data, std::size_t bytes) {
        seek(at);
        if (std::fwrite(data, 1, bytes, file_) != bytes)
            throw std::runtime_error("writing records failed: is the disk full?");
    }
    void read(std::uint64_t at, void* data, std::size_t bytes) {
        seek(at);
        if (bytes > 0 && std::fread(data, 1, bytes, file_) != bytes)
            throw std::runtime_error("reading temporary records failed");
    }
    void finish_writing() {
        if (std::fflush(file_) != 0)
            throw std::runtime_error("writing temporary records failed: is the disk full?");
    }

private:
    void seek(std::uint64_t at) {
#if defined(_WIN32)
        const int failed = _fseeki64(file_, static_cast<long long>(at), SEEK_SET);
#else
        const int failed = fseeko(file_, static_cast<off_t>(at), SEEK_SET);
#endif
        if (failed != 0) throw std::runtime_error("temporary records cannot be reached");
    }
    std::FILE* file_ = nullptr;
    std::uint64_t size_ = 0;
};

}  // namespace bayesieve
