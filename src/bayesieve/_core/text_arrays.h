// NumPy arrays in and out of the text kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "text_names.h"
#include "text_unicode.h"

namespace bayesieve::text {

template <class T>
using Given = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig,
                                nanobind::device::cpu>;
template <class T>
using Made = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;
template <class T>
using MadeTable = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<2>>;

// Zeros that become a NumPy array; large ones take no memory until they are written to.
template <class T>
class Zeros {
public:
    explicit Zeros(std::size_t size) : size_(size) {
        data_ = static_cast<T*>(std::calloc(size > 0 ? size : 1, sizeof(T)));
        if (data_ == nullptr) throw std::bad_alloc();
    }
    Zeros(const Zeros&) = delete;
    Zeros& operator=(const Zeros&) = delete;
    ~Zeros() { std::free(data_); }
    T* data() { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }

    Made<T> array() {
        T* given = data_;
        nanobind::capsule owner(given, [](void* p) noexcept { std::free(p); });
        data_ = nullptr;
        return Made<T>(given, {size_}, owner);
    }
    MadeTable<T> table(std::size_t rows, std::size_t columns) {
        T* given = data_;
        nanobind::capsule owner(given, [](void* p) noexcept { std::free(p); });
        data_ = nullptr;
        return MadeTable<T>(given, {rows, columns}, owner);
    }

private:
    T* data_;
    std::size_t size_;
};

inline Names names_of(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets) {
    if (offsets.shape(0) == 0 ||
        !well_formed(offsets.data(), offsets.shape(0) - 1, data.shape(0)))
        throw std::invalid_argument("the offsets of the texts do not rise within their bytes");
    return {data.data(), offsets.data(), offsets.shape(0) - 1};
}

}  // namespace bayesieve::text
