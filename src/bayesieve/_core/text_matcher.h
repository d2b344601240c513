// Given terms found in texts: rows of counts for prediction, and class sums of tf-idf values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "text_analysis.h"
#include "text_dictionary.h"
#include "growing_block.h"
#include "text_names.h"
#include "runtime.h"

namespace bayesieve::text {

// Rows of a document-term matrix, in the order of the documents.
struct Rows {
    std::vector<std::int64_t> ends;  // entries of each document, summed up
    Block<std::int32_t> columns;
    Block<double> values;
};

// How counts become tf-idf values, as TfidfTransformer does.
struct Weighting {
    const double* idf = nullptr;  // null: without
    bool sublinear = false;
    bool binary = false;
    int norm = 2;  // 0: none
};

// Sums by class and term: a table, or the given cells of a sparse one.
struct Sums {
    double* value = nullptr;
    std::size_t terms = 0;
    const std::int64_t* start = nullptr;  // sparse only: cells of each term
    const std::int32_t* code = nullptr;   // sparse only: class of each cell, rising

    double* cell(std::uint32_t column, std::int32_t which) const {
        if (start == nullptr) return value + static_cast<std::size_t>(which) * terms + column;
        const std::int32_t* first = code + start[column];
        const std::int32_t* last = code + start[column + 1];
        const std::int32_t* at = std::lower_bound(first, last, which);
        return at != last && *at == which ? value + (at - code) : nullptr;
    }
};

class Matcher {
public:
    virtual ~Matcher() = default;
    virtual void rows(const Batch& batch, std::size_t threads, bool binary,
                      Rows& result) const = 0;
    virtual void add_weighted(const Batch& batch, std::size_t threads, const Weighting& weighting,
                              const Sums& sums) const = 0;
    virtual std::size_t bytes() const = 0;
};

template <std::size_t W>
class MatcherOf final : public Matcher {
public:
    MatcherOf(const Analysis& analysis, const Names& names, std::size_t threads)
        : analysis_(analysis), terms_(names.size) {
        if (names.size >= 0x7FFFFFFFu) throw std::length_error("too many terms to look for");
        std::size_t size = 64;
        while (size * 6 < names.size * 10) size *= 2;
        slots_.resize(size);
        std::fill(slots_.begin(), slots_.end(), Slot{});
        // Keys by many threads, a part at a time, then placed in order.
        constexpr std::size_t kPart = 1 << 20, kTask = 1 << 13;
        Block<Slot> part;
        std::vector<std::unique_ptr<CachedDictionary>> words(threads);
        for (std::size_t first = 0; first < names.size; first += kPart) {
            const std::size_t count = std::min(kPart, names.size - first);
            part.resize(count);
            run_tasks(threads, (count + kTask - 1) / kTask, [&](std::size_t w, std::size_t t) {
                if (!words[w]) words[w] = std::make_unique<CachedDictionary>(words_, nullptr);
                for (std::size_t i = t * kTask; i < std::min(count, (t + 1) * kTask); ++i) {
                    part[i] = Slot{};
                    if (key_of(names[first + i], *words[w], part[i].key))
                        part[i].column = static_cast<std::uint32_t>(first + i + 1);
                }
            });
            for (std::size_t i = 0; i < count; ++i) {
                if (i + kAhead < count)
                    BAYESIEVE_PREFETCH(&slots_[hash_key(part[i + kAhead].key) & (size - 1)]);
                if (part[i].column != 0) place(part[i]);
            }
        }
        filter_ = words_.filter();
        // Terms of one word, or one joined string, have a number of their own already.
        if (analysis_.joined || analysis_.analyzer == Analyzer::kWord) {
            single_.resize(words_.limit() + 1);
            for (const Slot& slot : slots_)
                if (slot.column != 0 && (W == 1 || slot.key[1 % W] == 0))
                    single_[slot.key[0]] = slot.column;
        }
    }

    std::size_t bytes() const override {
        return slots_.bytes() + words_.bytes() + filter_.bytes() +
               single_.size() * sizeof(std::uint32_t);
    }

