// Search of the best partition of an ordered table into intervals, for any prior that depends
// on the number of intervals alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "interval_exact.h"
#include "interval_greedy.h"
#include "interval_improve.h"
#include "interval_table.h"

namespace bayesieve {

// The partition part of the cost for I = 1..m intervals, cost[I - 1]; infinity where that
// number is not allowed. Searches take any callable of this form.
struct PartitionPrior {
    std::vector<double> cost;
    double operator()(std::size_t intervals) const { return cost[intervals - 1]; }
};

struct IntervalSolution {
    std::vector<std::uint32_t> ends;  // exclusive ends, in rows of the table
    double total = std::numeric_limits<double>::infinity();  // prior + sum of e
    bool exact = false;  // proven: nothing in this table beats min(total, bound)
};

template <class Count, class Prior>
double partition_cost(const OrderedTable<Count>& table, const Prior& prior,
                      const std::vector<std::uint32_t>& ends) {
    double rows = 0.0;
    std::size_t begin = 0;
    for (const std::uint32_t end : ends) {
        rows += table.cost(begin, end);
        begin = end;
    }
    return prior(ends.size()) + rows;
}

// Rows kept for the exact search among the cuts that merging removes last.
constexpr std::size_t kCoarseRows = 192;

// Best partition found: greedy merges and local moves, then the dynamic programme where
// `budget` (elementary operations, lowered by what is used) allows. A finite `bound` is a cost
// known to be reached elsewhere; it only shortens the proof. `seed` may name the ends of
// another good partition. Rows pure in the same class should be joined before (gather_rows).
template <class Count, class Prior>
IntervalSolution search_intervals(const OrderedTable<Count>& table, const Prior& prior,
                                  double& budget,
                                  double bound = std::numeric_limits<double>::infinity(),
                                  const std::vector<std::uint32_t>& seed = {}) {
    IntervalSolution best;
    const std::size_t m = table.rows();
    best.ends.assign(1, static_cast<std::uint32_t>(m));
    best.total = partition_cost(table, prior, best.ends);
    best.exact = m == 1;
    if (m == 1) return best;
    auto offer = [&](std::vector<std::uint32_t>&& ends) {
        const double total = partition_cost(table, prior, ends);
        const bool fewer = ends.size() < best.ends.size();
        if (total < best.total - (fewer ? -1e-9 : 1e-9)) {
            best.total = total;
            best.ends = std::move(ends);
        }
    };
    const MergePath path = merge_path(table, prior);
    std::size_t intervals = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i <= path.largest(); ++i) {
        const double total = prior(i) + path.rows_cost[i];
        if (total < least - kCostTie) {
            least = total;
            intervals = i;
        }
    }
    offer(path.ends(intervals, m));
    const bool provable = pass_operations(table.cells(), m, table.classes()) <= budget;
    if (!provable && intervals <= kCoarseRows) {
        // Merging places cuts badly among many rows. The best choice among the cuts it gave up
        // last and those of the seed is nearly free, and a far better start.
        const std::vector<std::uint32_t> last =
            path.ends(std::min(path.largest(), kCoarseRows), m);
        std::vector<std::uint32_t> rows;
        std::set_union(last.begin(), last.end(), seed.begin(), seed.end(),
                       std::back_inserter(rows));
        OrderedTable<Count> coarse(table.classes(), table.logs());
        std::vector<std::uint32_t> ends = rows;
        gather_rows(table, ends, false, coarse);
        double enough = std::numeric_limits<double>::infinity();
        const ExactOutcome outcome =
            exact_intervals(coarse, prior, best.total, best.ends.size(), enough);
        if (outcome.better) {
            std::vector<std::uint32_t> found;
            for (const std::uint32_t end : outcome.ends) found.push_back(rows[end - 1]);
            offer(std::move(found));
        }
    }
    offer(IntervalMoves<Count, Prior>(table, prior, best.ends).run());
    ExactOutcome outcome = exact_intervals(table, prior, std::min(best.total, bound),
                                           best.ends.size(), budget);
    best.exact = outcome.proven;
    if (outcome.better) offer(std::move(outcome.ends));
    return best;
}

}  // namespace bayesieve
