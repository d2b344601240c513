// What a part of a variable says about the class of its rows, summed over all parts that a row
// may be in.
//
// A part with class counts n_1..n_J (n in all) has the marginal likelihood
//   S = (A-1)! / (n+A-1)! * prod_j (n_j + a_j - 1)! / (a_j - 1)!      A = sum_j a_j
// of its class labels under a Dirichlet prior a; a_j = 1 is the data term of MODL. Given the
// part the next row has class y with probability (n_y + a_y) / (n + A). Averaging needs nothing
// but the posterior probability of each part.
//
// Without one row of class c the counts of every part around that row lose one, so such a part
// has S' = S (n-1+A) / (n_c-1+a_c): the leave-one-out table of a cell and a class c is the same
// sum with these factors, exact, for the price of one more table. Of counts below one (fractional
// row weights) all is taken out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "code_lengths.h"

namespace bayesieve {

// ln Gamma(n + a) - ln Gamma(a) of a count n: whole numbers up to a size from a table.
class RisingFactorial {
public:
    RisingFactorial(double a, double largest) : a_(a), start_(log_gamma(a)) {
        table_.resize(static_cast<std::size_t>(std::min(largest, kTabled)) + 1);
        double sum = 0.0;
        for (std::size_t n = 0; n < table_.size(); ++n) {
            table_[n] = sum;
            sum += std::log(static_cast<double>(n) + a);
        }
    }
    double operator()(double n) const {
        if (n < static_cast<double>(table_.size())) {
            const auto whole = static_cast<std::size_t>(n);
            if (static_cast<double>(whole) == n) return table_[whole];
        }
        const double x = n + a_;
        return (x < kLarge ? log_gamma(x) : stirling(x)) - start_;
    }

private:
    static constexpr double kTabled = 4096.0, kLarge = 30.0;
    // ln Gamma by Stirling's series, exact to the last bits for large x.
    static double stirling(double x) {
        constexpr double kHalfLogTwoPi = 0.918938533204672741780329736406;
        const double inverse = 1.0 / x, square = inverse * inverse;
        return (x - 0.5) * std::log(x) - x + kHalfLogTwoPi +
               inverse * (1.0 / 12.0 -
                          square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    }
    double a_, start_;
    std::vector<double> table_;
};

// ln S of class counts.
class PartLikelihood {
public:
    // `largest` is the largest count there will be; more are only slower.
    PartLikelihood(const double* alpha, std::size_t classes, double largest)
        : alpha_(alpha, alpha + classes) {
        for (const double a : alpha_) {
            total_ += a;
            rising_.emplace_back(a, largest);
        }
        rising_.emplace_back(total_, largest);
    }
    std::size_t classes() const { return alpha_.size(); }
    double alpha(std::size_t c) const { return alpha_[c]; }
    double total() const { return total_; }
    double operator()(const double* counts) const {
        double n = 0.0, sum = 0.0;
        for (std::size_t c = 0; c < alpha_.size(); ++c) {
            if (!(counts[c] > 0.0)) continue;
            n += counts[c];
            sum += rising_[c](counts[c]);
        }
        return sum - rising_.back()(n);
    }

private:
    std::vector<double> alpha_;
    std::vector<RisingFactorial> rising_;
    double total_ = 0.0;
};

// What one part with posterior probability p adds to the sums of a cell inside it.
class PartSums {
public:
    explicit PartSums(const PartLikelihood& likelihood) : likelihood_(likelihood) {}

    std::size_t classes() const { return likelihood_.classes(); }
    // Numbers of `add`, and of `add_left_out` for one class.
    std::size_t width() const { return 2 * classes(); }
    std::size_t left_out_width() const { return 1 + classes(); }

    // Means and second moments of the class probabilities.
    void add(const double* counts, double p, double* out) const {
        const std::size_t J = classes();
        const double A = likelihood_.total(), n = total(counts);
        const double share = p / (n + A), square = share / (n + A + 1.0);
        for (std::size_t c = 0; c < J; ++c) {
            const double m = counts[c] + likelihood_.alpha(c);
            out[c] += share * m;
            out[J + c] += square * m * (m + 1.0);
        }
    }

    // The same without one row of class c: their norm, then their numerators.
    void add_left_out(const double* counts, double n, double p, std::size_t c,
                      double* out) const {
        const double unit = std::min(1.0, counts[c]);
        const double factor = p / (counts[c] - unit + likelihood_.alpha(c));
        out[0] += factor * (n - unit + likelihood_.total());
        double* row = out + 1;
        for (std::size_t y = 0; y < classes(); ++y)
            row[y] += factor * (counts[y] + likelihood_.alpha(y));
        row[c] -= factor * unit;
    }

    double total(const double* counts) const {
        double n = 0.0;
        for (std::size_t c = 0; c < classes(); ++c) n += counts[c];
        return n;
    }

    // Mean and standard deviation of one cell from its sums.
    void finish(const double* sums, double* mean, double* deviation) const {
        const std::size_t J = classes();
        double whole = 0.0;
        for (std::size_t c = 0; c < J; ++c) whole += sums[c];
        for (std::size_t c = 0; c < J; ++c) {
            mean[c] = sums[c] / whole;
            deviation[c] =
                std::sqrt(std::max(0.0, sums[J + c] / whole - mean[c] * mean[c]));
        }
    }
    void finish_left_out(const double* sums, double* mean) const {
        for (std::size_t y = 0; y < classes(); ++y) mean[y] = sums[1 + y] / sums[0];
    }

private:
    const PartLikelihood& likelihood_;
};

// Class probabilities of the cells of a variable, averaged. Line cell * J + c of `left_out`
// is without one row of class c; a class that a cell has no row of is left out of nothing.
struct CellAverages {
    std::vector<double> mean, deviation, left_out;

    CellAverages(std::size_t cells, std::size_t classes, bool leave_one_out)
        : mean(cells * classes), deviation(cells * classes),
          left_out(leave_one_out ? cells * classes * classes : 0) {}
    void copy_mean(std::size_t cell, std::size_t c, std::size_t classes) {
        std::copy_n(&mean[cell * classes], classes, &left_out[(cell * classes + c) * classes]);
    }
};

inline double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == -INFINITY ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace bayesieve
