// A bound for many classes with columns of their own. With B_c the counts of class c on a
// support T of k candidates and the chosen columns, B their sum and r any positive number,
//
//   gain(T) = sum_T v_i + B log(B / r) + sum_c g_c(B_c),   g_c(t) = -t log(t / (a_c r)),
//
// where v_i is the gain at the anchor a. The relaxation lets a fraction of a column have the
// steep part of g_c near zero, which no support reaches. So split the candidates of each class
// into a few large ones and small ones. With j large ones the large counts L and the small ones
// n lie in intervals, and for any slopes y, z and step u of the class
//
//   g_c(s_c + L + n) <= y n + z L + u j + M_c,
//   M_c = max over j, L, n of g_c(s_c + L + n) - y n - z L - u j,
//
// s_c being the counts of the chosen columns. The convex B log(B / r) has its largest value above
// a line of slope b at an end of its interval. Together that is a constant and a score of each
// candidate; the k largest scores bound every support. Good lines are found by subgradient steps
// towards a level; then the intervals shrink to what supports of that level can reach, which
// their scores tell, and the lines are adapted once more. The last word is an evaluation that
// holds for any lines, with its rounding added. The plain twin is in tests/core.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "divergence.h"
#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::DoubleArray;
using bayesieve::Table;
using bayesieve::TableArray;
using bayesieve::to_numpy;
using bayesieve::to_table;
using bayesieve::Vector;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Large are the candidates above the widest gap among the largest counts of a class, if the gap
// is such a share of the largest.
constexpr std::size_t kMostLarge = 8;
constexpr double kLeastGap = 0.2;
// Steps: how much of the last direction is kept; after how many steps without progress they
// shorten, and when they end.
constexpr double kMomentum = 0.7;
constexpr int kPatience = 20;
constexpr double kShorter = 0.7;
constexpr double kShortest = 1e-3;
// Weights of the scores that are tried to shrink an interval, in units of its width over their
// spread.
constexpr double kFirstWeight = 0.05, kLastWeight = 20.0, kWeightRatio = 3.0;

struct Interval {
    double low = 0.0, high = 0.0;

    double width() const { return high - low; }
    double middle() const { return 0.5 * (low + high); }
    bool empty() const { return low > high; }
    double nearest(double x) const { return std::min(std::max(x, low), high); }
    // The largest value of slope * x.
    double most(double slope) const { return std::max(slope * low, slope * high); }
};

// What j large candidates may add to a class.
struct Choice {
    double j;
    Interval large, small;
};

struct ClassPart {
    double scale = 0.0;   // a_c r; 0 for a class without any count
    double chosen = 0.0;  // s_c
    std::vector<std::size_t> large, small;
    std::vector<Choice> choices;

    double height(double t) const { return t > 0.0 ? -t * std::log(t / scale) : 0.0; }
    // Any slope gives a line; a finite one at zero too.
    double slope(double t) const { return -std::log(std::max(t / scale, 1e-300)) - 1.0; }
};

// The lines of one class; of the last one, for all classes together, `small` is b.
struct Lines {
    double small = 0.0, large = 0.0, step = 0.0;
};

double sum_of_largest(std::vector<double>& values, std::size_t count) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
    if (count > 0 && count < values.size())
        std::nth_element(values.begin(), end, values.end(), std::greater<double>());
    return std::accumulate(values.begin(), end, 0.0);
}

class Envelope {
public:
    Envelope(const Table& counts, const Vector& value, const Vector& chosen_sums,
             const Vector& anchor, double chosen_value, std::size_t k)
        : K(counts.shape(0)), n(counts.shape(1)), k(k), f(counts.data()), v(value.data()),
          chosen_value(chosen_value), parts(K), total(n, 0.0), score(n), by_column(K * n) {
        double shares = 0.0;
        for (std::size_t c = 0; c < K; ++c) {
            bayesieve::poll();
            for (std::size_t i = 0; i < n; ++i) {
                total[i] += f[c * n + i];
                by_column[i * K + c] = f[c * n + i];
            }
            chosen_total += chosen_sums(c);
            shares += anchor(c);
        }
        missing_share = std::fabs(shares - 1.0) + 2.0 * static_cast<double>(K) * bayesieve::kUnit;
        std::vector<double> sorted(total);
        std::sort(sorted.begin(), sorted.end());
        whole = widened(sums_from(sorted.begin(), k)[k], sums_from(sorted.rbegin(), k)[k]);
        whole.low += chosen_total * (1.0 - rounding());
        whole.high += chosen_total * (1.0 + rounding());
        reference = whole.middle();
        for (std::size_t c = 0; c < K; ++c) {
            bayesieve::poll();
            parts[c].scale = anchor(c) * reference;
            parts[c].chosen = chosen_sums(c);
            split(c);
        }
    }

