// Branch and bound for two classes, best bound first, as solvers/_branch.py does it for any number
// of classes: that search is the plain twin, and every rule here has its reason there.
//
// Candidates are positions in the arrays of the root. A subproblem keeps which of them are free and
// which are chosen; gains are those of the root's anchor, or computed anew at an anchor of its own
// where rounding needs one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "divergence.h"
#include "kernel.h"
#include "runtime.h"
#include "two_class_relaxation.h"

namespace bayesieve::two_classes {

using Position = std::uint32_t;

// Candidate columns, as in Block of solvers/_block.py; values are raised by their doubt.
struct Candidates {
    const double *value, *doubt, *f0, *f1;
    const std::int64_t *columns, *groups;
    std::size_t n;
    std::vector<std::int64_t> chosen;  // columns that are in every support
    double largest, together;          // no total is larger than this, nor all of them
    bool positive;                     // whether no class can be missing
};

// When bounds are close enough, and when to stop.
struct Tolerances {
    double dual, branch, anchor, prune;
    std::int64_t evaluations, anchors, rounding_nodes;
    double nodes;
};

struct Shares {
    double first, second;

    // Off the boundary, where gains are infinite.
    Shares interior() const {
        const double total = first + second;
        if (!(total > 0.0)) return {0.5, 0.5};
        const Shares one{first / total, second / total};
        if (one.first > 0.0 && one.second > 0.0) return one;
        return {0.999 * one.first + 0.0005, 0.999 * one.second + 0.0005};
    }
};

// Where the gains of a subproblem are taken, and what the chosen columns are worth there.
struct Place {
    Anchor anchor;
    bool is_root;
    double chosen_value, chosen_doubt;
};

struct Subproblem {
    std::vector<Position> free, chosen;
    std::int64_t k;
    Place place;
    double chosen0, chosen1;
    Shares shares;  // where its relaxation starts

    // Whether only one choice of k candidates is worth a look: all, or none.
    bool is_settled() const {
        return k <= 0 || k >= static_cast<std::int64_t>(free.size());
    }
};

struct Node {
    Subproblem part;
    double bound;      // what none of its supports exceeds
    std::size_t pick;  // place of the candidate to branch on, unless it is settled
};

// The best support so far and the levels a node must exceed.
struct Incumbent {
    std::vector<std::int64_t> columns;
    double gain, doubt, others;
    bool is_leaf;

    double sure() const { return gain - doubt; }
    double level(std::int64_t nodes, const Tolerances& tolerances) const {
        const double near = tolerances.prune * std::fabs(gain);
        if (!(2.0 * doubt > near)) return gain + near;
        return nodes < tolerances.rounding_nodes ? sure() : gain + 2.0 * doubt;
    }
    void close(double bound) { others = std::max(others, bound); }
};

class Search {
public:
    Search(Candidates candidates, const Tolerances& tolerances, Incumbent best)
        : best(std::move(best)), all_(std::move(candidates)), tolerances_(tolerances) {}

    Incumbent best;
    std::int64_t nodes = 1;
    bool stopped = false;

    // From the root, whose relaxation has these gains.
    void run(Subproblem root, double upper, const std::vector<double>& gains, double floor,
             double following) {
        open_.reserve(64);
        push(made_node(std::move(root), upper, gains, floor, following));
        try {
            while (!open_.empty() && step()) {
            }
        } catch (const TimeLimitReached&) {  // bounds hold for what was not searched
            stopped = true;
        }
        for (const Entry& entry : open_) best.close(entry.bound);
        open_.clear();
        if (best.others <= best.sure()) {  // proven, also where a limit came at the same moment
            best.others = -kInfinity;
            stopped = false;
        }
    }

private:
    struct Entry {
        double bound;
        std::int64_t order;  // ties between bounds: first come, first served
        std::unique_ptr<Node> node;

        bool operator<(const Entry& other) const {
            return bound < other.bound || (bound == other.bound && order > other.order);
        }
    };

    // What relaxing a subproblem has found.
    struct Found {
        Place place;
        double upper, floor, following, best_gain, best_doubt;
        Shares shares;
        std::vector<double> gains;
        std::vector<std::int64_t> best;  // places among the free candidates
        bool has_choice;

        double sure() const { return best_gain - best_doubt; }
    };

    enum Role : char { kKeep, kChoose, kDrop };

    const Candidates all_;
    const Tolerances tolerances_;
    std::vector<Entry> open_;
    std::int64_t order_ = 0;
    Relaxation relaxation_{};
    Found found_{};
    std::vector<double> value_, doubt_, f0_, f1_;  // of the free candidates
    std::vector<Role> role_;

