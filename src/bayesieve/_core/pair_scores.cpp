// What pairs and triples of columns would add to a weighted classifier.
//
// A pair has leave-one-out tables T averaged over all halvings of its grid (dyadic_average.h).
// Beside its columns k it says t = T - sum_k T_k, the interplay alone: what the score gains when
// the pair takes the place of its columns. At the present posteriors p_n of the rows
//   g = sum_n w_n d_n          d_n = t_ny - sum_j p_nj t_nj     (y: the class of row n)
//   v = sum_n w_n d_n^2        h = sum_n w_n Var_p(t_n)
// are the slope of the log-likelihood for the weight of t, its variance if rows are independent,
// and its curvature. Nothing is kept but these numbers, so memory does not grow with the pairs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "dyadic_average.h"
#include "kernel.h"
#include "part_sums.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::ClassIds;
using bayesieve::DyadicAverage;
using bayesieve::Indices;
using bayesieve::PartLikelihood;
using bayesieve::Table;
using bayesieve::TableArray;
using bayesieve::Vector;

using Cells = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sets = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Part>
using Parts = nb::ndarray<const Part, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kNumbers = 4;  // slope, its variance, curvature, evidence
constexpr std::size_t kMost = DyadicAverage::kMostAxes;

struct Rows {
    const std::uint8_t* cells;  // (columns, n)
    const std::int32_t* codes;
    const double* weight;  // in the counts; null: all one
    const double* row_weight;  // in the likelihood; null: all one
    const double* posterior;  // (n, J - 1), of the classes but the first
    std::size_t n;
};

template <class Part>
struct Mains {
    const Part* parts;  // (columns, n), bin * J + class
    const double* table;
    const std::int64_t* offset;
};

// Axes of one set: its columns, their levels, and how far their cells are coarsened.
struct Axes {
    std::size_t count = 0, cells = 1;
    std::size_t column[kMost], shift[kMost];
    std::vector<std::size_t> levels;

    Axes(const std::int64_t* set, std::size_t width, const std::int64_t* levels_of,
         std::size_t most) {
        for (std::size_t d = 0; d < width && set[d] >= 0; ++d) {
            column[count] = static_cast<std::size_t>(set[d]);
            const auto own = static_cast<std::size_t>(levels_of[set[d]]);
            levels.push_back(std::min(own, most));
            shift[count++] = own - levels.back();
            cells <<= levels.back();
        }
    }
};

template <class Part>
void score_set(const Axes& axes, const Rows& rows, const Mains<Part>& mains,
               const PartLikelihood& likelihood, const double* log_prior, double least,
               double* out) {
    const std::size_t J = likelihood.classes(), W = J - 1;
    const std::uint8_t* cell[kMost];
    const Part* part[kMost];
    const double* main[kMost];
    for (std::size_t d = 0; d < axes.count; ++d) {
        cell[d] = rows.cells + axes.column[d] * rows.n;
        part[d] = mains.parts + axes.column[d] * rows.n;
        main[d] = mains.table + static_cast<std::size_t>(mains.offset[axes.column[d]]) * W;
    }
    std::vector<std::uint32_t> line(rows.n);  // cell * J + class of each row
    std::vector<double> counts(axes.cells * J, 0.0);
    bayesieve::for_each_stretch(rows.n, [&](std::size_t first, std::size_t last) {
        for (std::size_t n = first; n < last; ++n)
            line[n] = static_cast<std::uint32_t>(cell[0][n] >> axes.shift[0]);
        for (std::size_t d = 1; d < axes.count; ++d)
            for (std::size_t n = first; n < last; ++n)
                line[n] = line[n] << axes.levels[d] |
                          static_cast<std::uint32_t>(cell[d][n] >> axes.shift[d]);
        for (std::size_t n = first; n < last; ++n)
            line[n] = line[n] * static_cast<std::uint32_t>(J) +
                      static_cast<std::uint32_t>(rows.codes[n]);
        if (rows.weight == nullptr)
            for (std::size_t n = first; n < last; ++n) counts[line[n]] += 1.0;
        else
            for (std::size_t n = first; n < last; ++n) counts[line[n]] += rows.weight[n];
    });
    const DyadicAverage average(likelihood, counts.data(), axes.levels);
    std::vector<double> left_out(axes.cells * J * J);
    average.leave_out(least, left_out.data());
    out[3] = average.evidence();
    std::vector<double> table(axes.cells * J * W);
    for (std::size_t e = 0; e < axes.cells * J; ++e) {
        if (!(counts[e] > 0.0)) continue;  // no row looks there
        const double* own = &left_out[e * J];
        const double reference = std::log(own[0]) - log_prior[0];
        for (std::size_t c = 0; c < W; ++c)
            table[e * W + c] = std::log(own[c + 1]) - log_prior[c + 1] - reference;
    }
    double slope = 0.0, variance = 0.0, curvature = 0.0;
    const auto add = [&](std::size_t n, double own, double mean, double square) {
        const double w = rows.row_weight == nullptr ? 1.0 : rows.row_weight[n];
        slope += w * (own - mean);
        variance += w * (own - mean) * (own - mean);
        curvature += w * (square - mean * mean);
    };
    bayesieve::for_each_stretch(rows.n, [&](std::size_t first, std::size_t last) {
        if (W == 1) {  // two classes: one number a row
            for (std::size_t n = first; n < last; ++n) {
                double says = table[line[n]] - main[0][part[0][n]];
                for (std::size_t d = 1; d < axes.count; ++d) says -= main[d][part[d][n]];
                const double mean = rows.posterior[n] * says;
                add(n, rows.codes[n] == 1 ? says : 0.0, mean, mean * says);
            }
            return;
        }
        for (std::size_t n = first; n < last; ++n) {
            const double* t = &table[line[n] * W];
            const double* m[kMost];
            for (std::size_t d = 0; d < axes.count; ++d) m[d] = main[d] + part[d][n] * W;
            const double* p = rows.posterior + n * W;
            double mean = 0.0, square = 0.0, own = 0.0;
            for (std::size_t c = 0; c < W; ++c) {
                double says = t[c];
                for (std::size_t d = 0; d < axes.count; ++d) says -= m[d][c];
                mean += p[c] * says;
                square += p[c] * says * says;
                if (static_cast<std::size_t>(rows.codes[n]) == c + 1) own = says;
            }
            add(n, own, mean, square);
        }
    });
    out[0] = slope;
    out[1] = variance;
    out[2] = curvature;
}

