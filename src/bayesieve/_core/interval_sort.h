// A column of doubles as keys whose order is that of the values, missing values first.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime.h"

namespace bayesieve {

struct KeyedRow {
    std::uint64_t key;
    std::uint32_t row;  // any payload
};

constexpr std::uint64_t kMissingKey = 0;  // below the key of minus infinity

inline std::uint64_t key_of(double value) {
    if (std::isnan(value)) return kMissingKey;
    value += 0.0;  // -0.0 is 0.0
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (std::uint64_t{1} << 63);
}

inline double value_of(std::uint64_t key) {
    if (key == kMissingKey) return std::numeric_limits<double>::quiet_NaN();
    const std::uint64_t bits = key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// A bound b with low <= b < high, halfway where doubles allow; after "missing" alone there is
// no number to put it at.
inline double bound_between(std::uint64_t low, std::uint64_t high) {
    if (low == kMissingKey) return -std::numeric_limits<double>::infinity();
    const double a = value_of(low), b = value_of(high);
    const double middle = 0.5 * a + 0.5 * b;
    return middle >= a && middle < b ? middle : a;
}

// Stable sort by key: least significant digit first, digits that do not vary left out (a
// column of float32 or of small integers has few that do).
inline void sort_by_key(std::vector<KeyedRow>& rows, std::vector<KeyedRow>& spare) {
    constexpr int kBits = 11, kDigits = 6;
    constexpr std::size_t kValues = std::size_t{1} << kBits;
    const std::size_t n = rows.size();
    if (n < 1500) {
        std::stable_sort(rows.begin(), rows.end(),
                         [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; });
        return;
    }
    spare.resize(n);
    std::vector<std::uint32_t> tally(kDigits * kValues, 0);
    for_each_stretch(n, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            for (int d = 0; d < kDigits; ++d)
                ++tally[static_cast<std::size_t>(d) * kValues +
                        ((rows[i].key >> (d * kBits)) & (kValues - 1))];
    });
    for (int d = 0; d < kDigits; ++d) {
        std::uint32_t* count = &tally[static_cast<std::size_t>(d) * kValues];
        if (count[(rows[0].key >> (d * kBits)) & (kValues - 1)] == n) continue;
        std::uint32_t place = 0;
        for (std::size_t v = 0; v < kValues; ++v) {
            const std::uint32_t here = count[v];
            count[v] = place;
            place += here;
        }
        for_each_stretch(n, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i)
                spare[count[(rows[i].key >> (d * kBits)) & (kValues - 1)]++] = rows[i];
        });
        rows.swap(spare);
    }
}

}  // namespace bayesieve
