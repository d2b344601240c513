// Groups that can be changed: move one item to another group, merge two groups.
//
// The cost is sum_e + P(I, m), where P is the prior without a garbage group, or the one with the
// largest group (m partiles) as garbage. The two are searched apart: on the way from one to the
// other the smaller of both often stands still.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "group_items.h"
#include "group_prior.h"
#include "runtime.h"

namespace bayesieve {

constexpr double kGain = 1e-9;  // smaller gains are rounding

class MovableGroups {
  public:
    MovableGroups(const Items& items, Labels label, const GroupPrior& prior, bool garbage)
        : items_(items), prior_(prior), garbage_(garbage), cost_of_(items.classes) {
        reset(std::move(label));
        for (std::size_t i = 0; i < items.n; ++i) {
            start_.push_back(class_.size());
            for (std::size_t j = 0; j < items.classes; ++j)
                if (items.row(i)[j] > 0.0) class_.push_back(j);
        }
        start_.push_back(class_.size());
    }

    std::size_t count() const { return e_.size(); }
    const Labels& labels() const { return label_; }
    double cost() const {
        double sum = 0.0;
        for (double e : e_) sum += e;
        return sum + prior(count(), largest());
    }

    // Moves items one by one, each to its best group or to one of its own, until none gains.
    void move_items(std::size_t most_passes) {
        bool moved = true;
        for (std::size_t pass = 0; moved && pass < most_passes; ++pass) {
            moved = false;
            for (std::size_t i = 0; i < items_.n; ++i) {
                pace_.spend(1 + count());
                moved = move_best(i) || moved;
            }
        }
    }

    // Brings items into `group`, those that lose least first, as far as the cost falls on the
    // whole: a garbage group pays only once it is large, beyond what single moves can see.
    void pull(std::size_t group) {
        std::vector<std::pair<double, std::size_t>> order;
        for (std::size_t i = 0; i < items_.n; ++i) {
            const auto from = static_cast<std::size_t>(label_[i]);
            if (from == group) continue;
            const bool empties = groups_.size[from] == items_.size[i];
            const double rows = (empties ? -e_[from] : change(from, i, -1.0)) + change(group, i, 1.0);
            order.emplace_back(rows / static_cast<double>(items_.size[i]), i);
        }
        std::sort(order.begin(), order.end());
        Labels best = label_;
        double least = cost();
        // An item of the group: the number of the group may change.
        const auto inside = static_cast<std::size_t>(
            std::find(label_.begin(), label_.end(), static_cast<std::int32_t>(group)) -
            label_.begin());
        std::size_t taken = 0, best_taken = 0;
        for (const auto& next : order) {
            const std::size_t i = next.second;
            pace_.spend(1 + count() + items_.n / 64);  // labels are copied where costs fall
            const auto from = static_cast<std::size_t>(label_[i]);
            const bool empties = groups_.size[from] == items_.size[i];
            if (empties && count() <= 3) continue;
            move(i, from, static_cast<std::size_t>(label_[inside]), empties);
            ++taken;
            const double now = cost();
            if (now < least - kGain) {
                least = now;
                best = label_;
                best_taken = taken;
            }
        }
        if (best_taken < taken) reset(std::move(best));
    }

    // Gives a group of its own to the item of `group` that leaves it at least cost.
    bool isolate(std::size_t group) {
        double least = kNever;
        std::size_t best = items_.n;
        for (std::size_t i = 0; i < items_.n; ++i) {
            if (label_[i] != static_cast<std::int32_t>(group)) continue;
            if (groups_.size[group] == items_.size[i]) return false;
            const double rows =
                change(group, i, -1.0) + cost_of_(items_.row(i), items_.total[i]);
            if (rows < least) {
                least = rows;
                best = i;
            }
        }
        move(best, group, count(), false);
        return true;
    }

    // Merges the two groups whose union costs least, whatever the cost becomes.
    void force_merge() {
        const std::size_t I = count();
        if (I < 2) return;
        double least = kNever;
        std::size_t first = 0, second = 1;
        for (std::size_t a = 0; a < I; ++a) {
            pace_.spend(I - a);
            for (std::size_t b = a + 1; b < I; ++b) {
                const double change =
                    cost_of_.of_sum(groups_.row(a), groups_.row(b),
                                    groups_.total[a] + groups_.total[b]) -
                    e_[a] - e_[b] +
                    finite(prior(I - 1, std::max(largest(), groups_.size[a] + groups_.size[b])));
                if (change < least) {
                    least = change;
                    first = a;
                    second = b;
                }
            }
        }
        groups_.add(first, groups_, second);
        e_[first] = cost_of_(groups_.row(first), groups_.total[first]);
        for (auto& l : label_)
            if (l == static_cast<std::int32_t>(second)) l = static_cast<std::int32_t>(first);
        drop(second);
    }

