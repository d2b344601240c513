// Stored values of any numeric type, converted to double and checked block by block.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace bayesieve::class_sums {

namespace nb = nanobind;

// What a stored value may be. The numbers are shared with bayesieve/counts/_kernels.py.
enum Check { kNonNegative = 0, kFinite = 1, kPresence = 2, kZeroOne = 3, kCategory = 4 };

template <class T, int check>
inline bool allowed(T x) {
    constexpr bool real = std::is_floating_point_v<T>;
    if constexpr (check == kNonNegative) {
        if constexpr (real) return x >= T(0) && x <= std::numeric_limits<T>::max();
        else return x >= T(0);
    } else if constexpr (check == kFinite || check == kPresence) {
        if constexpr (real) return std::fabs(x) <= std::numeric_limits<T>::max();
        else return true;
    } else if constexpr (check == kZeroOne) {
        return x == T(0) || x == T(1);
    } else {  // codes fit in 31 bits, so a column never asks for a terabyte by accident
        if constexpr (real) {
            // To an integer and back: unlike std::floor, which most processors of today have
            // and the oldest have not, compilers do this for several values at once.
            constexpr T top = sizeof(T) == 4 ? T(2147483520) : T(2147483646);
            const T low = x > T(-1) ? x : T(-1);  // NaN too
            const T held = low < top ? low : top;
            return (x >= T(0)) & (x == static_cast<T>(static_cast<std::int32_t>(held)));
        } else {
            const double value = static_cast<double>(x);
            return value >= 0.0 && value <= 2147483646.0;
        }
    }
}

template <class T, int check, bool contiguous>
std::size_t load_as(const char* base, std::ptrdiff_t stride, std::size_t count,
                    double threshold, double* out) {
    auto at = [&](std::size_t i) -> T {
        if constexpr (contiguous) return reinterpret_cast<const T*>(base)[i];
        else return *reinterpret_cast<const T*>(base + static_cast<std::ptrdiff_t>(i) * stride);
    };
    bool bad = false;
    for (std::size_t i = 0; i < count; ++i) {
        const T x = at(i);
        if constexpr (check == kPresence) out[i] = static_cast<double>(x) > threshold ? 1.0 : 0.0;
        else out[i] = static_cast<double>(x);
        bad |= !allowed<T, check>(x);
    }
    if (bad)
        for (std::size_t i = 0; i < count; ++i)
            if (!allowed<T, check>(at(i))) return i;
    return count;
}

// Converts `count` values to double; returns the first offending one, or `count`.
using Load = std::size_t (*)(const char*, std::ptrdiff_t, std::size_t, double, double*);

template <class T, bool contiguous>
Load loader_of(int check) {
    switch (check) {
        case kNonNegative: return load_as<T, kNonNegative, contiguous>;
        case kFinite: return load_as<T, kFinite, contiguous>;
        case kPresence: return load_as<T, kPresence, contiguous>;
        case kZeroOne: return load_as<T, kZeroOne, contiguous>;
        case kCategory: return load_as<T, kCategory, contiguous>;
    }
    throw nb::value_error("unknown value check");
}

template <class T>
Load loader_of(int check, std::ptrdiff_t stride) {
    if (stride == static_cast<std::ptrdiff_t>(sizeof(T))) return loader_of<T, true>(check);
    return loader_of<T, false>(check);
}

inline Load loader(const nb::dlpack::dtype& dtype, int check, std::ptrdiff_t stride) {
    const auto code = static_cast<nb::dlpack::dtype_code>(dtype.code);
    if (code == nb::dlpack::dtype_code::Bool) return loader_of<std::uint8_t>(check, stride);
    if (code == nb::dlpack::dtype_code::Float) {
        if (dtype.bits == 32) return loader_of<float>(check, stride);
        if (dtype.bits == 64) return loader_of<double>(check, stride);
    } else if (code == nb::dlpack::dtype_code::Int) {
        if (dtype.bits == 8) return loader_of<std::int8_t>(check, stride);
        if (dtype.bits == 16) return loader_of<std::int16_t>(check, stride);
        if (dtype.bits == 32) return loader_of<std::int32_t>(check, stride);
        if (dtype.bits == 64) return loader_of<std::int64_t>(check, stride);
    } else if (code == nb::dlpack::dtype_code::UInt) {
        if (dtype.bits == 8) return loader_of<std::uint8_t>(check, stride);
        if (dtype.bits == 16) return loader_of<std::uint16_t>(check, stride);
        if (dtype.bits == 32) return loader_of<std::uint32_t>(check, stride);
        if (dtype.bits == 64) return loader_of<std::uint64_t>(check, stride);
    }
    throw nb::type_error("values must be bool, (u)int8 to (u)int64, float32 or float64");
}

}  // namespace bayesieve::class_sums
