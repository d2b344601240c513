// All partitions of an ordered variable into intervals, summed exactly.
//
// On a grid of B bins a partition into I intervals has the prior weight prior(I) and the
// likelihood prod S(a, b) over its intervals ]a, b]. With F_i(b) the sum over all partitions of
// the first b bins into i intervals, and R_i(b) that over all ways to go on when i are used,
//   F_i(b) = sum_a F_(i-1)(a) S(a, b)             F_0(0) = 1
//   R_i(a) = sum_b S(a, b) R_(i+1)(b)             R_i(B) = prior(i)
//   Z = R_0(0)      P(]a, b] is an interval | rows) = S(a, b) sum_i F_i(a) R_(i+1)(b) / Z.
// Sums of likelihoods span thousands of nats, so everything is kept relative to
// phi(b) = ln sum_i F_i(b): then s(a, b) = S exp(phi(a) - phi(b)) and F exp(-phi) are at most one
// and the loops are products and sums alone.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "part_sums.h"
#include "runtime.h"

namespace bayesieve {

class IntervalAverage {
public:
    // Class counts of the elementary bins, `bins` rows of J.
    IntervalAverage(const PartLikelihood& likelihood, const double* counts, std::size_t bins)
        : likelihood_(likelihood), bins_(bins), before_((bins + 1) * likelihood.classes(), 0.0),
          posterior_(bins * (bins + 1), 0.0) {
        const std::size_t J = likelihood.classes();
        for (std::size_t b = 0; b < bins; ++b)
            for (std::size_t c = 0; c < J; ++c)
                before_[(b + 1) * J + c] = before_[b * J + c] + counts[b * J + c];
    }

    // Adds the partitions of one grid: `ends` are its last elementary bins plus one, the last
    // one being all bins; log_prior[I - 1] that of a partition into I intervals, no more
    // intervals than it has entries.
    void add_grid(const std::vector<std::size_t>& ends, const std::vector<double>& log_prior) {
        const std::size_t m = ends.size(), most = std::min(log_prior.size(), m);
        std::vector<double> phi(m + 1, -INFINITY), s(m * (m + 1), 0.0);
        phi[0] = 0.0;
        const auto at = [m](std::size_t a, std::size_t b) { return a * (m + 1) + b; };
        for (std::size_t b = 1; b <= m; ++b) {
            double top = -INFINITY;
            for (std::size_t a = 0; a < b; ++a) {
                s[at(a, b)] = log_likelihood(a == 0 ? 0 : ends[a - 1], ends[b - 1]);
                top = std::max(top, phi[a] + s[at(a, b)]);
            }
            double sum = 0.0;
            for (std::size_t a = 0; a < b; ++a) sum += std::exp(phi[a] + s[at(a, b)] - top);
            phi[b] = top + std::log(sum);
            for (std::size_t a = 0; a < b; ++a)
                s[at(a, b)] = std::exp(s[at(a, b)] + phi[a] - phi[b]);
        }
        // Forward sums of all lengths, then backward: R of one length at a time.
        std::vector<double> forward((most + 1) * (m + 1), 0.0);
        forward[0] = 1.0;
        for (std::size_t i = 1; i <= most; ++i) {
            poll();
            const double* from = &forward[(i - 1) * (m + 1)];
            double* to = &forward[i * (m + 1)];
            for (std::size_t a = i - 1; a < m; ++a) {
                const double f = from[a];
                if (f == 0.0) continue;
                const double* row = &s[at(a, 0)];
                for (std::size_t b = a + 1; b <= m; ++b) to[b] += f * row[b];
            }
        }
        double top = -INFINITY;
        for (std::size_t i = 0; i < most; ++i) top = std::max(top, log_prior[i]);
        std::vector<double> next(m + 1, 0.0), here(m + 1, 0.0), share(m * (m + 1), 0.0);
        next[m] = std::exp(log_prior[most - 1] - top);
        for (std::size_t i = most; i-- > 0;) {
            poll();
            // next is R_(i+1); here becomes R_i.
            std::fill(here.begin(), here.end(), 0.0);
            const double* from = &forward[i * (m + 1)];
            for (std::size_t a = i; a < m; ++a) {
                const double* row = &s[at(a, 0)];
                double* sum = &share[at(a, 0)];
                const double f = from[a];
                double r = 0.0;
                for (std::size_t b = a + 1; b <= m; ++b) r += row[b] * next[b];
                here[a] = r;
                if (f != 0.0)
                    for (std::size_t b = a + 1; b <= m; ++b) sum[b] += f * next[b];
            }
            if (i > 0) here[m] = std::exp(log_prior[i - 1] - top);
            std::swap(here, next);
        }
        const double z = next[0], log_z = std::log(z) + top + phi[m];
        // The parts so far keep their share of the evidence.
        const double both = log_add(evidence_, log_z);
        const double old = std::exp(evidence_ - both), own = std::exp(log_z - both);
        evidence_ = both;
        for (double& p : posterior_) p *= old;
        for (std::size_t a = 0; a < m; ++a) {
            const std::size_t from = a == 0 ? 0 : ends[a - 1];
            for (std::size_t b = a + 1; b <= m; ++b)
                posterior_[from * (bins_ + 1) + ends[b - 1]] +=
                    own * s[at(a, b)] * share[at(a, b)] / z;
        }
    }