    // Lines through the middle of the choices next to a support of equal parts of all candidates.
    std::vector<Lines> start() const {
        std::vector<Lines> lines(K + 1);
        const double share = static_cast<double>(k) / static_cast<double>(n);
        for (std::size_t c = 0; c < K; ++c) {
            const ClassPart& part = parts[c];
            if (!(part.scale > 0.0)) continue;
            const double expected = share * static_cast<double>(part.large.size());
            std::size_t at = 0;
            while (at + 2 < part.choices.size() && part.choices[at + 1].j <= expected) ++at;
            const Choice& less = part.choices[at];
            const double t = part.chosen + less.small.middle() + less.large.middle();
            Lines& line = lines[c];
            line.small = line.large = part.slope(t);
            if (at + 1 == part.choices.size()) continue;
            const Choice& more = part.choices[at + 1];
            const double large = more.large.middle() - less.large.middle();
            const double small = more.small.middle() - less.small.middle();
            line.large = part.slope(t + large + small);
            line.step = part.height(t + large + small) - part.height(t) - line.large * large -
                        line.small * small;
        }
        const double at_low = of_total(whole.low), at_high = of_total(whole.high);
        lines[K].small = whole.width() > 0.0 ? (at_high - at_low) / whole.width() : 1.0;
        return lines;
    }

    // Steps towards the level; the best lines met.
    std::vector<Lines> descend(std::vector<Lines> lines, double level, std::int64_t most) {
        std::vector<Lines> gradient, direction(K + 1), best_lines = lines;
        const std::vector<Lines> scale = step_scales();
        double best = kInfinity, length = 1.0;
        int waiting = 0;
        for (std::int64_t evaluation = 0; evaluation < most; ++evaluation) {
            bayesieve::poll();
            double bound = evaluate(lines, gradient);
            waiting = bound < best - 1e-4 * (best - level) ? 0 : waiting + 1;
            if (bound < best) {
                best = bound;
                best_lines = lines;
            }
            if (best <= level) break;
            if (waiting > kPatience) {
                waiting = 0;
                length *= kShorter;
                if (length < kShortest) break;
                lines = best_lines;
                bound = evaluate(lines, gradient);
                std::fill(direction.begin(), direction.end(), Lines());
            }
            double norm = 0.0;
            for (std::size_t c = 0; c <= K; ++c) {
                Lines& d = direction[c];
                const Lines &g = gradient[c], &s = scale[c];
                d = {g.small + kMomentum * d.small, g.large + kMomentum * d.large,
                     g.step + kMomentum * d.step};
                norm += s.small * d.small * d.small + s.large * d.large * d.large +
                        s.step * d.step * d.step;
            }
            if (!(norm > 0.0)) break;  // the minimum
            const double step = length * (bound - level) / norm;
            for (std::size_t c = 0; c <= K; ++c) {
                const Lines &d = direction[c], &s = scale[c];
                lines[c].small -= step * s.small * d.small;
                lines[c].large -= step * s.large * d.large;
                lines[c].step -= step * s.step * d.step;
            }
        }
        return best_lines;
    }

