// The rows a grouping works on: partiles, or several partiles tied together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "code_lengths.h"

namespace bayesieve {

using Labels = std::vector<std::int32_t>;

// e = lf(n + J - 1) - lf(J - 1) - sum_j lf(n_j): rows_prep + rows_data of one group.
class RowCost {
  public:
    explicit RowCost(std::size_t classes)
        : classes_(classes),
          shift_(static_cast<double>(std::max<std::size_t>(classes, 1)) - 1.0),
          fixed_(lf(shift_)) {}
    double operator()(const double* counts, double total) const {
        double sum = lf(total + shift_) - fixed_;
        for (std::size_t j = 0; j < classes_; ++j) sum -= lf(counts[j]);
        return sum;
    }
    double of_sum(const double* a, const double* b, double total) const {
        double sum = lf(total + shift_) - fixed_;
        for (std::size_t j = 0; j < classes_; ++j) sum -= lf(a[j] + b[j]);
        return sum;
    }
    double two(double first, double second) const {
        return lf(first + second + 1.0) - lf(first) - lf(second);
    }
    double parameters(double total) const { return lf(total + shift_) - fixed_ - lf(total); }
    double head(double total) const { return lf(total + shift_); }

    const LogFactorials& lf = LogFactorials::shared();

  private:
    std::size_t classes_;
    double shift_, fixed_;
};

struct Items {
    std::size_t n = 0, classes = 0;
    std::vector<double> counts;     // (n, classes)
    std::vector<double> total;      // rows of each item
    std::vector<std::size_t> size;  // partiles of each item

    Items() = default;
    Items(std::size_t n_, std::size_t classes_)
        : n(n_), classes(classes_), counts(n_ * classes_, 0.0), total(n_, 0.0), size(n_, 0) {}
    const double* row(std::size_t i) const { return counts.data() + i * classes; }
    double* row(std::size_t i) { return counts.data() + i * classes; }
    void add(std::size_t i, const Items& from, std::size_t r) {
        double* into = row(i);
        const double* source = from.row(r);
        for (std::size_t j = 0; j < classes; ++j) into[j] += source[j];
        total[i] += from.total[r];
        size[i] += from.size[r];
    }
    Items gathered(const Labels& label, std::size_t labels) const {
        Items result(labels, classes);
        for (std::size_t i = 0; i < n; ++i)
            result.add(static_cast<std::size_t>(label[i]), *this, i);
        return result;
    }
};

// Labels 0, 1, ... in order of first appearance; returns how many.
inline std::size_t renumber(Labels& label) {
    std::int32_t largest = -1;
    for (auto l : label) largest = std::max(largest, l);
    Labels fresh(static_cast<std::size_t>(largest) + 1, -1);
    std::int32_t next = 0;
    for (auto& l : label) {
        auto& f = fresh[static_cast<std::size_t>(l)];
        if (f < 0) f = next++;
        l = f;
    }
    return static_cast<std::size_t>(next);
}

// Items with proportional counts get the same label. e is strictly concave in the counts, so an
// optimal grouping without garbage never separates them (values pure in one class are the
// best known case). Equal quotients of whole numbers are equal doubles: no tolerance.
inline std::size_t tie_proportional(const Items& items, Labels& label) {
    const std::size_t J = items.classes;
    std::vector<double> share(items.n * J);
    for (std::size_t i = 0; i < items.n; ++i)
        for (std::size_t j = 0; j < J; ++j) share[i * J + j] = items.row(i)[j] / items.total[i];
    std::vector<std::size_t> order(items.n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    auto compare = [&](std::size_t a, std::size_t b) {
        const double *x = share.data() + a * J, *y = share.data() + b * J;
        for (std::size_t j = 0; j < J; ++j)
            if (x[j] != y[j]) return x[j] < y[j] ? -1 : 1;
        return 0;
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const int c = compare(a, b);
        return c != 0 ? c < 0 : a < b;
    });
    label.assign(items.n, 0);
    std::int32_t current = 0;
    for (std::size_t p = 0; p < items.n; ++p) {
        if (p > 0 && compare(order[p - 1], order[p]) != 0) ++current;
        label[order[p]] = current;
    }
    return items.n == 0 ? 0 : static_cast<std::size_t>(current) + 1;
}

}  // namespace bayesieve
