// The best groups of the partiles of one granularity.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "group_intervals.h"
#include "group_items.h"
#include "group_merge.h"
#include "group_moves.h"
#include "group_prior.h"
#include "group_subsets.h"

namespace bayesieve {

struct Grouped {
    Labels label;  // group of each partile; empty: nothing found
    bool garbage = false;
    bool exact = false;
    double cost = kNever;
};

class GroupSearch {
  public:
    GroupSearch(const Items& partiles, const GroupPrior& prior, double rows_in_all, double budget)
        : partiles_(partiles), prior_(prior), rows_(rows_in_all), budget_(budget), each_(partiles.n) {
        for (std::size_t i = 0; i < each_.size(); ++i) each_[i] = static_cast<std::int32_t>(i);
    }

    Grouped best() {
        Labels tied;
        const std::size_t distinct = tie_proportional(partiles_, tied);
        const bool garbage = prior_.garbage_allowed();
        if (garbage && SubsetProgramme::affordable(partiles_.n, budget_)) {
            by_subsets(partiles_, each_);
            found_.exact = true;
            return std::move(found_);
        }
        const Items items = partiles_.gathered(tied, distinct);
        if (partiles_.classes == 2) {
            by_intervals(items, tied);
        } else if (SubsetProgramme::affordable(distinct, budget_)) {
            by_subsets(items, tied);
        } else {
            by_merges(items, tied);
        }
        found_.exact = proven_ && garbage_bound_ >= found_.cost - 1e-6;
        return std::move(found_);
    }

  private:
    static constexpr std::size_t kCoarse = 256;   // intervals left to a programme that is not exact
    static constexpr std::size_t kMatrix = 4096;  // most intervals of any programme: 67 MB
    static constexpr std::size_t kLayers = 10;    // most groups sought for the sake of garbage
    static constexpr std::size_t kPairs = 1024;   // most groups whose pairs are all compared
    static constexpr double kFew = 100.0;         // groups so few that comparing them is cheap
    static constexpr std::size_t kMany = 100;     // partiles beyond which starts are few
    static constexpr std::size_t kLarge = 2000;   // partiles beyond which there is one
    static constexpr std::size_t kForcible = 64;  // most groups of which two are merged by force

    void keep(double cost, bool garbage, Labels label) {
        if (!(cost < found_.cost - kGain)) return;
        found_.cost = cost;
        found_.garbage = garbage;
        found_.label = std::move(label);
    }
    static Labels expand(const Labels& of_items, const Labels& item) {
        Labels result(item.size());
        for (std::size_t v = 0; v < item.size(); ++v)
            result[v] = of_items[static_cast<std::size_t>(item[v])];
        return result;
    }

    // Every partition of the items; with garbage only if they are the partiles themselves.
    void by_subsets(const Items& items, const Labels& item) {
        const SubsetProgramme programme(items);
        std::size_t best = 1;
        double best_cost = kNever;
        for (std::size_t k = 1; k <= items.n; ++k) {
            const double cost = programme.rows(k) + prior_.plain(k);
            if (cost < best_cost - kGain) {
                best_cost = cost;
                best = k;
            }
        }
        keep(best_cost, false, expand(programme.groups(best), item));
        if (!prior_.garbage_allowed()) {
            proven_ = true;
            return;
        }
        if (items.n == partiles_.n && SubsetProgramme::affordable(items.n, budget_)) {
            Labels label;
            const double cost = programme.with_garbage(prior_, best_cost, label);
            if (cost < best_cost) keep(cost, true, label);
            return;
        }
        proven_ = true;
        bound_garbage(programme, items.n, kNever);
        if (garbage_bound_ >= found_.cost) return;
        for (std::size_t k = 3; k <= std::min(items.n, kLayers); ++k)
            improve(items, item, programme.groups(k), true);
        improve_split(expand(programme.groups(best), item));
    }

    // No partition with a garbage group costs less. Its k groups may separate what is tied or
    // not be contiguous, but their rows cost at least as much as those of the best partition
    // into at most k groups; `bound` holds for any number of groups.
    template <class Programme>
    void bound_garbage(const Programme& programme, std::size_t layers, double bound) {
        garbage_bound_ = kNever;
        double rows = kNever;
        for (std::size_t k = 1; k <= layers; ++k) {
            rows = std::min(rows, programme.rows(k));
            garbage_bound_ = std::min(garbage_bound_, rows + prior_.least_garbage(k));
        }
        garbage_bound_ = std::min(garbage_bound_,
                                  std::min(rows, bound) + prior_.least_garbage(layers + 1));
    }

