// Class sums of many resamples of the rows in one pass.
//
// A resample is a weight for each row. Weights are drawn by a counter-based generator, from the
// seed, the number of the resample and the number of the row (or of the group of rows that stay
// together), so that chunks, threads and machines agree on them without talking. Every sum is
// formed by one thread in row order, and goes on from what the table holds: the sums of chunks
// equal those of the whole matrix to the last bit, and those of one weighted count.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "matrix_walks.h"
#include "weighted_math.h"

namespace {

namespace nb = nanobind;
using nb::literals::operator""_a;
using namespace bayesieve::class_sums;
using bayesieve::Pace;

using RowWeights = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using RowWeightsOut = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Tables = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kRowBlock = 4096;
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;

// SplitMix64: one stream for each resample, the row is the counter.
inline std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

inline std::uint64_t drawn(std::uint64_t stream, std::uint64_t counter) {
    return mixed(stream + (counter + 1) * kGolden);
}

// 2^64 times the chance that a Poisson variable of mean 1 is at most 0, 1, 2, ...
constexpr std::uint64_t kPoisson[] = {
    0x5e2d58d8b3bcdf1a, 0xbc5ab1b16779be35, 0xeb715e1dc1582dc2, 0xfb23979734a252f1,
    0xff1025f59174dc3d, 0xffd90f3ba4055e19, 0xfffa8b71fc72c913, 0xffff540c0914b3c9,
    0xffffed1f4aa8f120, 0xfffffe216e641462, 0xffffffd4d85d3183, 0xfffffffc6da262b4,
    0xffffffffba12d178, 0xfffffffffb07c64c, 0xffffffffffab8ea5, 0xfffffffffffabe22,
    0xffffffffffffb11a, 0xfffffffffffffba1, 0xffffffffffffffc5, 0xfffffffffffffffd};

inline std::uint8_t poisson(std::uint64_t uniform) {
    std::uint8_t count = 0;
    for (const std::uint64_t limit : kPoisson) {
        if (uniform < limit) break;
        ++count;
    }
    return count;
}

// In pairs: of two neighbouring units one goes into the first half, by a coin, and the other
// into the second, so that both halves are equally large. Resamples 2 j and 2 j + 1 are halves
// of one split. Otherwise: every unit counts as often as a Poisson variable of mean 1 says.
void resample_weights(const Longs& units, std::uint64_t seed, std::uint64_t first, bool pairs,
                      const RowWeightsOut& out) {
    if (units.shape(0) != out.shape(0))
        throw nb::value_error("one line of weights for each unit is needed");
    const std::size_t width = out.shape(1);
    const bayesieve::Kernel kernel;
    std::vector<std::uint64_t> streams(width);
    for (std::size_t b = 0; b < width; ++b) {
        const std::uint64_t resample = first + b;
        streams[b] = drawn(seed, pairs ? resample / 2 : resample);
    }
    const std::int64_t* const unit = units.data();
    std::uint8_t* const weight = out.data();
    bayesieve::for_each_block(
        units.shape(0), kRowBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
            Pace pace(kPace);
            for (std::size_t row = begin; row < end; ++row) {
                pace.spend(width);
                const auto u = static_cast<std::uint64_t>(unit[row]);
                std::uint8_t* const line = weight + row * width;
                for (std::size_t b = 0; b < width; ++b) {
                    if (!pairs) {
                        line[b] = poisson(drawn(streams[b], u));
                        continue;
                    }
                    const std::uint64_t coin = drawn(streams[b], u >> 1) >> 63;
                    line[b] = static_cast<std::uint8_t>((coin ^ u ^ (first + b)) & 1);
                }
            }
        });
}

// The inner loop of all this: what a value adds to every resample.
BAYESIEVE_WIDE
void add_weighted(const std::uint8_t* weight, double amount, std::size_t count, double* sum) {
    for (std::size_t b = 0; b < count; ++b) sum[b] += static_cast<double>(weight[b]) * amount;
}

struct Replicates {
    const std::uint8_t* weights;  // (rows, count)
    std::size_t count;
    std::size_t classes;
    double* out;  // (count, classes, columns)
};

