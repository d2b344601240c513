// More than two classes: merge groups pair by pair, from many to one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "group_intervals.h"
#include "group_items.h"
#include "group_prior.h"
#include "runtime.h"

namespace bayesieve {

// The whole descent. Without garbage the prior depends on the number of groups only, so the best
// merge is the one of least loss. A full matrix of losses and each group's best partner stand in
// for a heap over all pairs: the same merges, and nothing stale to sort out.
class MergeDescent {
  public:
    explicit MergeDescent(const Items& items) : n_(items.n) {
        const std::size_t n = n_;
        const RowCost row_cost(items.classes);
        Items groups = items;
        std::vector<double> e(n), loss(n * n, kNever), partner_loss(n, kNever);
        std::vector<std::size_t> partner(n, n), alive(n);
        for (std::size_t i = 0; i < n; ++i) {
            e[i] = row_cost(groups.row(i), groups.total[i]);
            alive[i] = i;
        }
        auto loss_of = [&](std::size_t a, std::size_t b) {
            return row_cost.of_sum(groups.row(a), groups.row(b),
                                   groups.total[a] + groups.total[b]) -
                   e[a] - e[b];
        };
        // Partners are sought among later groups, so that each pair is seen once.
        auto seek = [&](std::size_t a) {
            partner_loss[a] = kNever;
            partner[a] = n;
            for (std::size_t b : alive)
                if (b > a && loss[a * n + b] < partner_loss[a]) {
                    partner_loss[a] = loss[a * n + b];
                    partner[a] = b;
                }
        };
        Pace pace(1 << 12);
        for (std::size_t a = 0; a < n; ++a) {
            pace.spend(n - a);
            for (std::size_t b = a + 1; b < n; ++b) loss[a * n + b] = loss_of(a, b);
        }
        for (std::size_t a = 0; a < n; ++a) seek(a);
        rows_.assign(n + 1, 0.0);
        largest_.assign(n + 1, 0);
        note(n, e, groups, alive);
        while (alive.size() > 1) {
            pace.spend(alive.size());
            std::size_t a = alive[0];
            for (std::size_t i : alive)
                if (partner_loss[i] < partner_loss[a]) a = i;
            const std::size_t b = partner[a];
            merges_.emplace_back(a, b);
            groups.add(a, groups, b);
            e[a] = row_cost(groups.row(a), groups.total[a]);
            alive.erase(std::lower_bound(alive.begin(), alive.end(), b));
            for (std::size_t i : alive) {
                if (i == a) continue;
                const double l = loss_of(a, i);
                if (i < a) loss[i * n + a] = l;
                else loss[a * n + i] = l;
            }
            for (std::size_t i : alive) {
                if (i == a || partner[i] == a || partner[i] == b) {
                    seek(i);
                } else if (i < a && loss[i * n + a] < partner_loss[i]) {
                    partner_loss[i] = loss[i * n + a];
                    partner[i] = a;
                }
            }
            note(alive.size(), e, groups, alive);
        }
    }

    double rows(std::size_t groups) const { return rows_[groups]; }
    std::size_t largest(std::size_t groups) const { return largest_[groups]; }
    Labels groups(std::size_t wanted) const {
        Labels label(n_);
        for (std::size_t i = 0; i < n_; ++i) label[i] = static_cast<std::int32_t>(i);
        for (std::size_t s = 0; n_ - s > wanted; ++s)
            label[merges_[s].second] = static_cast<std::int32_t>(merges_[s].first);
        // A merge always points to an earlier item: one pass in order resolves the chains.
        for (std::size_t i = 0; i < n_; ++i) label[i] = label[static_cast<std::size_t>(label[i])];
        renumber(label);
        return label;
    }

  private:
    void note(std::size_t groups, const std::vector<double>& e, const Items& held,
              const std::vector<std::size_t>& alive) {
        for (std::size_t i : alive) {
            rows_[groups] += e[i];
            largest_[groups] = std::max(largest_[groups], held.size[i]);
        }
    }