    // Branches on the node of largest bound; false where the search ends.
    bool step() {
        const Node& node = *open_.front().node;
        const bool settled = node.part.is_settled();
        if (node.bound <= best.level(nodes, tolerances_) && !settled) return false;
        if (static_cast<double>(nodes) >= tolerances_.nodes) {
            stopped = true;
            return false;
        }
        poll();
        std::unique_ptr<Node> with, without;
        if (settled) {
            Subproblem leaf = node.part;
            if (leaf.k <= 0) leaf.free.clear();
            leaf.k = std::max<std::int64_t>(leaf.k, 0);
            with = bounded(std::move(leaf), node.bound);
        } else {
            const std::vector<Position>& free = node.part.free;
            const std::int64_t group = all_.groups[free[node.pick]];
            role_.assign(free.size(), kKeep);
            std::int64_t before = 0;
            for (std::size_t i = 0; i <= node.pick; ++i)
                if (all_.groups[free[i]] == group) {
                    role_[i] = kChoose;
                    ++before;
                }
            if (before <= node.part.k) with = bounded(taken(node.part), node.bound);
            role_.assign(free.size(), kKeep);
            std::int64_t left = static_cast<std::int64_t>(node.pick);
            for (std::size_t i = node.pick; i < free.size(); ++i)
                if (all_.groups[free[i]] == group) role_[i] = kDrop;
                else ++left;
            if (node.part.k <= left) without = bounded(taken(node.part), node.bound);
        }
        std::pop_heap(open_.begin(), open_.end());
        open_.pop_back();
        keep(std::move(with));
        keep(std::move(without));
        return true;
    }

    void keep(std::unique_ptr<Node> node) {
        if (!node) return;
        if (node->bound <= best.level(nodes, tolerances_) && !node->part.is_settled())
            best.close(node->bound);
        else push(std::move(node));
    }

    void push(std::unique_ptr<Node> node) {
        const double bound = node->bound;
        open_.push_back({bound, order_++, std::move(node)});
        std::push_heap(open_.begin(), open_.end());
    }

    // A part of a node with bounds of its own; nothing if it has no better support.
    std::unique_ptr<Node> bounded(Subproblem part, double ceiling) {
        relax(part, best.level(0, tolerances_));
        ++nodes;
        offer(part);
        if (found_.upper <= best.sure() || !found_.has_choice) return nullptr;
        part.place = found_.place;
        part.shares = found_.shares;
        reduce(part);
        return made_node(std::move(part), std::min(found_.upper, ceiling), found_.gains,
                         found_.floor, found_.following);
    }

    std::unique_ptr<Node> made_node(Subproblem part, double bound,
                                    const std::vector<double>& gains, double floor,
                                    double following) const {
        const std::size_t pick = part.is_settled() ? 0 : nearest(gains, part.k, floor, following);
        return std::make_unique<Node>(Node{std::move(part), bound, pick});
    }

    // The candidate nearest the threshold; of equal ones, that where the k largest end.
    static std::size_t nearest(const std::vector<double>& gains, std::int64_t k, double floor,
                               double following) {
        const double threshold = 0.5 * (floor + following);
        double least = kInfinity;
        std::size_t first = 0;
        std::int64_t alike = 0;
        for (std::size_t i = 0; i < gains.size(); ++i) {
            const double distance = std::fabs(gains[i] - threshold);
            if (distance < least) {
                least = distance;
                first = i;
                alike = 0;
            }
            alike += distance == least;
        }
        std::int64_t ahead = 0;
        for (const double h : gains) ahead += h > gains[first];
        std::int64_t rank = std::min(std::max<std::int64_t>(k - ahead - 1, 0), alike - 1);
        std::size_t pick = first;
        for (; rank > 0; --rank)
            do ++pick;
            while (std::fabs(gains[pick] - threshold) != least);
        return pick;
    }

    // Fixes candidates by their reduced cost; the gains found shrink alike.
    void reduce(Subproblem& part) {
        const double slack = std::max(0.0, found_.upper - best.sure());
        role_.assign(part.free.size(), kKeep);
        std::size_t left = 0;
        for (std::size_t i = 0; i < role_.size(); ++i) {
            const double h = found_.gains[i];
            if (h - found_.following > slack) role_[i] = kChoose;
            else if (found_.floor - h > slack) role_[i] = kDrop;
            else found_.gains[left++] = h;
        }
        if (left == role_.size()) return;
        found_.gains.resize(left);
        part = taken(part);
    }