    void by_intervals(const Items& items, const Labels& item) {
        // tie_proportional numbers items by the share of the first class.
        std::vector<double> first(items.n), second(items.n);
        for (std::size_t i = 0; i < items.n; ++i) {
            first[i] = items.row(i)[0];
            second[i] = items.row(i)[1];
        }
        const double n = static_cast<double>(items.n);
        const bool whole = items.n <= kCoarse || (items.n <= kMatrix && n * n <= budget_);
        Labels coarse;
        const std::size_t left =
            coarsen(first, second, whole ? items.n : kCoarse, RowCost(2), coarse);
        if (left < items.n) {
            std::vector<double> a(left, 0.0), b(left, 0.0);
            for (std::size_t i = 0; i < items.n; ++i) {
                a[static_cast<std::size_t>(coarse[i])] += first[i];
                b[static_cast<std::size_t>(coarse[i])] += second[i];
            }
            first.swap(a);
            second.swap(b);
        }
        const bool garbage = prior_.garbage_allowed();
        const IntervalProgramme programme(first, second, prior_, garbage ? kLayers : 0);
        auto groups = [&](std::size_t k) { return expand(programme.groups(k), coarse); };
        std::size_t best = 1;
        for (std::size_t k = 2; k <= programme.layers(); ++k)
            if (programme.rows(k) + prior_.plain(k) <
                programme.rows(best) + prior_.plain(best) - kGain)
                best = k;
        keep(programme.rows(best) + prior_.plain(best), false, expand(groups(best), item));
        if (!whole) improve(items, item, groups(best), false);
        proven_ = whole;
        if (!garbage) return;
        bound_garbage(programme, programme.layers(), programme.bound());
        if (whole && garbage_bound_ >= found_.cost) return;
        std::vector<std::pair<double, std::size_t>> starts;
        for (std::size_t k = 3; k <= std::min(programme.layers(), kLayers); ++k) {
            const Labels label = groups(k);
            std::vector<std::size_t> size(k, 0);
            for (std::size_t i = 0; i < items.n; ++i)
                size[static_cast<std::size_t>(label[i])] += items.size[i];
            const std::size_t held = *std::max_element(size.begin(), size.end());
            starts.emplace_back(programme.rows(k) + prior_.garbage(k, held), k);
        }
        std::sort(starts.begin(), starts.end());
        const std::size_t most = partiles_.n > kLarge ? 1 : partiles_.n > kMany ? 3 : starts.size();
        if (starts.size() > most) starts.resize(most);
        for (const auto& start : starts) {
            const std::size_t k = start.second;
            if (whole && programme.bound() + prior_.least_garbage(k) >= found_.cost) continue;
            improve(items, item, groups(k), true);
        }
        improve_split(expand(groups(best), item));
    }

