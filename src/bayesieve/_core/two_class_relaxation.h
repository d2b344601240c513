// The relaxation for two classes: minimise over class shares (a + t, b - t) the function
//
//   s_k(h(t)) + chosen,   h_i(t) = v_i - f0_i log(1 + t/a) - f1_i log(1 - t/b),
//
// where s_k sums the k largest and v_i is the gain at the anchor (a, b), t = 0. Near the anchor
// nothing cancels; what rounding may add elsewhere is part of the upper bound.
// The minimum is bracketed; every set of k largest is an atom,
// a curve that bounds s_k from below everywhere, and the next point is the minimum of the
// current atom where that lies inside the bracket, else where the atoms of both ends cross.
// Solving thousands of paths in cross-validation is this loop on a few thousand columns, so
// it is compiled; the plain twin is in tests/core.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "divergence.h"
#include "runtime.h"

namespace bayesieve::two_classes {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSumUnits = 80.0;  // rounding of a sum of k values, and one for each run of 64
constexpr int kFreeSteps = 40;  // evaluations before an atom's own minimum is no longer tried

// Where the gains v_i are taken: the class shares at step 0.
struct Anchor {
    double a, b;

    double log0(double step) const { return std::log1p(step / a); }
    double log1(double step) const { return std::log1p(-step / b); }
    // By how much the logarithms at a step err, in units in the last place: their size, and
    // what is lost where a share shrinks to a fraction.
    double roughness(double step) const {
        if (step == 0.0) return 0.0;
        const double shrunk = std::max(a / (a + step), b / (b - step));
        return std::max(std::fabs(log0(step)), std::fabs(log1(step))) + shrunk - 1.0;
    }
};

struct Atom {
    double value = 0.0, s0 = 0.0, s1 = 0.0, own_gain = 0.0, own_step = 0.0;

    double at(const Anchor& anchor, double step) const {
        return value - (s0 * anchor.log0(step) + s1 * anchor.log1(step));
    }
    void find_own(const Anchor& anchor) {
        const double total = s0 + s1;
        // From the smaller class, whose share is the more accurate one.
        own_step = anchor.a <= anchor.b ? s0 / total - anchor.a : anchor.b - s1 / total;
        own_gain = value - bayesieve::divergence(s0, anchor.a * total) -
                   bayesieve::divergence(s1, anchor.b * total);
    }
};

// Sums in runs of 64 keep the rounding of long sums small.
struct Sum {
    double total = 0.0, run = 0.0;
    int length = 0;
    void add(double x) {
        run += x;
        if (++length == 64) {
            total += run;
            run = 0.0;
            length = 0;
        }
    }
    double get() const { return total + run; }
};

class Relaxation {
public:
    const double *value, *doubt, *f0, *f1;
    std::size_t n, k;
    double chosen_value, chosen_doubt, chosen0, chosen1;
    Anchor anchor;
    double weight;  // at least the sum of all counts of a support

    double upper, lower, step_at_upper, margin_at_upper, floor, following, best_gain;
    std::int64_t evaluations;
    std::vector<double> gains, gains_at_upper, scratch;
    std::vector<std::int64_t> positions, best;

    // k-th and (k+1)-th largest gain. From the second time on the k-th is nearly known:
    // only the gains around it are partitioned.
    void select(double& kth, double& next) {
        if (evaluations > 0 && try_window(kth, next)) return;
        scratch = gains;
        std::nth_element(scratch.begin(), scratch.begin() + (k - 1), scratch.end(),
                         std::greater<double>());
        kth = scratch[k - 1];
        next = *std::max_element(scratch.begin() + k, scratch.end());
    }

    bool try_window(double& kth, double& next) {
        const double low = 0.95 * last_kth, high = 1.05 * last_kth;
        std::size_t above = 0;
        double below = -kInfinity;
        scratch.clear();
        for (const double h : gains) {
            if (h > high) ++above;
            else if (h >= low) scratch.push_back(h);
            else below = std::max(below, h);
        }
        if (above >= k || above + scratch.size() < k) return false;
        const std::size_t rank = k - above;  // within the window, from the largest
        std::nth_element(scratch.begin(), scratch.begin() + (rank - 1), scratch.end(),
                         std::greater<double>());
        kth = scratch[rank - 1];
        next = rank < scratch.size()
                   ? *std::max_element(scratch.begin() + rank, scratch.end())
                   : below;
        return true;
    }