  private:
    void reset(Labels label) {
        label_ = std::move(label);
        const std::size_t I = renumber(label_);
        groups_ = items_.gathered(label_, I);
        e_.resize(I);
        for (std::size_t g = 0; g < I; ++g) e_[g] = cost_of_(groups_.row(g), groups_.total[g]);
    }
    static double finite(double x) { return x == kNever ? 1e300 : x; }
    double prior(std::size_t groups, std::size_t held) const {
        return garbage_ ? prior_.garbage(groups, held) : prior_.plain(groups);
    }
    std::size_t largest() const {
        return *std::max_element(groups_.size.begin(), groups_.size.end());
    }
    // e of group g with item i added (sign 1) or taken away (-1), less e of the group.
    double change(std::size_t g, std::size_t i, double sign) const {
        const LogFactorials& lf = cost_of_.lf;
        const double *group = groups_.row(g), *item = items_.row(i);
        double d = cost_of_.head(std::max(groups_.total[g] + sign * items_.total[i], 0.0)) -
                   cost_of_.head(groups_.total[g]);
        for (std::size_t s = start_[i]; s < start_[i + 1]; ++s) {
            const std::size_t j = class_[s];
            d -= lf(std::max(group[j] + sign * item[j], 0.0)) - lf(group[j]);
        }
        return d;
    }
    std::size_t largest_after(std::size_t from, std::size_t to, std::size_t size) const {
        std::size_t most = to == count() ? size : 0;
        for (std::size_t g = 0; g < count(); ++g) {
            std::size_t s = groups_.size[g];
            if (g == from) s -= size;
            if (g == to) s += size;
            most = std::max(most, s);
        }
        return most;
    }

    bool move_best(std::size_t i) {
        const auto from = static_cast<std::size_t>(label_[i]);
        const std::size_t I = count(), size = items_.size[i];
        const bool empties = groups_.size[from] == size;
        if (empties && I == 1) return false;
        const double leaving = empties ? -e_[from] : change(from, i, -1.0);
        const std::size_t held = largest();
        const double current = prior(I, held);
        const std::size_t I_join = empties ? I - 1 : I;
        // No move ends with a larger garbage group than this: a bound that spares most priors.
        double join_bound = prior(I_join, held + size);
        if (join_bound == kNever && garbage_) join_bound = prior_.least_garbage(I_join);
        double least = -kGain;
        std::size_t best = I + 1;
        for (std::size_t to = 0; to < I; ++to) {
            if (to == from) continue;
            const double rows = leaving + change(to, i, 1.0);
            if (!(rows + join_bound - current < least)) continue;
            const double d =
                rows - current +
                (garbage_ ? prior(I_join, largest_after(from, to, size)) : join_bound);
            if (d < least) {
                least = d;
                best = to;
            }
        }
        if (!empties) {
            const double rows = leaving + cost_of_(items_.row(i), items_.total[i]);
            const double d = rows - current + prior(I + 1, largest_after(from, I, size));
            if (d < least) {
                least = d;
                best = I;
            }
        }
        if (best > I) return false;
        move(i, from, best, empties);
        return true;
    }
    void move(std::size_t i, std::size_t from, std::size_t to, bool empties) {
        const std::size_t J = items_.classes;
        if (to == count()) {
            groups_.counts.resize(groups_.counts.size() + J, 0.0);
            groups_.total.push_back(0.0);
            groups_.size.push_back(0);
            ++groups_.n;
            e_.push_back(0.0);
        }
        for (std::size_t j = 0; j < J; ++j) {
            double& c = groups_.row(from)[j];
            c = std::max(c - items_.row(i)[j], 0.0);
        }
        groups_.total[from] = std::max(groups_.total[from] - items_.total[i], 0.0);
        groups_.size[from] -= items_.size[i];
        groups_.add(to, items_, i);
        e_[from] = cost_of_(groups_.row(from), groups_.total[from]);
        e_[to] = cost_of_(groups_.row(to), groups_.total[to]);
        label_[i] = static_cast<std::int32_t>(to);
        if (empties) drop(from);
    }
    // Removes an empty group: the last one takes its number.
    void drop(std::size_t g) {
        const std::size_t last = count() - 1, J = items_.classes;
        if (g != last) {
            std::copy_n(groups_.row(last), J, groups_.row(g));
            groups_.total[g] = groups_.total[last];
            groups_.size[g] = groups_.size[last];
            e_[g] = e_[last];
            for (auto& l : label_)
                if (l == static_cast<std::int32_t>(last)) l = static_cast<std::int32_t>(g);
        }
        groups_.counts.resize(last * J);
        groups_.total.pop_back();
        groups_.size.pop_back();
        groups_.n = last;
        e_.pop_back();
    }

    const Items& items_;
    const GroupPrior& prior_;
    bool garbage_;
    Pace pace_{1 << 12};
    RowCost cost_of_;
    Labels label_;
    Items groups_;
    std::vector<double> e_;
    std::vector<std::size_t> start_, class_;  // classes present in each item
};

}  // namespace bayesieve