    // The bound of these lines, and the part of it that rounding may have hidden. Every line
    // d t + a_c r exp(-1 - d) lies above g_c, so it holds whatever point M_c was looked for at.
    std::pair<double, double> bound(const std::vector<Lines>& lines) {
        double sum = score_all(lines) + constant(lines[K].small);
        const double b = std::fabs(lines[K].small);
        std::vector<double> terms(n);  // the sizes of what a score is the sum of
        for (std::size_t i = 0; i < n; ++i) {
            terms[i] = std::fabs(v[i]) + b * total[i];
            for (std::size_t c = 0; c < K; ++c)
                terms[i] += by_column[i * K + c] *
                            std::max(std::fabs(lines[c].small), std::fabs(lines[c].large));
        }
        for (std::size_t c = 0; c < K; ++c)
            for (const std::size_t i : parts[c].large) terms[i] += std::fabs(lines[c].step);
        const double widest = *std::max_element(terms.begin(), terms.end());
        double size = static_cast<double>(k) * widest + std::fabs(chosen_value) +
                      std::fabs(of_total(whole.low)) + std::fabs(of_total(whole.high)) +
                      (1.0 + b) * (whole.high + chosen_total);
        for (std::size_t c = 0; c < K; ++c) {
            const ClassPart& part = parts[c];
            if (!(part.scale > 0.0)) continue;
            const Lines& line = lines[c];
            const Peak peak(part, line);
            double best = -kInfinity, largest = 0.0;
            for (const Choice& choice : part.choices) {
                const auto [large, small] = peak.of(choice);
                const double d = part.slope(part.chosen + large + small), steep = 1.0 + std::fabs(d);
                const double tip = part.scale * std::exp(-1.0 - d);
                best = std::max(best, tip + d * part.chosen + choice.large.most(d - line.large) +
                                          choice.small.most(d - line.small) - line.step * choice.j);
                largest = std::max(
                    largest, (1.0 + steep) * tip + steep * part.chosen +
                                 (steep + std::fabs(line.large)) * choice.large.high +
                                 (steep + std::fabs(line.small)) * choice.small.high +
                                 std::fabs(line.step) * choice.j);
            }
            sum += best;
            size += largest;
        }
        // A score is rounded three times for each class, a sum once for each of its terms.
        const double units = static_cast<double>(4 * K + k + 32);
        const double margin = units * bayesieve::kUnit * size + missing_share * whole.high;
        return {sum + margin, margin};
    }

    // After bound(): supports of at least this level have scores whose sum misses that of the k
    // largest by no more than the bound exceeds the level. The intervals shrink to what they can
    // reach; false if there are none.
    bool tighten(double upper, double margin, double level) {
        std::vector<double> beyond(n);
        double spread = 0.0, least = level - upper - 2.0 * margin;
        for (std::size_t i = 0; i < n; ++i) {
            beyond[i] = score[i] - kth;
            spread = std::max(spread, std::fabs(beyond[i]));
        }
        for (const std::size_t i : top) least += beyond[i];
        if (!(spread > 0.0)) return true;
        Reach reach{spread, least, static_cast<double>(k), rounding(), {}, {}};
        for (std::size_t c = 0; c < K; ++c) {
            ClassPart& part = parts[c];
            if (!(part.scale > 0.0)) continue;
            reach.gather(f + c * n, beyond, part.small, part.large);
            std::vector<Choice> kept;
            for (Choice choice : part.choices) {
                const auto j = static_cast<std::size_t>(choice.j);
                if (!reach.shrink(choice.small, choice.large, k - j, j)) continue;
                kept.push_back(choice);
            }
            if (kept.empty()) return false;
            part.choices = std::move(kept);
        }
        std::vector<std::size_t> all(n);
        std::iota(all.begin(), all.end(), std::size_t{0});
        reach.gather(total.data(), beyond, all, {});
        Interval added{whole.low - chosen_total, whole.high - chosen_total}, nothing;
        if (!reach.shrink(added, nothing, k, 0)) return false;
        whole = {std::max(whole.low, added.low + chosen_total * (1.0 - rounding())),
                 std::min(whole.high, added.high + chosen_total * (1.0 + rounding()))};
        return !whole.empty();
    }

    const std::size_t K, n, k;
    double kth = 0.0, next = 0.0;
    const std::vector<double>& scores() const { return score; }

private:
    // Candidates of one kind: their counts, and their scores beyond the k-th largest.
    struct Kind {
        std::vector<double> counts, beyond, scratch;

