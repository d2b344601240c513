// NumPy arrays in and out of the kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace bayesieve {

namespace nb = nanobind;

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ClassIds = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Made = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using MadeTable = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
using DoubleArray = Made<double>;
using TableArray = MadeTable<double>;
using IndexArray = Made<std::int64_t>;

// Keeps the values of an array alive for as long as Python has it.
template <class T>
nb::capsule owner_of(std::unique_ptr<std::vector<T>>& values) {
    nb::capsule owner(values.get(),
                      [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    values.release();
    return owner;
}

// Hands the values over without a copy.
template <class T>
Made<T> to_numpy(std::vector<T>&& values) {
    auto held = std::make_unique<std::vector<T>>(std::move(values));
    T* data = held->data();
    const std::size_t size = held->size();
    return Made<T>(data, {size}, owner_of(held));
}

// The same for the rows of a table, one after the other.
template <class T>
MadeTable<T> to_table(std::vector<T>&& values, std::size_t width) {
    auto held = std::make_unique<std::vector<T>>(std::move(values));
    T* data = held->data();
    const std::size_t height = width == 0 ? 0 : held->size() / width;
    return MadeTable<T>(data, {height, width}, owner_of(held));
}

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
        return Made<T>(given, {size_}, owner());
    }
    MadeTable<T> table(std::size_t rows, std::size_t columns) {
        T* given = data_;
        return MadeTable<T>(given, {rows, columns}, owner());
    }

private:
    nb::capsule owner() {
        nb::capsule owner(data_, [](void* p) noexcept { std::free(p); });
        data_ = nullptr;
        return owner;
    }
    T* data_;
    std::size_t size_;
};

}  // namespace bayesieve
