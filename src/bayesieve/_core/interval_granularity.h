// The MODL criterion of a numerical variable over its granularities.
//
// At granularity g the cuts are restricted to the bounds of 2^g parts of about equal frequency;
// a coarse grid makes each bound cheaper to describe. See partition/_interval_cost.py for the
// formulas in plain Python.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "code_lengths.h"
#include "interval_search.h"
#include "interval_table.h"
#include "runtime.h"

namespace bayesieve {

struct CostParts {
    double construction = 0.0, preparation = 0.0, data = 0.0;
    double total() const { return construction + preparation + data; }
};

// What all columns of one call share.
struct IntervalCriterion {
    double rows;            // N, the sum of the weights
    std::size_t classes;    // J
    double attribute_cost;  // c_attr
    bool classical;
    const LogFactorials* logs;
    int finest = 1;             // Gmax
    double finest_code = 0.0;   // ln C0(Gmax)
    std::vector<double> stars;  // log2*(n) ln 2

    IntervalCriterion(double rows_, std::size_t classes_, double attribute_cost_,
                      bool classical_, const LogFactorials& logs_)
        : rows(rows_),
          classes(classes_),
          attribute_cost(attribute_cost_),
          classical(classical_),
          logs(&logs_),
          stars(4098, 0.0) {
        while (std::ldexp(1.0, finest) < rows) ++finest;
        finest_code = std::log(integers_up_to(finest));
        for (std::size_t n = 1; n < stars.size(); ++n) stars[n] = star(n);
    }
    static double star(std::size_t n) { return log2_star(static_cast<double>(n)) * kLn2; }
    double star_of(std::size_t n) const { return n < stars.size() ? stars[n] : star(n); }
    double granularity_code(int g) const {
        return star_of(static_cast<std::size_t>(g)) + finest_code;
    }
    double grid(int g) const { return std::min(std::ldexp(1.0, g), rows); }  // N_g
};

// The partition part of the cost: everything but the two row terms.
struct GranularityPrior {
    const IntervalCriterion* criterion;
    double fixed = 0.0;    // ln 2 + c_attr + U(g; Gmax) + ln C0(N_g - 1)
    double per_cut = 0.0;  // ln(N_g - 1)
    double limit = 0.0;    // N_g: the model has no room for more intervals

