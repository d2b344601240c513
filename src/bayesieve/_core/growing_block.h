// Growing arrays of plain records that give their memory back at once.
//
// Counting holds a few large arrays that live one after the other. The C library keeps freed
// blocks for later, and doubling a large block copies it; mapped pages can be extended in place
// and are gone when they are freed. Small arrays, and other systems, use realloc.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__GNUC__)
#define BAYESIEVE_PREFETCH(p) __builtin_prefetch(p)
#else
#define BAYESIEVE_PREFETCH(p) ((void)0)
#endif

namespace bayesieve {

// Bytes from which an array has pages of its own.
constexpr std::size_t kMapped = std::size_t{1} << 18;

inline void* resize_block(void* block, std::size_t old_bytes, std::size_t new_bytes) {
#if defined(__linux__)
    const bool was = old_bytes >= kMapped, is = new_bytes >= kMapped;
    if (was || is) {
        if (was && is) {
            void* moved = mremap(block, old_bytes, new_bytes, MREMAP_MAYMOVE);
            if (moved == MAP_FAILED) throw std::bad_alloc();
            return moved;
        }
        void* fresh = nullptr;
        if (is) {
            fresh = mmap(nullptr, new_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                         -1, 0);
            if (fresh == MAP_FAILED) throw std::bad_alloc();
        } else if (new_bytes > 0) {
            fresh = std::malloc(new_bytes);
            if (fresh == nullptr) throw std::bad_alloc();
        }
        const std::size_t kept = old_bytes < new_bytes ? old_bytes : new_bytes;
        if (kept > 0) std::memcpy(fresh, block, kept);
        if (was)
            munmap(block, old_bytes);
        else
            std::free(block);
        return fresh;
    }
#endif
    if (new_bytes == 0) {
        std::free(block);
        return nullptr;
    }
    void* moved = std::realloc(block, new_bytes);
    if (moved == nullptr) throw std::bad_alloc();
    (void)old_bytes;
    return moved;
}

template <class T>
class Block {
    static_assert(std::is_trivially_copyable_v<T>, "records are moved as bytes");

public:
    Block() = default;
    explicit Block(std::size_t size) { resize(size); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    Block(Block&& other) noexcept { swap(other); }
    Block& operator=(Block&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Block() { release(); }

    void swap(Block& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::size_t bytes() const { return capacity_ * sizeof(T); }

    void push_back(const T& value) {
        if (size_ == capacity_) {
            const T copy = value;  // the argument may live in this block
            reserve(capacity_ + capacity_ / 2 + 16);
            data_[size_++] = copy;
            return;
        }
        data_[size_++] = value;
    }
    void append(const T* from, std::size_t count) {
        if (count == 0) return;
        if (size_ + count > capacity_) {
            const std::size_t grown = capacity_ + capacity_ / 2;
            reserve(grown > size_ + count ? grown : size_ + count);
        }
        std::memcpy(data_ + size_, from, count * sizeof(T));
        size_ += count;
    }
    void reserve(std::size_t capacity) {
        if (capacity <= capacity_) return;
        data_ = static_cast<T*>(
            resize_block(data_, capacity_ * sizeof(T), capacity * sizeof(T)));
        capacity_ = capacity;
    }
    // New elements are not set.
    void resize(std::size_t size) {
        reserve(size);
        size_ = size;
    }
    void clear() { size_ = 0; }
    void release() {
        if (data_ != nullptr) resize_block(data_, capacity_ * sizeof(T), 0);
        data_ = nullptr;
        size_ = capacity_ = 0;
    }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace bayesieve