template <class Part>
TableArray score_pairs(const Cells& cells, const Indices& levels, const Sets& sets,
                       std::int64_t most_levels, const ClassIds& codes,
                       const std::optional<Vector>& weight,
                       const std::optional<Vector>& row_weight, const Vector& alpha,
                       const Vector& log_prior, const Table& posterior,
                       const Parts<Part>& parts, const Table& table, const Indices& offset,
                       double least) {
    const std::size_t columns = cells.shape(0), n = cells.shape(1), J = alpha.shape(0);
    if (J < 2 || levels.shape(0) != columns || codes.shape(0) != n ||
        (weight && weight->shape(0) != n) || (row_weight && row_weight->shape(0) != n) || log_prior.shape(0) != J ||
        posterior.shape(0) != n || posterior.shape(1) != J - 1 || parts.shape(0) != columns ||
        parts.shape(1) != n || offset.shape(0) != columns + 1 || table.shape(1) != J - 1 ||
        static_cast<std::size_t>(offset.data()[columns]) != table.shape(0) ||
        sets.shape(1) > kMost || most_levels < 0)
        throw std::invalid_argument("shapes of the rows, tables and sets must fit");
    for (std::size_t s = 0; s < sets.shape(0) * sets.shape(1); ++s)
        if (sets.data()[s] >= static_cast<std::int64_t>(columns))
            throw std::invalid_argument("sets must name columns");
    const PartLikelihood likelihood(alpha.data(), J, static_cast<double>(n));
    std::vector<double> found(sets.shape(0) * kNumbers, 0.0);
    {
        const bayesieve::Kernel kernel;
        for (std::size_t k = 0; k < columns; ++k) {
            const auto size =
                static_cast<std::size_t>(offset.data()[k + 1] - offset.data()[k]);
            for (std::size_t r = 0; r < n; ++r)
                if (parts.data()[k * n + r] >= size ||
                    cells.data()[k * n + r] >> levels.data()[k] != 0)
                    throw std::invalid_argument("a cell or a part lies outside its column");
        }
        for (std::size_t r = 0; r < n; ++r)
            if (codes.data()[r] < 0 || static_cast<std::size_t>(codes.data()[r]) >= J)
                throw std::invalid_argument("codes must lie in 0..n_classes-1");
        const Rows rows{cells.data(), codes.data(), weight ? weight->data() : nullptr,
                        row_weight ? row_weight->data() : nullptr, posterior.data(), n};
        const Mains<Part> mains{parts.data(), table.data(), offset.data()};
        bayesieve::for_each_block(sets.shape(0), 1, [&](std::size_t, std::size_t s, std::size_t) {
            const Axes axes(sets.data() + s * sets.shape(1), sets.shape(1), levels.data(),
                            static_cast<std::size_t>(most_levels));
            score_set(axes, rows, mains, likelihood, log_prior.data(), least,
                      &found[s * kNumbers]);
        });
    }
    return bayesieve::to_table(std::move(found), kNumbers);
}

template <class Part>
void define(nb::module_& m) {
    m.def("score_pairs", &score_pairs<Part>, "cells"_a.noconvert(), "levels"_a, "sets"_a,
          "most_levels"_a, "codes"_a, "weight"_a.none(), "row_weight"_a.none(), "alpha"_a, "log_prior"_a,
          "posterior"_a, "parts"_a.noconvert(), "table"_a, "offset"_a, "least"_a,
          "Slope of the leave-one-out log-likelihood for the weight of the interplay of each\n"
          "set of columns, its variance, its curvature, and the evidence of the set. Sets have\n"
          "up to three columns, -1 for none. Boxes less likely than `least` count for nothing.");
}

}  // namespace

void register_pair_scores(nb::module_& m) {
    define<std::uint8_t>(m);
    define<std::uint16_t>(m);
    define<std::uint32_t>(m);
}
