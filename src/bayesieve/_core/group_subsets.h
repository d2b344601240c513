// The best groups of a few items, by a dynamic programme over all their subsets.
//
// f[S][k] = least sum of row costs over partitions of S into exactly k groups: 3^n / 2 pairs of a
// subset and the group of its first item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "group_items.h"
#include "group_prior.h"
#include "runtime.h"

namespace bayesieve {

class SubsetProgramme {
  public:
    static bool affordable(std::size_t n, double budget) {
        double steps = 1.0;
        for (std::size_t i = 0; i < n && steps <= budget; ++i) steps *= 3.0;
        return n <= 3 || (n <= 16 && steps <= budget);  // 16: 2^n rows of f stay small
    }

    explicit SubsetProgramme(const Items& items)
        : n_(items.n), sets_(std::size_t{1} << items.n), cost_(sets_, 0.0),
          f_(sets_ * (items.n + 1), kNever) {
        const std::size_t J = items.classes;
        const RowCost row_cost(J);
        std::vector<double> counts(sets_ * J, 0.0), total(sets_, 0.0);
        f_[0] = 0.0;
        Pace pace(1 << 8);
        for (std::size_t S = 1; S < sets_; ++S) {
            pace.spend(1);
            const std::size_t low = S & (~S + 1), rest = S ^ low, first = index_of(low);
            for (std::size_t j = 0; j < J; ++j)
                counts[S * J + j] = counts[rest * J + j] + items.row(first)[j];
            total[S] = total[rest] + items.total[first];
            cost_[S] = row_cost(counts.data() + S * J, total[S]);
            double* into = f_.data() + S * (n_ + 1) + 1;
            for (std::size_t T = rest;; T = (T - 1) & rest) {
                const std::size_t R = rest ^ T;
                const double* from = f_.data() + R * (n_ + 1);
                const double added = cost_[T | low];
                const std::size_t most = members(R);
                for (std::size_t k = 0; k <= most; ++k) {
                    const double candidate = added + from[k];
                    into[k] = candidate < into[k] ? candidate : into[k];
                }
                if (T == 0) break;
            }
        }
    }

    double rows(std::size_t groups) const { return f(sets_ - 1, groups); }

    Labels groups(std::size_t groups) const {
        Labels label(n_, 0);
        split(sets_ - 1, groups, 0, label);
        return label;
    }

    // The best partition with a garbage group. Returns its whole cost; label 0 is the garbage.
    double with_garbage(const GroupPrior& prior, double to_beat, Labels& label) const {
        double best = to_beat;
        std::size_t best_set = 0, best_groups = 0;
        Pace pace(1 << 10);
        for (std::size_t G = 1; G + 1 < sets_; ++G) {
            pace.spend(1);
            const std::size_t R = (sets_ - 1) ^ G, held = members(G);
            for (std::size_t k = 2; k <= n_ - held; ++k) {
                const double candidate = cost_[G] + f(R, k) + prior.garbage(k + 1, held);
                if (candidate < best - 1e-9) {
                    best = candidate;
                    best_set = G;
                    best_groups = k;
                }
            }
        }
        if (best_set == 0) return kNever;
        label.assign(n_, 0);
        split((sets_ - 1) ^ best_set, best_groups, 1, label);
        return best;
    }

  private:
    static std::size_t index_of(std::size_t bit) {
        std::size_t i = 0;
        while ((bit >> i) > 1) ++i;
        return i;
    }
    static std::size_t members(std::size_t set) {
        std::size_t count = 0;
        for (; set != 0; set &= set - 1) ++count;
        return count;
    }
    double f(std::size_t S, std::size_t k) const { return f_[S * (n_ + 1) + k]; }

    // Walks back: the same sums are formed again, so equality is exact.
    void split(std::size_t S, std::size_t groups, std::int32_t first_label, Labels& label) const {
        for (std::int32_t g = first_label; S != 0; ++g, --groups) {
            const std::size_t low = S & (~S + 1), rest = S ^ low;
            std::size_t taken = S;
            for (std::size_t T = rest;; T = (T - 1) & rest) {
                if (cost_[T | low] + f(rest ^ T, groups - 1) == f(S, groups)) {
                    taken = T | low;
                    break;
                }
                if (T == 0) break;
            }
            for (std::size_t i = 0; i < n_; ++i)
                if ((taken >> i) & 1) label[i] = g;
            S ^= taken;
        }
    }

    std::size_t n_, sets_;
    std::vector<double> cost_, f_;
};

}  // namespace bayesieve