    void rows(const Batch& batch, std::size_t threads, bool binary, Rows& result) const override {
        std::vector<std::unique_ptr<Worker>> workers(std::max<std::size_t>(1, threads));
        result.ends.reserve(batch.documents);
        for (std::size_t first = 0; first < batch.documents;) {
            const std::vector<std::size_t> tasks = next_round(batch, first, 16 << 20);
            std::vector<Rows> parts(tasks.size() - 1);
            run_tasks(threads, parts.size(), [&](std::size_t w, std::size_t t) {
                Worker& worker = at_work(workers, w);
                Rows& part = parts[t];
                for (std::size_t i = tasks[t]; i < tasks[t + 1]; ++i) {
                    find(batch, i, worker);
                    for (const Found& found : worker.found) {
                        part.columns.push_back(static_cast<std::int32_t>(found.column));
                        part.values.push_back(binary ? 1.0 : static_cast<double>(found.count));
                    }
                    part.ends.push_back(static_cast<std::int64_t>(part.columns.size()));
                }
            });
            for (Rows& part : parts) {
                const auto before = static_cast<std::int64_t>(result.columns.size());
                result.columns.append(part.columns.data(), part.columns.size());
                result.values.append(part.values.data(), part.values.size());
                for (std::int64_t end : part.ends) result.ends.push_back(before + end);
            }
            first = tasks.back();
        }
    }

    // Every cell is summed in the order of the documents, by one thread: the same bits for any
    // number of threads and any batches.
    void add_weighted(const Batch& batch, std::size_t threads, const Weighting& weighting,
                      const Sums& sums) const override {
        constexpr std::size_t kParts = 64;
        const std::size_t width = std::max<std::size_t>(1, (terms_ + kParts - 1) / kParts);
        std::vector<std::unique_ptr<Worker>> workers(std::max<std::size_t>(1, threads));
        for (std::size_t first = 0; first < batch.documents;) {
            const std::vector<std::size_t> tasks = next_round(batch, first, 8 << 20);
            const std::size_t count = tasks.size() - 1;
            std::vector<Block<Share>> shares(count * kParts);
            run_tasks(threads, count, [&](std::size_t w, std::size_t t) {
                Worker& worker = at_work(workers, w);
                for (std::size_t i = tasks[t]; i < tasks[t + 1]; ++i) {
                    if (batch.codes[i] < 0) continue;
                    find(batch, i, worker);
                    weigh(weighting, worker);
                    for (std::size_t e = 0; e < worker.found.size(); ++e) {
                        const std::uint32_t column = worker.found[e].column;
                        shares[t * kParts + column / width].push_back(
                            {worker.value[e], column, batch.codes[i]});
                    }
                }
            });
            run_tasks(threads, kParts, [&](std::size_t, std::size_t p) {
                for (std::size_t t = 0; t < count; ++t) {
                    for (const Share& share : shares[t * kParts + p]) {
                        double* cell = sums.cell(share.column, share.code);
                        if (cell != nullptr) *cell += share.value;
                    }
                    shares[t * kParts + p].release();
                }
            });
            first = tasks.back();
        }
    }

private:
    // Above, reading the bits of a short text would cost more than sorting what it has.
    static constexpr std::size_t kTallied = 4096;
    static constexpr std::size_t kAhead = 16;

    struct Slot {
        Key<W> key{};
        std::uint32_t column = 0;  // plus one; 0 is free
    };
    struct Share {
        double value;
        std::uint32_t column;
        std::int32_t code;
    };
    struct Sought {
        Key<W> key;
        std::size_t at;
    };
    struct Found {
        std::uint32_t column;
        std::uint32_t count;
    };
    struct Worker {
        Scratch scratch;
        FixedDictionary words;
        std::vector<Sought> sought;
        std::vector<std::uint32_t> columns;
        std::vector<Found> found;
        std::vector<double> value;
        std::vector<std::uint32_t> tally;
        std::vector<std::uint64_t> met;
    };

    Worker& at_work(std::vector<std::unique_ptr<Worker>>& workers, std::size_t w) const {
        if (!workers[w])
            workers[w] = std::unique_ptr<Worker>(
                new Worker{{},
                           FixedDictionary(words_, analysis_.joined ? nullptr : analysis_.stop,
                                           filter_),
                           {},
                           {},
                           {},
                           {},
                           {},
                           {}});
        return *workers[w];
    }