    // The subproblem in which candidates have these roles.
    Subproblem taken(const Subproblem& part) const {
        Subproblem result{{}, part.chosen, part.k, part.place,
                          part.chosen0, part.chosen1, part.shares};
        const auto left = std::count(role_.begin(), role_.end(), kKeep);
        result.free.reserve(static_cast<std::size_t>(left));
        Sum value, doubt, s0, s1;
        Pace pace(std::size_t{1} << 16);
        for (std::size_t i = 0; i < role_.size(); ++i) {
            pace.spend(1);
            const Position at = part.free[i];
            if (role_[i] == kKeep) result.free.push_back(at);
            if (role_[i] != kChoose) continue;
            const auto [raised, away] = gain_at(part.place, at);
            value.add(raised);
            doubt.add(away);
            s0.add(all_.f0[at]);
            s1.add(all_.f1[at]);
            result.chosen.push_back(at);
            --result.k;
        }
        result.place.chosen_value += value.get();
        result.place.chosen_doubt += doubt.get();
        result.chosen0 += s0.get();
        result.chosen1 += s1.get();
        return result;
    }

    // Gain of a candidate at an anchor, raised by its doubt, and that.
    std::pair<double, double> gain_at(const Place& place, Position at) const {
        if (place.is_root) return {all_.value[at], all_.doubt[at]};
        const double total = all_.f0[at] + all_.f1[at];
        Divergence h;
        if (place.anchor.a > 0.0) h.add(all_.f0[at], place.anchor.a * total);
        if (place.anchor.b > 0.0) h.add(all_.f1[at], place.anchor.b * total);
        const double away = h.doubt(total, 2.0);
        return {h.sum + away, away};
    }

    // Makes the free candidates of a subproblem ready to be relaxed.
    void load(const Subproblem& part) {
        const std::size_t n = part.free.size();
        for (auto* array : {&value_, &doubt_, &f0_, &f1_}) array->resize(n);
        Pace pace(std::size_t{1} << 16);
        for (std::size_t i = 0; i < n; ++i) {
            pace.spend(1);
            std::tie(value_[i], doubt_[i]) = gain_at(part.place, part.free[i]);
            f0_[i] = all_.f0[part.free[i]];
            f1_[i] = all_.f1[part.free[i]];
        }
        Relaxation& r = relaxation_;
        r.value = value_.data();
        r.doubt = doubt_.data();
        r.f0 = f0_.data();
        r.f1 = f1_.data();
        r.n = n;
        r.k = static_cast<std::size_t>(part.k);
        r.chosen_value = part.place.chosen_value;
        r.chosen_doubt = part.place.chosen_doubt;
        r.chosen0 = part.chosen0;
        r.chosen1 = part.chosen1;
        r.anchor = part.place.anchor;
        r.weight = std::min(static_cast<double>(part.k) * all_.largest, all_.together) +
                   (part.chosen0 + part.chosen1);
    }

    // The same subproblem with another anchor, ready to be relaxed.
    void anchor_at(Subproblem& part, const Shares& shares) {
        Place& place = part.place;
        const double total = part.chosen0 + part.chosen1;
        Divergence before, after;
        before.add(part.chosen0, place.anchor.a * total);
        before.add(part.chosen1, place.anchor.b * total);
        after.add(part.chosen0, shares.first * total);
        after.add(part.chosen1, shares.second * total);
        const double size = place.chosen_value + before.sum + after.sum;
        const double units = (kRounding + 2.0) * kUnit;
        const double more = units * (before.sum + before.away) +
                            units * (after.sum + after.away) + 4.0 * kUnit * size;
        place = {{shares.first, shares.second},
                 false,
                 place.chosen_value - before.sum + after.sum + more,
                 place.chosen_doubt + more};
        load(part);
    }

    // Whether both classes have any count among the chosen columns and the candidates.
    bool both_classes_live(const Subproblem& part) const {
        if (all_.positive && !part.free.empty()) return true;
        const auto any = [](const std::vector<double>& f) {
            return std::any_of(f.begin(), f.end(), [](double x) { return x > 0.0; });
        };
        return (part.chosen0 > 0.0 || any(f0_)) && (part.chosen1 > 0.0 || any(f1_));
    }

