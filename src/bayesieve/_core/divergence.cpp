// Gains of candidate columns at class shares p without cancellation, each with a bound on its
// rounding; see divergence.h. The plain twins are in tests/core.
#include "divergence.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::Vector;
using bayesieve::Table;
using bayesieve::Indices;
using bayesieve::ClassIds;
using bayesieve::DoubleArray;
using bayesieve::Zeros;
using Pair = std::tuple<DoubleArray, DoubleArray>;

// A sum over classes in closed form is taken where its rounding is below this share of the gain.
constexpr double kNegligible = 1.0 / (1 << 30);
constexpr std::size_t kPaceCells = 1 << 16;  // cells between two polls

DoubleArray elementwise(const Vector& counts, const Vector& expected) {
    const std::size_t n = counts.shape(0);
    if (expected.shape(0) != n) throw std::invalid_argument("both arrays must have one length");
    Zeros<double> result(n);
    {
        const bayesieve::Kernel kernel;
        bayesieve::poll();
        bayesieve::for_each_stretch(n, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i)
                result[i] = bayesieve::divergence(counts.data()[i], expected.data()[i]);
        });
    }
    return result.array();
}

Pair dense_gains(const Table& table, const Vector& shares) {
    const std::size_t K = table.shape(0), m = table.shape(1);
    if (shares.shape(0) != K)
        throw std::invalid_argument("shares must have one value for each class");
    const double *f = table.data(), *p = shares.data();
    Zeros<double> gain(m), doubt(m);
    {
        const bayesieve::Kernel kernel;
        bayesieve::Pace pace(kPaceCells);
        for (std::size_t i = 0; i < m; ++i) {
            pace.spend(K);
            double total = 0.0;
            for (std::size_t c = 0; c < K; ++c) total += f[c * m + i];
            bayesieve::Divergence h;
            for (std::size_t c = 0; c < K; ++c)
                if (p[c] > 0.0) h.add(f[c * m + i], p[c] * total);
            gain[i] = h.sum;
            doubt[i] = h.doubt(total, static_cast<double>(K));
        }
    }
    return {gain.array(), doubt.array()};
}

// A class without count has F = alpha. Over all such classes
//   sum alpha log(alpha / (p_c G)) - alpha + p_c G
// is a difference of sums over all classes; class by class only where that rounds too much.
Pair sparse_gains(const Indices& start, const ClassIds& row, const Vector& value,
                  const Vector& alphas, const Vector& shares) {
    const std::size_t K = shares.shape(0), m = alphas.shape(0);
    if (start.shape(0) != m + 1 || row.shape(0) != value.shape(0) ||
        start(m) != static_cast<std::int64_t>(value.shape(0)))
        throw std::invalid_argument("the arrays do not form a CSC matrix");
    const double* p = shares.data();
    Zeros<double> gain(m), doubt(m);
    {
        const bayesieve::Kernel kernel;
        const auto classes = static_cast<double>(K);
        double all_p = 0.0, all_log_p = 0.0, living = 0.0;
        for (std::size_t c = 0; c < K; ++c) {
            if (!(p[c] > 0.0)) continue;
            all_p += p[c];
            all_log_p += std::log(p[c]);
            living += 1.0;
        }
        std::vector<double> column(K);
        bayesieve::Pace pace(kPaceCells);
        for (std::size_t i = 0; i < m; ++i) {
            pace.spend(K);
            const double alpha = alphas.data()[i];
            double raw = 0.0;
            for (auto e = start(i); e < start(i + 1); ++e) raw += value(e);
            const double total = raw + classes * alpha;
            bayesieve::Divergence h;
            double absent = living, absent_p = all_p, absent_log_p = all_log_p;
            for (auto e = start(i); e < start(i + 1); ++e) {
                const double share = p[row(e)], count = value(e) + alpha;
                if (!(share > 0.0)) continue;
                h.add(count, share * total);
                absent -= 1.0;
                absent_p -= share;
                if (alpha > 0.0) absent_log_p -= std::log(share);
            }
            double noise = 0.0;
            if (absent > 0.0) {
                double rest = total * absent_p, size = total;
                if (alpha > 0.0) {
                    const double log_ratio = std::log(alpha / total);
                    rest += absent * alpha * (log_ratio - 1.0) - alpha * absent_log_p;
                    size += classes * alpha * (1.0 + std::fabs(log_ratio)) - alpha * all_log_p;
                }
                noise = (bayesieve::kRounding + classes) * bayesieve::kUnit * size;
                if (noise <= kNegligible * (h.sum + rest)) {
                    h.sum += std::max(rest, 0.0);
                } else {
                    noise = 0.0;
                    h = bayesieve::Divergence();
                    std::fill(column.begin(), column.end(), alpha);
                    for (auto e = start(i); e < start(i + 1); ++e)
                        column[static_cast<std::size_t>(row(e))] += value(e);
                    for (std::size_t c = 0; c < K; ++c)
                        if (p[c] > 0.0) h.add(column[c], p[c] * total);
                }
            }
            gain[i] = h.sum;
            doubt[i] = h.doubt(total, classes) + noise;
        }
    }
    return {gain.array(), doubt.array()};
}

}  // namespace

void register_divergence(nb::module_& m) {
    m.def("divergence", &elementwise, "counts"_a, "expected"_a,
          "counts log(counts / expected) - counts + expected of every pair; 0 where nothing is\n"
          "expected.");
    m.def("divergence_gains", &dense_gains, "table"_a, "shares"_a,
          "Gain of every column of a smoothed (K, n) table at class shares, and a bound on its\n"
          "rounding.");
    m.def("divergence_gains_csc", &sparse_gains, "start"_a, "row"_a, "value"_a, "alpha"_a,
          "shares"_a,
          "divergence_gains of a CSC table without smoothing and one alpha for each column.");
}