    Atom evaluate(double step) {
        const double log0 = anchor.log0(step), log1 = anchor.log1(step);
        for_each_stretch(n, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const double h = value[i] - f0[i] * log0 - f1[i] * log1;
                gains[i] = h > 0.0 ? h : 0.0;
            }
        });
        double kth, next;
        select(kth, next);
        poll();
        last_kth = kth;
        positions.clear();
        std::size_t above = 0;  // ties go to the lowest positions
        if (next == kth)
            for (const double h : gains) above += h > kth;
        std::size_t ties = next == kth ? k - above : n;
        Sum v, s0, s1;
        for (std::size_t i = 0; i < n; ++i) {
            if (gains[i] < kth) continue;
            if (gains[i] == kth) {
                if (ties == 0) continue;
                --ties;
            }
            positions.push_back(static_cast<std::int64_t>(i));
            v.add(value[i]);
            s0.add(f0[i]);
            s1.add(f1[i]);
        }
        Atom atom;
        atom.value = chosen_value + v.get();
        atom.s0 = chosen0 + s0.get();
        atom.s1 = chosen1 + s1.get();
        atom.find_own(anchor);
        const double margin = 8.0 * kUnit * weight * anchor.roughness(step);
        const double here =
            std::max(atom.value - (atom.s0 * log0 + atom.s1 * log1), atom.own_gain) + margin;
        if (here < upper) {
            upper = here;
            margin_at_upper = margin;
            step_at_upper = step;
            gains_at_upper = gains;
            floor = kth;
            following = next;
        }
        if (atom.own_gain > best_gain) {
            best_gain = atom.own_gain;
            best = positions;
            lower = std::max(lower, best_gain);
        }
        ++evaluations;
        return atom;
    }

    // Forgets what was found, for another minimisation.
    void restart() {
        upper = kInfinity;
        lower = best_gain = -kInfinity;
        step_at_upper = margin_at_upper = floor = following = last_kth = 0.0;
        evaluations = 0;
        gains.resize(n);
        best.clear();
    }

    // Gain of a set without the doubts it was raised by, and how far rounding may have moved it:
    // those doubts, that of its own divergence and that of the sums.
    std::pair<double, double> gain_with_doubt(const std::vector<std::int64_t>& set) const {
        Sum v, d, s0, s1;
        for (const std::int64_t i : set) {
            v.add(value[i]);
            d.add(doubt[i]);
            s0.add(f0[i]);
            s1.add(f1[i]);
        }
        const double sum0 = chosen0 + s0.get(), sum1 = chosen1 + s1.get(), total = sum0 + sum1;
        Divergence less;
        less.add(sum0, anchor.a * total);
        less.add(sum1, anchor.b * total);
        const double raised = chosen_value + v.get(), lift = chosen_doubt + d.get();
        const double units = kSumUnits + static_cast<double>(set.size()) / 64.0;
        return {std::max(raised - lift - less.sum, 0.0),
                lift + (kRounding + 2.0) * kUnit * (less.sum + less.away) +
                    units * kUnit * (raised + less.sum)};
    }

private:
    double last_kth;
};

// Minimises the larger of two atoms inside the bracket. The left one lies above at `low`, the
// right one at `high`; each is convex, so its least value on its side of their crossing is at
// its own minimum or at the crossing.
inline std::pair<double, double> crossing(const Anchor& anchor, const Atom& left, const Atom& right,
                                          double low, double high) {
    const double shift = left.value - right.value;
    const double d0 = left.s0 - right.s0, d1 = left.s1 - right.s1;
    double a = low, b = high;
    for (int halving = 0; halving < 100; ++halving) {
        const double middle = 0.5 * (a + b);
        if (!(a < middle && middle < b)) break;
        if (shift - d0 * anchor.log0(middle) - d1 * anchor.log1(middle) > 0.0) a = middle;
        else b = middle;
    }
    const double x_left = std::min(left.own_step, b), x_right = std::max(right.own_step, a);
    const double on_left = left.at(anchor, x_left), on_right = right.at(anchor, x_right);
    return on_left <= on_right ? std::pair{x_left, on_left} : std::pair{x_right, on_right};
}

inline void minimise(Relaxation& r, double step, double good_enough, double tolerance,
                     double branch_tolerance, std::int64_t most, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    auto done = [&] {
        double allowed = std::max(tolerance * std::fabs(r.upper), 2.0 * r.margin_at_upper);
        if (r.lower > good_enough && good_enough > -kInfinity)
            allowed = std::max(allowed, branch_tolerance * (r.lower - good_enough));
        return r.upper - r.lower <= allowed || r.upper <= good_enough ||
               r.evaluations >= most ||
               (seconds < kInfinity &&
                std::chrono::duration<double>(Clock::now() - begin).count() > seconds);
    };
    double low = -r.anchor.a, high = r.anchor.b;
    bool has_left = false, has_right = false;
    Atom left, right;
    while (true) {
        const Atom atom = r.evaluate(step);
        const double target = atom.own_step;
        if (target > step) {
            low = step;
            left = atom;
            has_left = true;
        } else if (target < step) {
            high = step;
            right = atom;
            has_right = true;
        } else {
            r.lower = r.upper;  // the slope is zero: this is the minimum
        }
        if (done()) return;
        if (low < target && target < high && r.evaluations < kFreeSteps) {
            step = target;
            continue;
        }
        if (has_left && has_right) {
            const auto [where, bound] = crossing(r.anchor, left, right, low, high);
            step = where;
            r.lower = std::max(r.lower, std::min(bound, r.upper));
            if (done()) return;
        } else {
            step = 0.5 * (low + high);
        }
        if (!(low < step && step < high)) {  // neighbouring numbers: nothing in between
            r.lower = r.upper;
            return;
        }
    }
}

}  // namespace bayesieve::two_classes