    // False for names that no text can have.
    bool key_of(const Span& name, CachedDictionary& words, Key<W>& key) const {
        key = Key<W>{};
        if (analysis_.joined) {
            key[0] = words.number(name.data, name.size);
            return true;
        }
        const Byte* p = name.data;
        const Byte* end = p + name.size;
        std::size_t n = 0;
        if (analysis_.analyzer != Analyzer::kWord) {
            while (p < end) {
                if (n == W) return false;
                std::uint32_t code;
                p += decode(p, end, code);
                key[n++] = code + 1;
            }
            return n > 0;
        }
        while (true) {
            const Byte* space = std::find(p, end, static_cast<Byte>(' '));
            if (n == W || space == p) return false;
            key[n++] = words.number(p, static_cast<std::size_t>(space - p));
            if (space == end) break;
            p = space + 1;
        }
        return true;
    }
    void place(const Slot& slot) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash_key(slot.key) & mask;
        while (slots_[at].column != 0) {
            if (slots_[at].key == slot.key) return;
            at = (at + 1) & mask;
        }
        slots_[at] = slot;
    }
    // Column plus one of an n-gram, 0 if it is not looked for.
    std::uint32_t column_of(const Key<W>& key) const {
        if (key[0] < single_.size() && (W == 1 || key[1 % W] == 0)) return single_[key[0]];
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = hash_key(key) & mask;; at = (at + 1) & mask)
            if (slots_[at].column == 0 || slots_[at].key == key) return slots_[at].column;
    }
    void find(const Batch& batch, std::size_t i, Worker& worker) const {
        // Few terms: a tally for each, and a bit for those met, read out in order.
        const bool tallied = terms_ <= kTallied;
        if (tallied && worker.tally.empty()) {
            worker.tally.resize(terms_);
            worker.met.resize((terms_ + 63) / 64);
        }
        worker.found.clear();
        if (tallied) {
            document_ngrams<W>(analysis_, batch, i, worker.scratch, worker.words,
                               [&](const Key<W>& key) {
                                   const std::uint32_t column = column_of(key);
                                   if (column == 0) return;
                                   ++worker.tally[column - 1];
                                   worker.met[(column - 1) / 64] |= std::uint64_t{1}
                                                                    << ((column - 1) % 64);
                               });
            for (std::uint32_t w = 0; w < worker.met.size(); ++w) {
                std::uint64_t bits = worker.met[w];
                if (bits == 0) continue;
                worker.met[w] = 0;
                for (std::uint32_t column = 64 * w; bits != 0; ++column, bits >>= 1)
                    if ((bits & 1) != 0) {
                        worker.found.push_back({column, worker.tally[column]});
                        worker.tally[column] = 0;
                    }
            }
            return;
        }
        const std::size_t mask = slots_.size() - 1;
        // In a large table every look is a wait for memory: all of a document's wait together.
        worker.sought.clear();
        document_ngrams<W>(analysis_, batch, i, worker.scratch, worker.words,
                           [&](const Key<W>& key) {
                               const std::size_t at = hash_key(key) & mask;
                               BAYESIEVE_PREFETCH(&slots_[at]);
                               worker.sought.push_back({key, at});
                           });
        worker.columns.clear();
        for (const Sought& sought : worker.sought)
            for (std::size_t at = sought.at; slots_[at].column != 0; at = (at + 1) & mask)
                if (slots_[at].key == sought.key) {
                    worker.columns.push_back(slots_[at].column - 1);
                    break;
                }
        std::sort(worker.columns.begin(), worker.columns.end());
        for (std::uint32_t column : worker.columns) {
            if (!worker.found.empty() && worker.found.back().column == column)
                ++worker.found.back().count;
            else
                worker.found.push_back({column, 1});
        }
    }
    void weigh(const Weighting& weighting, Worker& worker) const {
        worker.value.resize(worker.found.size());
        double norm = 0.0;
        for (std::size_t e = 0; e < worker.found.size(); ++e) {
            double value = weighting.binary ? 1.0 : static_cast<double>(worker.found[e].count);
            if (weighting.sublinear) value = std::log(value) + 1.0;
            if (weighting.idf != nullptr) value *= weighting.idf[worker.found[e].column];
            worker.value[e] = value;
            norm += weighting.norm == 2 ? value * value : std::fabs(value);
        }
        if (weighting.norm == 0 || !(norm > 0.0)) return;
        if (weighting.norm == 2) norm = std::sqrt(norm);
        for (double& value : worker.value) value /= norm;
    }

    Analysis analysis_;
    std::size_t terms_;
    Dictionary words_;
    HashFilter filter_;
    std::vector<std::uint32_t> single_;
    Block<Slot> slots_;
};

inline std::unique_ptr<Matcher> make_matcher(const Analysis& analysis, const Names& names,
                                             std::size_t threads) {
    switch (analysis.joined ? 1 : key_width(analysis.max_n)) {
        case 1: return std::make_unique<MatcherOf<1>>(analysis, names, threads);
        case 2: return std::make_unique<MatcherOf<2>>(analysis, names, threads);
        case 3: return std::make_unique<MatcherOf<3>>(analysis, names, threads);
        case 4: return std::make_unique<MatcherOf<4>>(analysis, names, threads);
        case 6: return std::make_unique<MatcherOf<6>>(analysis, names, threads);
        case 8: return std::make_unique<MatcherOf<8>>(analysis, names, threads);
        default: throw std::invalid_argument("such long n-grams must be joined");
    }
}

}  // namespace bayesieve::text
