// Bins of equal frequency, finer than the partitions that are made of them.
//
// Level g = 2, 3, ... has its bounds nearest to the shares q / 2^g of the numbers, so the bounds
// of a level are among those of the next. The bounds of a given partition are added to the last
// level. Missing values are apart and no part of this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interval_table.h"

namespace bayesieve {

struct FineBins {
    std::vector<std::uint32_t> ends;  // rows before which a bin ends, the last one not among them
    std::vector<std::int64_t> level;  // first level that has this end, counted from 0
};

// Bins of the rows first..rows() of a table; `kept` are ends that must be among them.
template <class Count>
FineBins fine_bins(const OrderedTable<Count>& raw, std::size_t first,
                   const std::vector<std::uint32_t>& kept, int levels) {
    const std::size_t rows = raw.rows();
    FineBins bins;
    if (rows < first + 2) return bins;
    constexpr std::int64_t kNone = -1;
    std::vector<std::int64_t> level(rows, kNone);  // of the end before each row
    std::size_t found = 0;
    std::int64_t number = 0, last = 0;
    const double n = static_cast<double>(raw.total(first, rows));
    for (int g = 2; g <= levels && found < rows - first - 1; ++g) {
        const std::size_t parts = std::size_t{1} << g, before = found;
        std::size_t row = first + 1;
        for (std::size_t q = 1; q < parts; ++q) {
            const double target = n * static_cast<double>(q) / static_cast<double>(parts);
            const auto below = [&](std::size_t r) {
                return static_cast<double>(raw.total(first, r));
            };
            while (row + 1 < rows && below(row) < target) ++row;
            std::size_t end = row;
            if (end > first + 1 && target - below(end - 1) <= below(end) - target) --end;
            if (level[end] == kNone) {
                level[end] = number;
                ++found;
            }
        }
        if (found > before) last = number++;
    }
    for (const std::uint32_t end : kept)
        if (end > first && end < rows && level[end] == kNone) level[end] = last;
    for (std::size_t r = first + 1; r < rows; ++r) {
        if (level[r] == kNone) continue;
        bins.ends.push_back(static_cast<std::uint32_t>(r));
        bins.level.push_back(level[r]);
    }
    return bins;
}

}  // namespace bayesieve
