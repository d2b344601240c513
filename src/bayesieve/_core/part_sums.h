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

// ln S of class counts, by ln Gamma of whole or fractional numbers.
class PartLikelihood {
public:
    PartLikelihood(const double* alpha, std::size_t classes)
        : alpha_(alpha, alpha + classes), logs_(LogFactorials::shared()) {
        for (const double a : alpha_) {
            total_ += a;
            start_ -= logs_(a - 1.0);
        }
        start_ += logs_(total_ - 1.0);
    }
    std::size_t classes() const { return alpha_.size(); }
    double alpha(std::size_t c) const { return alpha_[c]; }
    double total() const { return total_; }
    double operator()(const double* counts) const {
        double n = 0.0, sum = start_;
        for (std::size_t c = 0; c < alpha_.size(); ++c) {
            n += counts[c];
            sum += logs_(counts[c] + alpha_[c] - 1.0);
        }
        return sum - logs_(n + total_ - 1.0);
    }

private:
    std::vector<double> alpha_;
    const LogFactorials& logs_;
    double total_ = 0.0, start_ = 0.0;
};

// Sums for one cell, of the parts around it. `width` numbers: J means, J second moments, and
// for leave-one-out J norms and J * J numerators (class left out, class foretold).
class PartSums {
public:
    PartSums(const PartLikelihood& likelihood, bool leave_one_out)
        : likelihood_(likelihood), leave_one_out_(leave_one_out) {}

    std::size_t width() const {
        const std::size_t J = likelihood_.classes();
        return 2 * J + (leave_one_out_ ? J + J * J : 0);
    }

    // Adds a part with posterior probability p; out has `width` numbers.
    void add(const double* counts, double p, double* out) const {
        const std::size_t J = likelihood_.classes();
        const double A = likelihood_.total();
        double n = 0.0;
        for (std::size_t c = 0; c < J; ++c) n += counts[c];
        const double share = p / (n + A), square = share / (n + A + 1.0);
        for (std::size_t c = 0; c < J; ++c) {
            const double m = counts[c] + likelihood_.alpha(c);
            out[c] += share * m;
            out[J + c] += square * m * (m + 1.0);
        }
        if (!leave_one_out_) return;
        double* norm = out + 2 * J;
        for (std::size_t c = 0; c < J; ++c) {
            if (!(counts[c] > 0.0)) continue;
            const double unit = std::min(1.0, counts[c]);
            const double factor = p / (counts[c] - unit + likelihood_.alpha(c));
            norm[c] += factor * (n - unit + A);
            double* row = norm + J + c * J;
            for (std::size_t y = 0; y < J; ++y)
                row[y] += factor * (counts[y] + likelihood_.alpha(y));
            row[c] -= factor * unit;
        }
    }

    // Means, standard deviations and leave-one-out tables of `cells` cells with their counts. A
    // class that a cell has no row of is left out of nothing: its table is the whole one.
    void finish(const double* sums, const double* counts, std::size_t cells, double* mean,
                double* deviation, double* left_out) const {
        const std::size_t J = likelihood_.classes();
        for (std::size_t b = 0; b < cells; ++b) {
            const double* own = sums + b * width();
            double total = 0.0;
            for (std::size_t c = 0; c < J; ++c) total += own[c];
            for (std::size_t c = 0; c < J; ++c) {
                const double m = own[c] / total;
                mean[b * J + c] = m;
                deviation[b * J + c] = std::sqrt(std::max(0.0, own[J + c] / total - m * m));
            }
            if (!leave_one_out_) continue;
            const double* norm = own + 2 * J;
            for (std::size_t c = 0; c < J; ++c)
                for (std::size_t y = 0; y < J; ++y)
                    left_out[(b * J + c) * J + y] =
                        counts[b * J + c] > 0.0 ? norm[J + c * J + y] / norm[c] : mean[b * J + y];
        }
    }

private:
    const PartLikelihood& likelihood_;
    bool leave_one_out_;
};

inline double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == -INFINITY ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace bayesieve
