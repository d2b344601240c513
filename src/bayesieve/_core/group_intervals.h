// Two classes: groups that are intervals in the order of P(C_1 | value).
//
// The row cost is concave in the two counts, so an optimal grouping without garbage is contiguous
// in that order, and a dynamic programme over it is exact: f[k][j] = least cost of the first j
// items in k intervals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "group_items.h"
#include "group_prior.h"
#include "runtime.h"

namespace bayesieve {

// Merges neighbours of least loss until at most `limit` intervals are left. `label` receives the
// interval of each item, in order.
inline std::size_t coarsen(const std::vector<double>& first, const std::vector<double>& second,
                           std::size_t limit, const RowCost& cost, Labels& label) {
    const std::size_t n = first.size();
    struct Node {
        double a, b, e;
        std::size_t left, right;
        std::uint32_t version;
        bool alive;
    };
    std::vector<Node> node(n);
    for (std::size_t i = 0; i < n; ++i)
        node[i] = {first[i], second[i], cost.two(first[i], second[i]), i - 1, i + 1, 0, true};
    struct Merge {
        double loss;
        std::size_t left;
        std::uint32_t version_left, version_right;
        bool operator<(const Merge& o) const {
            return loss != o.loss ? loss > o.loss : left > o.left;
        }
    };
    std::priority_queue<Merge> heap;
    auto push = [&](std::size_t i) {
        const std::size_t r = node[i].right;
        if (r >= n) return;
        heap.push({cost.two(node[i].a + node[r].a, node[i].b + node[r].b) - node[i].e - node[r].e,
                   i, node[i].version, node[r].version});
    };
    if (n > limit)
        for (std::size_t i = 0; i + 1 < n; ++i) push(i);
    std::size_t left = n;
    Pace pace(1 << 12);
    while (left > limit && !heap.empty()) {
        pace.spend(1);
        const Merge merge = heap.top();
        heap.pop();
        Node& keep = node[merge.left];
        if (!keep.alive || keep.version != merge.version_left || keep.right >= n) continue;
        Node& gone = node[keep.right];
        if (gone.version != merge.version_right) continue;
        gone.alive = false;
        keep.a += gone.a;
        keep.b += gone.b;
        keep.e = cost.two(keep.a, keep.b);
        keep.right = gone.right;
        ++keep.version;
        if (keep.right < n) node[keep.right].left = merge.left;
        push(merge.left);
        if (merge.left > 0) push(keep.left);
        --left;
    }
    label.assign(n, 0);
    std::int32_t current = -1;
    for (std::size_t i = 0; i < n; ++i) {
        if (node[i].alive) ++current;
        label[i] = current;
    }
    return left;
}

class IntervalProgramme {
  public:
    // `most_garbage_layers`: layers solved only for the sake of garbage groups.
    IntervalProgramme(const std::vector<double>& first, const std::vector<double>& second,
                      const GroupPrior& prior, std::size_t most_garbage_layers)
        : n_(first.size()) {
        const RowCost row_cost(2);
        std::vector<double> a(n_ + 1, 0.0), b(n_ + 1, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            a[i + 1] = a[i] + first[i];
            b[i + 1] = b[i] + second[i];
        }
        // Row j holds the costs of the intervals (i, j], i = 0..j-1.
        std::vector<double> cost(n_ * (n_ + 1) / 2);
        std::vector<double> any(n_ + 1, 0.0);
        Pace pace(1 << 16);
        for (std::size_t j = 1; j <= n_; ++j) {
            pace.spend(16 * j);  // logarithms
            double* row = cost.data() + j * (j - 1) / 2;
            double least = kNever;
            for (std::size_t i = 0; i < j; ++i) {
                row[i] = row_cost.two(std::max(a[j] - a[i], 0.0), std::max(b[j] - b[i], 0.0));
                least = std::min(least, any[i] + row[i]);
            }
            any[j] = least;
        }
        bound_ = any[n_];
        std::vector<double> before(n_ + 1, kNever), now(n_ + 1, kNever);
        rows_.push_back(kNever);
        from_.emplace_back();
        before[0] = 0.0;
        double best = kNever;
        for (std::size_t k = 1; k <= n_; ++k) {
            const bool plain_may_win = prior.plain(k) + bound_ < best;
            const bool garbage_may_win =
                k <= most_garbage_layers && prior.least_garbage(k) + bound_ < best;
            if (k > 1 && !plain_may_win && !garbage_may_win) break;
            std::vector<std::int32_t> from(n_ + 1, 0);
            std::fill(now.begin(), now.end(), kNever);
            for (std::size_t j = k; j <= n_; ++j) {
                pace.spend(j);
                const double* row = cost.data() + j * (j - 1) / 2;
                double least = kNever;
                std::size_t at = 0;
                for (std::size_t i = k - 1; i < j; ++i) {
                    const double candidate = before[i] + row[i];
                    if (candidate < least) {
                        least = candidate;
                        at = i;
                    }
                }
                now[j] = least;
                from[j] = static_cast<std::int32_t>(at);
            }
            rows_.push_back(now[n_]);
            from_.push_back(std::move(from));
            best = std::min(best, prior.plain(k) + now[n_]);
            std::swap(before, now);
        }
    }

    std::size_t layers() const { return rows_.size() - 1; }
    double rows(std::size_t groups) const { return rows_[groups]; }
    double bound() const { return bound_; }  // no partition at all has cheaper rows

    Labels groups(std::size_t k) const {
        Labels label(n_, 0);
        for (std::size_t end = n_; k > 0; --k) {
            const auto begin = static_cast<std::size_t>(from_[k][end]);
            for (std::size_t i = begin; i < end; ++i) label[i] = static_cast<std::int32_t>(k - 1);
            end = begin;
        }
        return label;
    }

  private:
    std::size_t n_;
    double bound_ = 0.0;
    std::vector<double> rows_;
    std::vector<std::vector<std::int32_t>> from_;
};

// Items of two classes in the order of the share of the first: position of each item.
inline std::vector<std::size_t> order_by_share(const std::vector<double>& first,
                                               const std::vector<double>& second) {
    std::vector<std::pair<double, std::size_t>> key(first.size());
    for (std::size_t i = 0; i < first.size(); ++i)
        key[i] = {first[i] / (first[i] + second[i]), i};
    std::sort(key.begin(), key.end());
    std::vector<std::size_t> order(first.size());
    for (std::size_t p = 0; p < key.size(); ++p) order[p] = key[p].second;
    return order;
}

}  // namespace bayesieve