        // The largest sum of sign * count + weight * beyond over so many of them.
        double most(double sign, double weight, std::size_t count) {
            bayesieve::poll();
            scratch.resize(counts.size());
            for (std::size_t q = 0; q < counts.size(); ++q)
                scratch[q] = weight * beyond[q] + sign * counts[q];
            return sum_of_largest(scratch, count);
        }
    };
    // Which sums of counts are reached with scores of no less than `least` in sum: for any weight
    // w >= 0, sum counts <= max over supports of (sum counts + w * scores) - w * least.
    struct Reach {
        double spread, least, k, rounding;
        Kind small, large;

        void gather(const double* row, const std::vector<double>& beyond,
                    const std::vector<std::size_t>& small_ones,
                    const std::vector<std::size_t>& large_ones) {
            for (auto [kind, ones] : {std::pair{&small, &small_ones}, std::pair{&large, &large_ones}}) {
                kind->counts.clear();
                kind->beyond.clear();
                for (const std::size_t i : *ones) {
                    kind->counts.push_back(row[i]);
                    kind->beyond.push_back(beyond[i]);
                }
            }
        }
        bool shrink(Interval& of_small, Interval& of_large, std::size_t smalls,
                    std::size_t larges) {
            const double scores = k * spread * (1.0 + rounding);
            if (small.most(0.0, 1.0, smalls) + large.most(0.0, 1.0, larges) <
                least - rounding * (scores + std::fabs(least)))
                return false;
            const double counts = of_small.high + of_large.high;
            auto within = [&](Interval& interval, double to_small, double to_large) {
                const double unit = interval.width() / spread;
                if (!(unit > 0.0)) return;
                for (double w = kFirstWeight * unit; w < kLastWeight * unit; w *= kWeightRatio) {
                    const double error = rounding * (counts + w * (scores + std::fabs(least)));
                    const double high = small.most(to_small, w, smalls) +
                                        large.most(to_large, w, larges) - w * least + error;
                    const double low = -small.most(-to_small, w, smalls) -
                                       large.most(-to_large, w, larges) + w * least - error;
                    interval = {std::max(interval.low, low), std::min(interval.high, high)};
                }
            };
            within(of_small, 1.0, 0.0);
            within(of_large, 0.0, 1.0);
            return !of_small.empty() && !of_large.empty();
        }
    };

    double rounding() const { return 2.0 * static_cast<double>(k + K + 4) * bayesieve::kUnit; }
    Interval widened(double low, double high) const {
        return {low * (1.0 - rounding()), high * (1.0 + rounding())};
    }
    template <class Iterator>
    static std::vector<double> sums_from(Iterator values, std::size_t count) {
        std::vector<double> sums(count + 1, 0.0);
        for (std::size_t q = 0; q < count; ++q, ++values) sums[q + 1] = sums[q] + *values;
        return sums;
    }

