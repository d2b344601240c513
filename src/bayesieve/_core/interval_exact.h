// The best partition of an ordered table into intervals, by dynamic programming.
//
// F[I][k]: least sum of e over partitions of the first k rows into I intervals. Layers are
// needed only up to the largest I that could still win; that is found first, from the bound
//   R(I) >= G(lambda) - lambda I,   G(lambda) = min over partitions of sum e + lambda intervals,
// one O(m^2) pass for several lambda at once (lambda = 0 is the unrestricted pass).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "interval_table.h"
#include "runtime.h"

namespace bayesieve {

// min over i < n of a[i] + b[i]; eight running minima, for the compiler to pair up.
inline double least_sum(const double* a, const double* b, std::size_t n) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double least[8] = {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (std::size_t u = 0; u < 8; ++u) {
            const double x = a[i + u] + b[i + u];
            least[u] = x < least[u] ? x : least[u];
        }
    for (; i < n; ++i) least[0] = std::min(least[0], a[i] + b[i]);
    return *std::min_element(least, least + 8);
}

struct ExactOutcome {
    bool proven = false;   // no partition beats the bound by more than rounding, or `ends` is best
    bool better = false;   // `ends` beats the bound
    std::vector<std::uint32_t> ends;
};

// Operations of one pass over all intervals of m rows that hold `cells` counts.
inline double pass_operations(std::size_t cells, std::size_t rows, std::size_t classes) {
    const double m = static_cast<double>(rows);
    const double width = static_cast<double>(cells) / m;
    return 0.5 * m * m * (2.0 + std::min(width, static_cast<double>(classes)));
}

// Looks for a partition of total cost below `bound`; gives up (not proven) when `budget`
// elementary operations do not suffice. Lowers `budget` by what it used. `typical` is a likely
// number of intervals, used to place lambda.
template <class Count, class Prior>
ExactOutcome exact_intervals(const OrderedTable<Count>& table, const Prior& prior, double bound,
                             std::size_t typical, double& budget) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    constexpr double kRounding = 1e-9;
    ExactOutcome outcome;
    const std::size_t m = table.rows();
    const double pass = pass_operations(table.cells(), m, table.classes());
    if (pass > budget) return outcome;
    budget -= pass;

    std::vector<double> prior_of(m + 1, kNone);
    for (std::size_t i = 1; i <= m; ++i) prior_of[i] = prior(i);
    // The pass of bounds. Interval costs are kept for the layers when that is cheap.
    const bool keep = m <= 1400;
    std::vector<double> kept(keep ? m * (m + 1) / 2 : 0), own(keep ? 0 : m);
    const std::size_t near = std::min(std::max<std::size_t>(typical, 2), m);
    double slope = prior_of[near] - prior_of[near - 1];
    if (near == 2 && m > 2) slope = prior_of[3] - prior_of[2];
    if (!(slope > 0.0 && slope < kNone)) slope = 0.0;
    const double shares[] = {0.0, 0.5, 0.8, 1.0, 1.2};
    constexpr std::size_t kLambdas = sizeof shares / sizeof shares[0];
    std::vector<double> relaxed[kLambdas];
    for (auto& values : relaxed) values.assign(m + 1, 0.0);
    Pace pace(kPaceCells);
    for (std::size_t k = 1; k <= m; ++k) {
        pace.spend(k);
        double* costs = keep ? &kept[k * (k - 1) / 2] : own.data();
        table.costs_to(k, costs);
        for (std::size_t s = 0; s < kLambdas; ++s)
            relaxed[s][k] = least_sum(relaxed[s].data(), costs, k) + shares[s] * slope;
    }
    const double whole = keep ? kept[m * (m - 1) / 2] : own[0];
    std::size_t layers = 0;
    for (std::size_t i = m; i >= 1 && layers == 0; --i) {
        double rows = i == 1 ? whole : -kNone;
        for (std::size_t s = 0; s < kLambdas; ++s)
            rows = std::max(rows, relaxed[s][m] - shares[s] * slope * static_cast<double>(i));
        if (prior_of[i] + rows < bound - kRounding) layers = i;
    }
    if (layers == 0) {
        outcome.proven = true;
        return outcome;
    }
    const double work = (keep ? 0.0 : pass) +
                        0.25 * static_cast<double>(layers) * 0.5 * static_cast<double>(m) *
                            static_cast<double>(m);
    if (work > budget || static_cast<double>(layers) * static_cast<double>(m) > 3.2e7)
        return outcome;
    budget -= work;

    std::vector<double> best((layers + 1) * (m + 1), kNone);  // F
    auto layer = [&](std::size_t i) { return &best[i * (m + 1)]; };
    layer(0)[0] = 0.0;
    for (std::size_t k = 1; k <= m; ++k) {
        pace.spend(k);
        double* costs = keep ? &kept[k * (k - 1) / 2] : own.data();
        if (!keep) table.costs_to(k, costs);
        layer(1)[k] = costs[0];
        for (std::size_t i = 2; i <= std::min(layers, k); ++i) {
            pace.spend(k);
            layer(i)[k] = least_sum(layer(i - 1) + (i - 1), costs + (i - 1), k - (i - 1));
        }
    }
    outcome.proven = true;
    double least = kNone;
    for (std::size_t i = 1; i <= layers; ++i) least = std::min(least, layer(i)[m] + prior_of[i]);
    if (!(least < bound - kRounding)) return outcome;
    std::size_t intervals = 1;
    while (layer(intervals)[m] + prior_of[intervals] > least + kRounding) ++intervals;
    outcome.better = true;
    std::size_t end = m;
    if (own.empty()) own.resize(m);
    for (std::size_t i = intervals; i >= 1; --i) {
        outcome.ends.push_back(static_cast<std::uint32_t>(end));
        if (i == 1) break;
        table.costs_to(end, own.data());
        std::size_t arg = i - 1;
        double value = kNone;
        for (std::size_t r = i - 1; r < end; ++r)
            if (layer(i - 1)[r] + own[r] < value) {
                value = layer(i - 1)[r] + own[r];
                arg = r;
            }
        end = arg;
    }
    std::reverse(outcome.ends.begin(), outcome.ends.end());
    return outcome;
}

}  // namespace bayesieve
