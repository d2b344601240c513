// Packed, sorted, distinct strings: string i is data[offsets[i] : offsets[i + 1]].
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime.h"
#include "text_dictionary.h"
#include "text_unicode.h"

namespace bayesieve::text {

struct Names {
    const Byte* data;
    const std::int64_t* offsets;
    std::size_t size;

    Span operator[](std::size_t i) const {
        return {data + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
};

constexpr std::size_t kPaceNames = 1 << 16;  // names compared or copied between two polls

inline int compare_bytes(const Span& a, const Span& b) {
    const std::size_t shared = std::min(a.size, b.size);
    const int order = shared == 0 ? 0 : std::memcmp(a.data, b.data, shared);
    if (order != 0) return order;
    return a.size < b.size ? -1 : a.size > b.size ? 1 : 0;
}

// Offsets that rise and stay within the data: what every function here relies on.
inline bool well_formed(const std::int64_t* offsets, std::size_t size, std::size_t bytes) {
    if (offsets[0] < 0) return false;
    for (std::size_t i = 0; i < size; ++i)
        if (offsets[i + 1] < offsets[i]) return false;
    return offsets[size] <= static_cast<std::int64_t>(bytes);
}

inline bool strictly_rising(const Names& names) {
    Pace pace(kPaceNames);
    for (std::size_t i = 1; i < names.size; ++i) {
        pace.spend(1);
        if (compare_bytes(names[i - 1], names[i]) >= 0) return false;
    }
    return true;
}

// Position of a string, or -1.
inline std::int64_t position(const Names& names, const Span& text) {
    std::size_t first = 0, last = names.size;
    while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        if (compare_bytes(names[middle], text) < 0)
            first = middle + 1;
        else
            last = middle;
    }
    const bool there = first < names.size && compare_bytes(names[first], text) == 0;
    return there ? static_cast<std::int64_t>(first) : -1;
}

// Where the strings of both go in their union; returns the size of the union.
inline std::size_t merge_columns(const Names& a, const Names& b, std::int64_t* column_a,
                                 std::int64_t* column_b) {
    std::size_t i = 0, j = 0, n = 0;
    Pace pace(kPaceNames);
    while (i < a.size && j < b.size) {
        pace.spend(1);
        const int order = compare_bytes(a[i], b[j]);
        if (order <= 0) column_a[i++] = static_cast<std::int64_t>(n);
        if (order >= 0) column_b[j++] = static_cast<std::int64_t>(n);
        ++n;
    }
    for (; i < a.size; ++n) column_a[i++] = static_cast<std::int64_t>(n);
    for (; j < b.size; ++n) column_b[j++] = static_cast<std::int64_t>(n);
    return n;
}

// Offsets of the union, from the columns of its parts.
inline void merged_offsets(const Names& names, const std::int64_t* column,
                           std::int64_t* offsets) {
    for_each_stretch(names.size, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            offsets[column[i] + 1] = static_cast<std::int64_t>(names[i].size);
    });
}

inline void copy_merged(const Names& names, const std::int64_t* column,
                        const std::int64_t* offsets, Byte* out) {
    Pace pace(kPaceNames);
    for (std::size_t i = 0; i < names.size; ++i) {
        pace.spend(1);
        const Span text = names[i];
        if (text.size > 0) std::memcpy(out + offsets[column[i]], text.data, text.size);
    }
}

}  // namespace bayesieve::text