    void split(std::size_t c) {
        ClassPart& part = parts[c];
        const double* row = f + c * n;
        std::vector<std::size_t> order(n);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [row](std::size_t a, std::size_t b) {
            return row[a] > row[b] || (row[a] == row[b] && a < b);
        });
        std::vector<double> sorted(n);
        for (std::size_t q = 0; q < n; ++q) sorted[q] = row[order[q]];
        std::size_t size = 0;
        double widest = kLeastGap * sorted[0];
        for (std::size_t q = 1; q < n && q <= kMostLarge; ++q)
            if (sorted[q - 1] - sorted[q] > widest) {
                widest = sorted[q - 1] - sorted[q];
                size = q;
            }
        const auto edge = order.begin() + static_cast<std::ptrdiff_t>(size);
        part.large.assign(order.begin(), edge);
        part.small.assign(edge, order.end());
        std::sort(part.small.begin(), part.small.end());
        const std::size_t smalls = n - size, most = std::min(size, k), rest = std::min(smalls, k);
        const auto first_small = sorted.begin() + static_cast<std::ptrdiff_t>(size);
        const auto large_high = sums_from(sorted.begin(), most);
        const auto large_low = sums_from(std::make_reverse_iterator(first_small), most);
        const auto small_high = sums_from(first_small, rest);
        const auto small_low = sums_from(sorted.rbegin(), rest);
        for (std::size_t j = k > smalls ? k - smalls : 0; j <= most; ++j)
            part.choices.push_back({static_cast<double>(j), widened(large_low[j], large_high[j]),
                                    widened(small_low[k - j], small_high[k - j])});
    }

    double of_total(double t) const { return t > 0.0 ? t * std::log(t / reference) : 0.0; }
    double constant(double b) const {
        return chosen_value + b * chosen_total +
               std::max(of_total(whole.low) - b * whole.low, of_total(whole.high) - b * whole.high);
    }

    // Where g_c(s_c + L + n) less its lines is largest: what pays more is taken first, until the
    // slope of g_c is that of its line.
    struct Peak {
        double for_small, for_large;
        bool small_first;

        Peak(const ClassPart& part, const Lines& line)
            : for_small(part.scale * std::exp(-1.0 - line.small) - part.chosen),
              for_large(part.scale * std::exp(-1.0 - line.large) - part.chosen),
              small_first(line.small < line.large) {}
        // Large and small counts.
        std::pair<double, double> of(const Choice& choice) const {
            if (small_first) {
                const double small = choice.small.nearest(for_small - choice.large.low);
                return {choice.large.nearest(for_large - small), small};
            }
            const double large = choice.large.nearest(for_large - choice.small.low);
            return {large, choice.small.nearest(for_small - large)};
        }
    };

    // One over the squared size of what each of the lines is multiplied by.
    std::vector<Lines> step_scales() const {
        auto inverse = [](double width) { return width > 0.0 ? 1.0 / (width * width) : 0.0; };
        std::vector<Lines> scales(K + 1);
        for (std::size_t c = 0; c < K; ++c) {
            double small = 0.0;
            Interval large{kInfinity, 0.0};
            for (const Choice& choice : parts[c].choices) {
                small = std::max(small, choice.small.width());
                large = {std::min(large.low, choice.large.low),
                         std::max(large.high, choice.large.high)};
            }
            scales[c] = {inverse(small), inverse(large.width()), 1.0};
        }
        scales[K].small = inverse(whole.width());
        return scales;
    }

    // Scores at these lines, the k largest of them and their sum; infinity, and no scores, where
    // they leave the range of numbers.
    double score_all(const std::vector<Lines>& lines) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) score[i] = v[i] + lines[K].small * total[i];
        for (std::size_t c = 0; c < K; ++c) {
            const double* row = f + c * n;
            const Lines& line = lines[c];
            for (std::size_t i = 0; i < n; ++i) score[i] += line.small * row[i];
            for (const std::size_t i : parts[c].large)
                score[i] += (line.large - line.small) * row[i] + line.step;
        }
        if (!std::all_of(score.begin(), score.end(), [](double s) { return std::isfinite(s); })) {
            std::fill(score.begin(), score.end(), 0.0);
            sum = kInfinity;
        }
        scratch = score;
        const auto edge = scratch.begin() + static_cast<std::ptrdiff_t>(k);
        std::nth_element(scratch.begin(), edge - 1, scratch.end(), std::greater<double>());
        kth = scratch[k - 1];
        next = *std::max_element(edge, scratch.end());
        std::size_t ties = k;  // they go to the lowest positions
        for (const double s : score) ties -= s > kth;
        top.clear();
        in_top.assign(n, 0);
        for (std::size_t i = 0; i < n; ++i) {
            if (!(score[i] >= kth) || (score[i] == kth && ties == 0)) continue;
            ties -= score[i] == kth;
            top.push_back(i);
            in_top[i] = 1;
            sum += score[i];
        }
        return sum;
    }

    // The bound of these lines up to rounding, and a subgradient.
    double evaluate(const std::vector<Lines>& lines, std::vector<Lines>& gradient) {
        const double b = lines[K].small;
        double sum = score_all(lines) + constant(b);
        gradient.assign(K + 1, Lines());
        for (const std::size_t i : top) {
            const double* column = &by_column[i * K];
            for (std::size_t c = 0; c < K; ++c) gradient[c].small += column[c];
            gradient[K].small += total[i];
        }
        const bool at_low = of_total(whole.low) - b * whole.low > of_total(whole.high) - b * whole.high;
        gradient[K].small += chosen_total - (at_low ? whole.low : whole.high);
        for (std::size_t c = 0; c < K; ++c) {
            const ClassPart& part = parts[c];
            if (!(part.scale > 0.0)) continue;
            const Lines& line = lines[c];
            Lines& slope = gradient[c];
            for (const std::size_t i : part.large) {
                if (!in_top[i]) continue;
                slope.small -= f[c * n + i];
                slope.large += f[c * n + i];
                slope.step += 1.0;
            }
            const Peak peak(part, line);
            double best = -kInfinity;
            Lines at;
            for (const Choice& choice : part.choices) {
                const auto [large, small] = peak.of(choice);
                const double here = part.height(part.chosen + large + small) - line.large * large -
                                    line.small * small - line.step * choice.j;
                if (here > best) {
                    best = here;
                    at = {small, large, choice.j};
                }
            }
            sum += best;
            slope.small -= at.small;
            slope.large -= at.large;
            slope.step -= at.step;
        }
        return sum;
    }

    const double *f, *v;
    const double chosen_value;
    double chosen_total = 0.0, missing_share = 0.0, reference = 1.0;
    Interval whole;  // of B
    std::vector<ClassPart> parts;
    std::vector<double> total, score, scratch, by_column;
    std::vector<std::size_t> top;
    std::vector<char> in_top;
};