// All sums of a column are gathered in a small table and put back where they came from.
template <class Index>
void sum_columns(const Compressed& x, const Rows& rows, const Replicates& to,
                 std::int64_t first, std::int64_t last, Outcome& outcome) {
    const Index* indices = static_cast<const Index*>(x.indices);
    const std::size_t cells = to.classes * to.count;
    const auto columns = static_cast<std::size_t>(x.major);
    std::vector<double> sums(cells);
    double value[kBlock];
    Pace pace(kPace);
    auto move = [&](std::size_t column, bool back) {
        for (std::size_t b = 0; b < to.count; ++b)
            for (std::size_t c = 0; c < to.classes; ++c) {
                double& there = to.out[(b * to.classes + c) * columns + column];
                double& here = sums[c * to.count + b];
                if (back) there = here;
                else here = there;
            }
    };
    for (std::int64_t column = first; column < last; ++column) {
        const std::int64_t begin = x.indptr[column], end = x.indptr[column + 1];
        if (begin == end) continue;
        move(static_cast<std::size_t>(column), false);
        pace.spend(cells);
        for (std::int64_t start = begin; start < end; start += kBlock) {
            const auto n = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, end - start));
            const std::size_t good =
                x.load(x.data + start * x.item, x.item, n, x.threshold, value);
            if (good < n) {
                outcome.bad_at(start + static_cast<std::int64_t>(good));
                return;
            }
            for (std::size_t i = 0; i < n; ++i) {
                pace.spend(to.count);
                const auto row = static_cast<std::int64_t>(indices[start + i]);
                if (static_cast<std::uint64_t>(row) >= static_cast<std::uint64_t>(rows.count)) {
                    outcome.malformed = true;
                    return;
                }
                const std::uint8_t* const weight = to.weights + row * to.count;
                add_weighted(weight, value[i], to.count,
                             sums.data() + rows.codes[row] * to.count);
            }
        }
        move(static_cast<std::size_t>(column), true);
    }
}

std::int64_t replicate_class_sums(const Array& data, const Array& indices, const Longs& indptr,
                                  const Longs& codes, const RowWeights& weights, int check,
                                  double threshold, const Tables& out) {
    const auto classes = static_cast<std::int64_t>(out.shape(1));
    const Rows rows = rows_of(codes, std::nullopt, classes);
    const Compressed x = compressed(data, indices, indptr, rows.count, check, threshold);
    if (static_cast<std::int64_t>(weights.shape(0)) != rows.count ||
        weights.shape(1) != out.shape(0))
        throw nb::value_error("weights must have one line a row and one column a resample");
    if (static_cast<std::int64_t>(out.shape(2)) != x.major)
        throw nb::value_error("the output does not have one column per feature");
    const Replicates to{weights.data(), weights.shape(1), out.shape(1), out.data()};
    Outcome outcome;
    {
        const bayesieve::Kernel kernel;
        bayesieve::for_each_block(
            static_cast<std::size_t>(x.major), 512,
            [&](std::size_t, std::size_t begin, std::size_t end) {
                const auto first = static_cast<std::int64_t>(begin);
                const auto last = static_cast<std::int64_t>(end);
                if (x.wide) sum_columns<std::int64_t>(x, rows, to, first, last, outcome);
                else sum_columns<std::int32_t>(x, rows, to, first, last, outcome);
            });
    }
    return outcome.result();
}

}  // namespace

void register_replicate_sums(nb::module_& m) {
    m.def("resample_weights", &resample_weights, "units"_a, "seed"_a, "first"_a, "pairs"_a,
          "out"_a.noconvert(),
          "Draw the weights (n, R) of the rows in the resamples first, first + 1, ...");
    m.def("replicate_class_sums", &replicate_class_sums, "data"_a, "indices"_a, "indptr"_a,
          "codes"_a, "weights"_a, "check"_a, "threshold"_a, "out"_a.noconvert(),
          "Add the class sums of a CSC matrix under each column of weights to out (R, K, m).");
}