    GranularityPrior(const IntervalCriterion& shared, int g) : criterion(&shared) {
        const double places = std::max(shared.grid(g) - 1.0, 1.0);
        fixed = kLn2 + shared.attribute_cost + shared.granularity_code(g) +
                std::log(integers_up_to(places));
        per_cut = std::log(places);
        limit = shared.classical ? std::numeric_limits<double>::infinity() : shared.grid(g);
    }
    double operator()(std::size_t intervals) const {
        const LogFactorials& lf = *criterion->logs;
        const auto cuts = static_cast<double>(intervals - 1);
        if (criterion->classical) {
            const double n = criterion->rows;
            return std::log(std::max(n, 1.0)) + lf(n + cuts) - lf(cuts) - lf(n);
        }
        if (intervals == 1) return kLn2;
        if (static_cast<double>(intervals) > limit)
            return std::numeric_limits<double>::infinity();
        return fixed + criterion->star_of(intervals - 1) + cuts * per_cut - lf(cuts);
    }
};

template <class Count>
CostParts cost_parts(const IntervalCriterion& shared, const OrderedTable<Count>& table,
                     const std::vector<std::uint32_t>& ends, int g) {
    const LogFactorials& lf = *shared.logs;
    const auto extra = static_cast<double>(shared.classes - 1);
    CostParts parts;
    if (!shared.classical)
        parts.construction = kLn2 + (ends.size() > 1 ? shared.attribute_cost : 0.0);
    parts.preparation = GranularityPrior(shared, g)(ends.size()) - parts.construction;
    std::vector<Count> counts(shared.classes);
    std::size_t begin = 0;
    for (const std::uint32_t end : ends) {
        std::fill(counts.begin(), counts.end(), Count(0));
        for (std::size_t r = begin; r < end; ++r)
            table.for_each_cell(r, [&](std::uint32_t c, Count k) { counts[c] += k; });
        double n = 0.0, inside = 0.0;
        for (const Count k : counts) {
            n += static_cast<double>(k);
            inside += lf(k);
        }
        parts.preparation += lf(n + extra) - lf(extra) - lf(n);
        parts.data += lf(n) - inside;
        begin = end;
    }
    return parts;
}

// Ends of the parts of granularity g among the distinct values. Where parts are many more than
// values, those that end as the one before are leapt over: the work is bounded by the values,
// however large their weights.
template <class Count>
void granularity_ends(const OrderedTable<Count>& raw, double rows, int g,
                      std::vector<std::uint32_t>& ends) {
    // Finer parts would be closer than doubles can tell.
    constexpr int kFinestTold = 52;
    ends.clear();
    const std::size_t D = raw.rows();
    const double Q = std::ldexp(1.0, g);
    if (Q >= rows || g > kFinestTold) {
        for (std::size_t r = 1; r <= D; ++r) ends.push_back(static_cast<std::uint32_t>(r));
        return;
    }
    const bool leaps = Q > 4.0 * static_cast<double>(D);
    std::size_t value = 0;
    std::uint32_t last = 0;
    Pace pace(kPaceCells);
    for (double q = 0.0; q < Q; ++q) {
        pace.spend(1);
        const double target = rows * (q + 1.0) / Q + (q < Q / 2.0 ? -1e-10 : 1e-10);
        const double reach = std::is_integral<Count>::value ? std::floor(target + 0.5) : target;
        while (value + 1 < D && static_cast<double>(raw.below(value + 1)) < reach) ++value;
        const double before = static_cast<double>(raw.below(value));
        const double after = static_cast<double>(raw.below(value + 1));
        const auto end = static_cast<std::uint32_t>(
            std::abs(target - before) <= std::abs(after - target) ? value : value + 1);
        if (end > last) ends.push_back(last = end);
        if (!leaps) continue;
        if (end >= D) break;
        // The end changes where targets pass the middle between it and the next. The leap
        // stops short of that by more than the rounding of targets.
        const double middle = 0.5 * (static_cast<double>(raw.below(end)) +
                                     static_cast<double>(raw.below(end + 1)));
        const double part = std::floor(middle / rows * Q * (1.0 - 1e-15)) - 4.0;
        q = std::max(q, std::min(part, Q - 2.0));
    }
    // Rounding of fractional weights must not lose the last value.
    if (last < D) ends.push_back(static_cast<std::uint32_t>(D));
}

struct Discretization {
    std::vector<std::uint32_t> ends;  // in rows of the raw table
    int granularity = 0;
    CostParts cost;
    bool exact = true;
};

// Best partition over the granularities worth a look. `null_cost` is that of one interval.
template <class Count>
Discretization discretize_rows(const IntervalCriterion& shared, const OrderedTable<Count>& raw,
                               const CostParts& null_cost, double budget) {
    const std::size_t D = raw.rows();
    Discretization null_result;
    null_result.ends.assign(1, static_cast<std::uint32_t>(D));
    null_result.cost = null_cost;
    if (D < 2 || shared.classes < 2 || !(shared.rows >= 2.0)) return null_result;

    Discretization best = null_result;
    double least = null_cost.total();
    OrderedTable<Count> table(shared.classes, *shared.logs);
    std::vector<std::uint32_t> ends;
    auto explore = [&](int g) {
        gather_rows(raw, ends, true, table);
        const GranularityPrior prior(shared, g);
        // Grids are nested, so the cuts found so far are there again (unless inside a run of
        // one class, where none is needed).
        std::vector<std::uint32_t> seed;
        for (const std::uint32_t end : best.ends) {
            const auto at = std::lower_bound(ends.begin(), ends.end(), end);
            if (*at == end) seed.push_back(static_cast<std::uint32_t>(at - ends.begin()) + 1);
        }
        const IntervalSolution found = search_intervals(table, prior, budget, least, seed);
        best.exact = best.exact && found.exact;
        if (!(found.total < least - kCostTie)) return;
        least = found.total;
        best.granularity = g;
        best.ends.clear();
        for (const std::uint32_t end : found.ends) best.ends.push_back(ends[end - 1]);
    };
    if (shared.classical) {
        granularity_ends(raw, 0.0, shared.finest, ends);
        explore(shared.finest);
        best.granularity = 0;
    } else {
        std::size_t before = 0;
        int last = 0, last_but_one = 0;
        for (int g = 1; g <= shared.finest; ++g) {
            granularity_ends(raw, shared.rows, g, ends);
            const std::size_t parts = ends.size();
            const bool all = parts == D;
            const bool grown = 2 * parts >= 3 * before && 3 * parts <= 2 * D;
            before = parts;
            if (!all && !grown) continue;
            last_but_one = last;
            last = g;
            explore(g);
            if (all) break;
        }
        // A coarser grid that holds every cut describes them for less.
        while (best.ends.size() > 1 && best.granularity - 1 > last_but_one) {
            granularity_ends(raw, shared.rows, best.granularity - 1, ends);
            if (!std::includes(ends.begin(), ends.end(), best.ends.begin(), best.ends.end()))
                break;
            --best.granularity;
        }
    }
    if (best.ends.size() > 1) best.cost = cost_parts(shared, raw, best.ends, best.granularity);
    // Level 0: nothing is said about the class.
    if (best.ends.size() == 1 || !(1.0 - best.cost.total() / null_cost.total() >= 1e-10)) {
        null_result.exact = best.exact;
        return null_result;
    }
    return best;
}

}  // namespace bayesieve