using Result = std::tuple<double, DoubleArray, double, double, TableArray>;

Result class_envelope(const Table& counts, const Vector& value, const Vector& chosen_sums,
                      const Vector& anchor, double chosen_value, std::size_t k,
                      const Table& start, double level, std::int64_t most) {
    const std::size_t K = counts.shape(0), n = counts.shape(1);
    if (value.shape(0) != n || chosen_sums.shape(0) != K || anchor.shape(0) != K || k < 1 ||
        k >= n || start.shape(1) != 3 || (start.shape(0) != 0 && start.shape(0) != K + 1) ||
        !std::isfinite(level))
        throw std::invalid_argument(
            "1 <= k < n columns, a sum and a share for each class, no lines or (K + 1, 3), and a "
            "finite level are needed");
    double upper = kInfinity, kth = 0.0, next = 0.0;
    std::vector<double> scores, flat;
    {
        const bayesieve::Kernel kernel;
        Envelope envelope(counts, value, chosen_sums, anchor, chosen_value, k);
        std::vector<Lines> lines(start.shape(0));
        for (std::size_t c = 0; c < lines.size(); ++c)
            lines[c] = {start(c, 0), start(c, 1), start(c, 2)};
        if (lines.empty()) lines = envelope.start();
        const double aim = level - 2e-12 * std::fabs(level);  // leaves room for the rounding
        for (const bool again : {false, true}) {
            lines = envelope.descend(std::move(lines), aim, most);
            const auto [here, margin] = envelope.bound(lines);
            if (here < upper || scores.empty()) {
                upper = here;
                kth = envelope.kth;
                next = envelope.next;
                scores = envelope.scores();
            }
            if (again || !(upper > level && upper < kInfinity)) break;
            if (!envelope.tighten(here, margin, level)) {
                upper = level;
                break;
            }
        }
        for (const Lines& line : lines)
            flat.insert(flat.end(), {line.small, line.large, line.step});
    }
    return {upper, to_numpy(std::move(scores)), kth, next, to_table(std::move(flat), 3)};
}

}  // namespace

void register_class_envelope(nb::module_& m) {
    m.def("class_envelope", &class_envelope, "counts"_a, "value"_a, "chosen_sums"_a, "anchor"_a,
          "chosen_value"_a, "k"_a, "start"_a, "level"_a, "most"_a,
          "Upper bound on every support, of k candidates and the chosen columns, whose gain is no\n"
          "less than the level; score of each candidate, k-th and (k+1)-th largest score, and the\n"
          "lines (K + 1, 3) that give them. Values are gains at the anchor. Lines (0, 3) start from\n"
          "the middle, and at most so many steps are taken before and after intervals shrink.");
}
