// Bins of many columns at once: where each value lies among the sorted bounds of its column.
//
// A value equal to a bound belongs to the bin on its left; NaN is missing and has bin 0, numbers
// begin at `first`. The search halves the range without a branch on the data, so unsorted values
// cost no mispredictions, and eight values go side by side.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using Values = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Bounds = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Starts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kThreaded = 1 << 17;  // values: below this threads cost more than they save

// Values searched side by side: their chains of dependent loads overlap.
constexpr std::size_t kLanes = 8;

// Number of bounds below each of `lanes` values; NaN counts as below all.
inline void bounds_below(const double* bounds, std::size_t n, const double* values,
                         std::size_t* below) {
    for (std::size_t i = 0; i < kLanes; ++i) below[i] = 0;
    if (n == 0) return;
    while (n > 1) {
        const std::size_t half = n / 2;
        for (std::size_t i = 0; i < kLanes; ++i)
            below[i] += bounds[below[i] + half - 1] < values[i] ? half : 0;
        n -= half;
    }
    for (std::size_t i = 0; i < kLanes; ++i) below[i] += bounds[below[i]] < values[i] ? 1 : 0;
}

template <class Out>
void assign(const Values& values, const Bounds& bounds, const Starts& start, std::int64_t first,
            nb::ndarray<Out, nb::ndim<2>, nb::device::cpu> out) {
    const std::size_t rows = values.shape(0), columns = values.shape(1);
    if (start.shape(0) != columns + 1 || out.shape(0) != rows || out.shape(1) != columns ||
        (columns && static_cast<std::size_t>(start.data()[columns]) != bounds.shape(0)))
        throw std::invalid_argument("bounds, starts and out must fit the columns of values");
    const auto in_row = values.stride(0), in_column = values.stride(1);
    const auto out_row = out.stride(0), out_column = out.stride(1);
    const double* data = values.data();
    Out* target = out.data();
    const bayesieve::Kernel kernel;
    auto column = [&](std::size_t j) {
        const double* own = bounds.data() + start.data()[j];
        const auto n = static_cast<std::size_t>(start.data()[j + 1] - start.data()[j]);
        const double* v = data + static_cast<std::int64_t>(j) * in_column;
        Out* o = target + static_cast<std::int64_t>(j) * out_column;
        double lane[kLanes] = {};
        std::size_t below[kLanes];
        bayesieve::Pace pace(kThreaded);
        for (std::size_t r = 0; r < rows; r += kLanes) {
            pace.spend(kLanes);
            const std::size_t here = std::min(kLanes, rows - r);
            for (std::size_t i = 0; i < here; ++i, v += in_row) lane[i] = *v;
            bounds_below(own, n, lane, below);
            for (std::size_t i = 0; i < here; ++i, o += out_row)
                *o = std::isnan(lane[i])
                         ? Out{0}
                         : static_cast<Out>(below[i] + static_cast<std::size_t>(first));
        }
    };
    if (rows * columns < kThreaded) {
        for (std::size_t j = 0; j < columns; ++j) column(j);
        return;
    }
    bayesieve::for_each_block(columns, 1,
                              [&](std::size_t, std::size_t j, std::size_t) { column(j); });
}

}  // namespace

void register_binning(nb::module_& m) {
    const char* doc =
        "Number of bounds below each value, plus first; 0 for NaN. Bounds of column j are\n"
        "bounds[start[j]:start[j + 1]], ascending.";
    m.def("assign_bins", &assign<std::int32_t>, "values"_a, "bounds"_a, "start"_a, "first"_a,
          "out"_a, doc);
    m.def("assign_bins", &assign<std::uint8_t>, "values"_a, "bounds"_a, "start"_a, "first"_a,
          "out"_a, doc);
    m.def("assign_bins", &assign<std::uint16_t>, "values"_a, "bounds"_a, "start"_a, "first"_a,
          "out"_a, doc);
    m.def("assign_bins", &assign<std::uint32_t>, "values"_a, "bounds"_a, "start"_a, "first"_a,
          "out"_a, doc);
}