    // ln of the sum over all partitions added.
    double evidence() const { return evidence_; }

    // Averages over the parts around every bin. The parts of each start a are added up from the
    // longest on, so that nothing is ever subtracted.
    CellAverages averages(bool leave_one_out) const {
        const PartSums parts(likelihood_);
        const std::size_t J = likelihood_.classes(), wide = parts.left_out_width();
        const std::size_t width = parts.width() + (leave_one_out ? J * wide : 0);
        std::vector<double> sums(bins_ * width, 0.0), running(width), counts(J);
        Pace pace;
        for (std::size_t a = 0; a < bins_; ++a) {
            std::fill(running.begin(), running.end(), 0.0);
            for (std::size_t b = bins_; b > a; --b) {
                const double p = posterior_[a * (bins_ + 1) + b];
                if (p > 0.0) {
                    for (std::size_t c = 0; c < J; ++c)
                        counts[c] = before_[b * J + c] - before_[a * J + c];
                    parts.add(counts.data(), p, running.data());
                    const double n = parts.total(counts.data());
                    for (std::size_t c = 0; leave_one_out && c < J; ++c)
                        if (counts[c] > 0.0)
                            parts.add_left_out(counts.data(), n, p, c,
                                               &running[parts.width() + c * wide]);
                }
                double* own = &sums[(b - 1) * width];
                for (std::size_t e = 0; e < width; ++e) own[e] += running[e];
                pace.spend(width);
            }
        }
        CellAverages found(bins_, J, leave_one_out);
        for (std::size_t b = 0; b < bins_; ++b) {
            const double* own = &sums[b * width];
            parts.finish(own, &found.mean[b * J], &found.deviation[b * J]);
            for (std::size_t c = 0; leave_one_out && c < J; ++c)
                if (before_[(b + 1) * J + c] > before_[b * J + c])
                    parts.finish_left_out(own + parts.width() + c * wide,
                                          &found.left_out[(b * J + c) * J]);
                else
                    found.copy_mean(b, c, J);
        }
        return found;
    }

private:
    double log_likelihood(std::size_t a, std::size_t b) const {
        const std::size_t J = likelihood_.classes();
        double counts[64];
        std::vector<double> many;
        double* own = counts;
        if (J > 64) {
            many.resize(J);
            own = many.data();
        }
        for (std::size_t c = 0; c < J; ++c) own[c] = before_[b * J + c] - before_[a * J + c];
        return likelihood_(own);
    }

    const PartLikelihood& likelihood_;
    std::size_t bins_;
    std::vector<double> before_, posterior_;
    double evidence_ = -INFINITY;
};

}  // namespace bayesieve