    std::size_t n_;
    std::vector<double> rows_;
    std::vector<std::size_t> largest_;
    std::vector<std::pair<std::size_t, std::size_t>> merges_;
};

// Ties items that stay together in the best groups of every class against the rest, then the
// rarest of those with the same majority class, until at most `limit` are left.
inline std::size_t tie_rare(const Items& items, std::size_t limit, const GroupPrior& prior,
                            Labels& label) {
    constexpr std::size_t kCoarse = 64;
    const std::size_t n = items.n, J = items.classes;
    const RowCost two_classes(2);
    label.assign(n, 0);
    std::vector<double> first(n), second(n);
    std::vector<std::size_t> step(n);
    double share = 0.0;
    for (std::size_t j = 0; j < J; ++j) {
        poll();
        for (std::size_t i = 0; i < n; ++i) {
            first[i] = items.row(i)[j];
            second[i] = std::max(items.total[i] - first[i], 0.0);
        }
        const auto order = order_by_share(first, second);
        // Rare values have few different shares: equal ones are one step of the order.
        std::vector<double> a, b;
        for (std::size_t p = 0; p < n; ++p) {
            const std::size_t i = order[p];
            if (p == 0 || first[i] / items.total[i] != share) {
                a.push_back(0.0);
                b.push_back(0.0);
                share = first[i] / items.total[i];
            }
            a.back() += first[i];
            b.back() += second[i];
            step[i] = a.size() - 1;
        }
        Labels coarse;
        const std::size_t left = coarsen(a, b, kCoarse, two_classes, coarse);
        std::vector<double> x(left, 0.0), y(left, 0.0);
        for (std::size_t p = 0; p < a.size(); ++p) {
            x[static_cast<std::size_t>(coarse[p])] += a[p];
            y[static_cast<std::size_t>(coarse[p])] += b[p];
        }
        const IntervalProgramme programme(x, y, prior, 0);
        std::size_t best = 1;
        for (std::size_t k = 2; k <= programme.layers(); ++k)
            if (programme.rows(k) + prior.plain(k) < programme.rows(best) + prior.plain(best))
                best = k;
        const Labels interval = programme.groups(best);
        std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> joint;
        for (std::size_t i = 0; i < n; ++i) {
            const auto c = static_cast<std::size_t>(coarse[step[i]]);
            const auto key = std::make_pair(label[i], interval[c]);
            label[i] = joint.emplace(key, static_cast<std::int32_t>(joint.size())).first->second;
        }
    }
    std::size_t left = renumber(label);
    if (left <= limit) return left;

    const Items groups = items.gathered(label, left);
    using Entry = std::pair<double, std::size_t>;
    using Heap = std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>>;
    std::vector<Heap> by_class(J);
    std::vector<double> total = groups.total;
    for (std::size_t g = 0; g < left; ++g) {
        const double* row = groups.row(g);
        by_class[static_cast<std::size_t>(std::max_element(row, row + J) - row)].push({total[g], g});
    }
    std::vector<std::size_t> parent(left);
    for (std::size_t g = 0; g < left; ++g) parent[g] = g;
    const std::size_t all = left;
    while (left > limit) {
        std::size_t rarest = J;
        for (std::size_t j = 0; j < J; ++j)
            if (by_class[j].size() > 1 &&
                (rarest == J || by_class[j].top() < by_class[rarest].top()))
                rarest = j;
        if (rarest == J) break;
        const Entry x = by_class[rarest].top();
        by_class[rarest].pop();
        const Entry y = by_class[rarest].top();
        by_class[rarest].pop();
        const std::size_t keep = std::min(x.second, y.second);
        parent[std::max(x.second, y.second)] = keep;
        by_class[rarest].push({x.first + y.first, keep});
        --left;
    }
    for (std::size_t g = 0; g < all; ++g) parent[g] = parent[parent[g]];  // parents come first
    for (auto& l : label) l = static_cast<std::int32_t>(parent[static_cast<std::size_t>(l)]);
    return renumber(label);
}

}  // namespace bayesieve