    // Bounds a subproblem, at other anchors too where rounding asks for them.
    void relax(Subproblem& part, double good_enough) {
        load(part);
        const bool both = both_classes_live(part);
        if (part.is_settled() || !both) {
            relax_without_choice(part, both);
            return;
        }
        Relaxation& r = relaxation_;
        Shares start = part.shares.interior();
        double rough = kInfinity;
        for (std::int64_t tried = 0; tried < tolerances_.anchors; ++tried) {
            const Anchor anchor = part.place.anchor;
            r.restart();
            minimise(r, first_step(anchor, start), good_enough, tolerances_.dual,
                     tolerances_.branch, tolerances_.evaluations, kInfinity);
            const auto [gain, doubt] = r.gain_with_doubt(r.best);
            const Shares shares{anchor.a + r.step_at_upper, anchor.b - r.step_at_upper};
            const bool lower = tried == 0 || r.upper < found_.upper;
            const bool better = lower ? tried == 0 || !(found_.sure() > gain - doubt)
                                      : gain - doubt > found_.sure();
            if (lower) {
                found_.place = part.place;
                found_.upper = r.upper;
                found_.floor = r.floor;
                found_.following = r.following;
                found_.shares = shares;
                found_.gains.swap(r.gains_at_upper);
            }
            if (better) {
                found_.best_gain = gain;
                found_.best_doubt = doubt;
                found_.best.swap(r.best);
            }
            const double before = rough;
            rough = r.margin_at_upper + doubt;
            if (rough <= tolerances_.anchor * gain || rough > 0.5 * before ||
                r.upper <= good_enough ||
                (shares.first == anchor.a && shares.second == anchor.b))
                break;
            start = shares.interior();
            anchor_at(part, start);
        }
        found_.has_choice = true;
    }

    static double first_step(const Anchor& anchor, const Shares& start) {
        const double within = 1.0 - 2.0 * kUnit;
        // From the smaller class, whose share is the more accurate one; a share may round to
        // zero, but its logarithm must stay finite.
        const double step =
            anchor.a <= anchor.b ? start.first - anchor.a : anchor.b - start.second;
        return std::min(std::max(step, -anchor.a * within), anchor.b * within);
    }

    // All or none are taken, or one class has all counts and every gain is zero.
    void relax_without_choice(Subproblem& part, bool both) {
        const std::size_t n = part.free.size();
        const std::size_t k = std::min(static_cast<std::size_t>(part.k), n);
        found_.best.resize(k);
        std::iota(found_.best.begin(), found_.best.end(), std::int64_t{0});
        double gain = 0.0, doubt = 0.0;
        // One column, or none, gains nothing.
        if (both && all_.chosen.size() + part.chosen.size() + k > 1) {
            std::tie(gain, doubt) = relaxation_.gain_with_doubt(found_.best);
            if (doubt > tolerances_.anchor * gain) {
                Sum s0, s1;
                for (std::size_t i = 0; i < k; ++i) {
                    s0.add(f0_[i]);
                    s1.add(f1_[i]);
                }
                const double first = part.chosen0 + s0.get(), second = part.chosen1 + s1.get();
                const double total = first + second;
                anchor_at(part, total > 0.0 ? Shares{first / total, second / total}
                                            : part.shares);
                std::tie(gain, doubt) = relaxation_.gain_with_doubt(found_.best);
            }
        }
        found_.place = part.place;
        found_.shares = part.shares;
        found_.gains.assign(n, 0.0);
        found_.floor = found_.following = 0.0;
        found_.best_gain = gain;
        found_.best_doubt = doubt;
        found_.upper = gain + doubt;
        found_.has_choice = !part.is_settled();
    }

    // Takes the best support that was found if it is better.
    void offer(const Subproblem& part) {
        const double gain = found_.best_gain, doubt = found_.best_doubt;
        const bool leaf = !found_.has_choice;
        if (gain + doubt < best.sure()) return;
        std::vector<std::int64_t> columns = all_.chosen;
        columns.reserve(all_.chosen.size() + part.chosen.size() + found_.best.size());
        for (const Position at : part.chosen) columns.push_back(all_.columns[at]);
        for (const std::int64_t i : found_.best)
            columns.push_back(all_.columns[part.free[static_cast<std::size_t>(i)]]);
        std::sort(columns.begin(), columns.end());
        if (columns == best.columns) {
            best.is_leaf = best.is_leaf || leaf;
            if (gain - doubt > best.sure()) {
                best.gain = gain;
                best.doubt = doubt;
            }
        } else if (gain > best.gain && gain - doubt >= best.sure()) {
            // Nodes were closed because of what is sure: that must not fall.
            if (best.is_leaf) best.close(best.gain + best.doubt);  // nobody else speaks for it
            best = {std::move(columns), gain, doubt, best.others, leaf};
        } else if (leaf) {
            best.close(found_.upper);
        }
    }
};

}  // namespace bayesieve::two_classes