    void by_merges(const Items& items, const Labels& item) {
        const auto limit = static_cast<std::size_t>(
            std::min(static_cast<double>(kPairs), std::max(std::sqrt(rows_), kFew)));
        Labels tied(items.n);
        for (std::size_t i = 0; i < items.n; ++i) tied[i] = static_cast<std::int32_t>(i);
        std::size_t left = items.n;
        if (items.n > limit) left = tie_rare(items, limit, prior_, tied);
        const MergeDescent descent(left < items.n ? items.gathered(tied, left) : items);
        std::vector<std::pair<double, std::size_t>> plain, garbage;
        double least = kNever;
        for (std::size_t k = 1; k <= left; ++k) {
            // The prior grows with k: where even two groups' prior loses, none need be computed.
            if (k > 2 && descent.rows(k) + prior_.plain(2) > least) continue;
            plain.emplace_back(descent.rows(k) + prior_.plain(k), k);
            least = std::min(least, plain.back().first);
        }
        if (prior_.garbage_allowed())
            for (std::size_t k = 3; k <= left; ++k) {
                if (descent.rows(k) + prior_.least_garbage(3) > least) continue;
                garbage.emplace_back(descent.rows(k) + prior_.garbage(k, descent.largest(k)), k);
            }
        std::sort(plain.begin(), plain.end());
        std::sort(garbage.begin(), garbage.end());
        const std::size_t starts = partiles_.n > kMany ? 1 : 8;
        for (std::size_t s = 0; s < std::min(starts, plain.size()); ++s)
            improve(items, item, expand(descent.groups(plain[s].second), tied), false);
        // Many rare values merge badly, and the descent then ends with too few groups; a few
        // rounds of moves show how many there should be.
        if (partiles_.n > kMany) {
            Labels promising;
            double promised = found_.cost;
            for (std::size_t k = 2; k <= std::min<std::size_t>(left, 6); ++k) {
                MovableGroups tried(items, expand(descent.groups(k), tied), prior_, false);
                tried.move_items(3);
                if (tried.cost() < promised - kGain) {
                    promised = tried.cost();
                    promising = tried.labels();
                }
            }
            if (!promising.empty()) improve(items, item, promising, false);
        }
        for (std::size_t s = 0; s < std::min(starts, garbage.size()); ++s)
            improve(items, item, expand(descent.groups(garbage[s].second), tied), true);
        if (prior_.garbage_allowed())
            improve_split(expand(expand(descent.groups(plain[0].second), tied), item));
    }

    // Moves whole ties, then single partiles; then merges by force, up to three times in vain.
    void improve(const Items& items, const Labels& item, const Labels& start, bool garbage) {
        MovableGroups groups(items, start, prior_, garbage);
        if (groups.cost() == kNever) return;
        finish(groups, items, item, garbage);
        if (!garbage || partiles_.n > kLarge) return;
        for (std::size_t g = 0, I = groups_in(start); g < I; ++g) {
            MovableGroups pulled(items, start, prior_, true);
            pulled.pull(g);
            finish(pulled, items, item, true);
        }
    }
    // A garbage group needs two others. Where two groups are best without one, the smaller of
    // them in two parts beside the larger may be cheaper still; where one group is best, two
    // values of it may be worth telling from the rest.
    // Single values are taken out, not whole ties: each one outside costs its description.
    void improve_split(const Labels& start) {
        const std::size_t I = groups_in(start);
        if (partiles_.n > kLarge && I > 2) return;
        for (std::size_t g = 0; g < I; ++g) {
            MovableGroups groups(partiles_, start, prior_, true);
            if (!groups.isolate(g)) continue;
            if (I == 1 && !groups.isolate(0)) continue;
            if (groups.count() > 2) finish(groups, partiles_, each_, true);
        }
    }
    static std::size_t groups_in(Labels label) { return renumber(label); }
    void finish(MovableGroups& groups, const Items& items, const Labels& item, bool garbage) {
        groups.move_items(passes());
        // Without garbage ties stay together in the best solution: single moves add nothing.
        if (!garbage || items.n == partiles_.n) return polish(groups, item, garbage);
        keep(groups.cost(), garbage, expand(groups.labels(), item));
        MovableGroups single(partiles_, expand(groups.labels(), item), prior_, garbage);
        single.move_items(passes());
        polish(single, each_, garbage);
    }
    void polish(MovableGroups& groups, const Labels& item, bool garbage) {
        double best = groups.cost();
        keep(best, garbage, expand(groups.labels(), item));
        const std::size_t fewest = garbage ? 4 : 3;
        for (int vain = 0; vain < 3 && groups.count() >= fewest && groups.count() <= kForcible;
             ++vain) {
            groups.force_merge();
            groups.move_items(passes());
            const double cost = groups.cost();
            if (cost < best - kGain) {
                best = cost;
                keep(best, garbage, expand(groups.labels(), item));
                vain = -1;
            }
        }
    }
    std::size_t passes() const { return partiles_.n > kLarge ? 10 : 100; }

    const Items& partiles_;
    const GroupPrior& prior_;
    double rows_, budget_;
    Labels each_;  // every partile its own item
    Grouped found_;
    bool proven_ = false;           // the optimum without garbage is known
    double garbage_bound_ = kNever;  // no partition with garbage costs less
};

}  // namespace bayesieve
