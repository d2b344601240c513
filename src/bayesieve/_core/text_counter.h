// Class counts of n-grams: threads append occurrences to partitions by hash; each partition is
// then aggregated by one thread. Terms are sorted only once, in the end.
//
// All sums are of integers, and documents never straddle an aggregation, so the result does not
// depend on threads, batches or the memory budget.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "text_analysis.h"
#include "text_dictionary.h"
#include "growing_block.h"
#include "text_table.h"
#include "runtime.h"

namespace bayesieve::text {

// Where sorted results go. The columns of the tables are terms; `start` has one more.
struct Output {
    std::size_t terms = 0;
    std::size_t pairs = 0;       // (term, class) with a count
    std::size_t name_bytes = 0;
    bool dense = false;
    // Set by the caller once the sizes above are known.
    Byte* names = nullptr;
    std::int64_t* name_offsets = nullptr;
    double* count = nullptr;      // dense: (classes, terms); else one for each pair
    double* documents = nullptr;
    std::int64_t* start = nullptr;  // sparse only: pairs before each term
    std::int32_t* code = nullptr;   // sparse only
};

class Counter {
public:
    virtual ~Counter() = default;
    virtual void add(const Batch& batch) = 0;
    // In two steps, as the caller makes the arrays: sizes, then contents.
    virtual void sort(Output& output) = 0;
    virtual void write(Output& output) = 0;
    virtual std::size_t bytes() const = 0;
    virtual std::uint64_t spilled_bytes() const = 0;
    // Of all tables, places looked at to find what is hardest to find.
    virtual std::size_t longest_search() const = 0;
};

struct CounterSettings {
    std::size_t classes = 2;
    std::size_t threads = 1;
    std::size_t budget = 0;  // bytes; 0: no limit
    std::string spill_path;
    bool binary = false;
    std::size_t pending = std::size_t{6} << 20;  // occurrences held before they are aggregated
};

template <std::size_t W>
class CounterOf final : public Counter {
public:
    CounterOf(Analysis analysis, CounterSettings settings)
        : analysis_(analysis), settings_(std::move(settings)), partitions_(kPartitions) {
        workers_.resize(settings_.threads);
        if (settings_.budget > 0) {
            const std::size_t share = settings_.budget / 4 / sizeof(Occurrence<W>);
            settings_.pending = std::min(settings_.pending, std::max<std::size_t>(4096, share));
        }
    }

    void add(const Batch& batch) override {
        // After each round the occurrences held are counted, and aggregated if too many.
        const std::size_t most = std::min<std::size_t>(settings_.pending, 16 << 20);
        for (std::size_t first = 0; first < batch.documents;) {
            const std::vector<std::size_t> tasks = next_round(batch, first, most);
            round(batch, tasks);
            first = tasks.back();
        }
    }

    std::size_t bytes() const override {
        std::size_t total = words_.bytes();
        for (const auto& partition : partitions_) total += partition.bytes();
        for (const auto& worker : workers_)
            if (worker)
                for (const auto& buffer : worker->buffers) total += buffer.bytes();
        return total;
    }
    std::uint64_t spilled_bytes() const override { return file_.size(); }
    std::size_t longest_search() const override {
        std::size_t longest = words_.longest_search();
        for (const auto& partition : partitions_)
            longest = std::max(longest, partition.longest_search());
        return longest;
    }

    void sort(Output& output) override {
        aggregate();
        workers_.clear();
        pending_codes_.release();
        std::size_t entries = 0;
        for (const auto& partition : partitions_) entries += partition.size();
        const std::size_t threads =
            file_.open() ? settings_.threads : threads_for(settings_.threads, entries, kFewEntries);
        std::mutex guard;
        if (file_.open()) {
            file_.finish_writing();
            run_tasks(threads, kPartitions, [&](std::size_t, std::size_t p) {
                partitions_[p].gather(file_, [&] { return std::lock_guard<std::mutex>(guard); });
                partitions_[p].drop_index();
            });
        }
        Block<std::uint32_t> rank;
        const bool numbered = analysis_.joined || analysis_.analyzer == Analyzer::kWord;
        if (numbered) words_.ranks(threads, sorted_words_, rank);
        run_tasks(threads, kPartitions, [&](std::size_t, std::size_t p) {
            partitions_[p].drop_index();
            if (!numbered) return;
            Pace pace(kPaceEntries);
            for (Entry<W>& entry : partitions_[p].entries()) {
                pace.spend(1);
                for (std::size_t j = 0; j < W; ++j)
                    if (entry.key[j] != 0) entry.key[j] = rank[entry.key[j]];
            }
        });
        rank.release();
        distribute(threads);
        ranges_info_.assign(ranges_.size(), {});
        run_tasks(threads, ranges_.size(), [&](std::size_t, std::size_t r) {
            sort_range(ranges_[r]);
            measure(ranges_[r], ranges_info_[r]);
        });
        for (const RangeInfo& info : ranges_info_) {
            output.terms += info.terms;
            output.pairs += info.pairs;
            output.name_bytes += info.name_bytes;
        }
    }

    void write(Output& output) override {
        std::vector<RangeInfo> before(ranges_.size());
        RangeInfo sum;
        for (std::size_t r = 0; r < ranges_.size(); ++r) {
            before[r] = sum;
            sum.terms += ranges_info_[r].terms;
            sum.pairs += ranges_info_[r].pairs;
            sum.name_bytes += ranges_info_[r].name_bytes;
        }
        const std::size_t threads = threads_for(settings_.threads, output.pairs, kFewEntries);
        run_tasks(threads, ranges_.size(), [&](std::size_t, std::size_t r) {
            write_range(ranges_[r], before[r], output);
            ranges_[r].release();
        });
        output.name_offsets[output.terms] = static_cast<std::int64_t>(output.name_bytes);
        if (!output.dense) output.start[output.terms] = static_cast<std::int64_t>(output.pairs);
    }

private:
    static constexpr std::size_t kPartitions = 256;
    static constexpr std::size_t kPaceEntries = 1 << 16;
    static constexpr std::size_t kFewEntries = 1 << 15;  // that one thread sorts or adds at once

    struct Worker {
        Block<Occurrence<W>> buffers[kPartitions];
        Scratch scratch;
        std::optional<CachedDictionary> words;
    };
    struct RangeInfo {
        std::size_t terms = 0;
        std::size_t pairs = 0;
        std::size_t name_bytes = 0;
    };

    void round(const Batch& batch, const std::vector<std::size_t>& tasks) {
        const std::size_t first = tasks.front(), last = tasks.back();
        const std::size_t base = pending_codes_.size();
        pending_codes_.append(batch.codes + first, last - first);
        for (std::size_t w = 0; w < std::min(workers_.size(), tasks.size() - 1); ++w)
            if (!workers_[w]) {
                workers_[w] = std::make_unique<Worker>();
                workers_[w]->words.emplace(words_, analysis_.joined ? nullptr : analysis_.stop);
            }
        run_tasks(settings_.threads, tasks.size() - 1, [&](std::size_t w, std::size_t t) {
            Worker& worker = *workers_[w];
            for (std::size_t i = tasks[t]; i < tasks[t + 1]; ++i) {
                if (batch.codes[i] < 0) continue;
                const auto document = static_cast<std::uint32_t>(base + i - first);
                const auto emit = [&](const Key<W>& key) {
                    worker.buffers[hash_key(key) >> 56].push_back({key, document});
                };
                document_ngrams<W>(analysis_, batch, i, worker.scratch, *worker.words, emit);
            }
        });
        if (pending() >= settings_.pending || pending_codes_.size() >= kPendingDocuments) aggregate();
    }

    static constexpr std::size_t kPendingDocuments = std::size_t{1} << 24;

    std::size_t pending() const {
        std::size_t total = 0;
        for (const auto& worker : workers_)
            if (worker)
                for (const auto& buffer : worker->buffers) total += buffer.size();
        return total;
    }

    void aggregate() {
        if (pending_codes_.empty()) return;
        // Numbers of documents are 32 bits wide; before they run out, all are forgotten.
        if (next_document_ + pending_codes_.size() >= kLastDocument) {
            for (auto& partition : partitions_) partition.forget_documents();
            next_document_ = 1;
        }
        const auto first = static_cast<std::uint32_t>(next_document_);
        const std::size_t threads = threads_for(settings_.threads, pending(), kFewEntries);
        run_tasks(threads, kPartitions, [&](std::size_t, std::size_t p) {
            for (auto& worker : workers_) {
                poll();
                if (!worker) continue;
                auto& buffer = worker->buffers[p];
                if (buffer.empty()) continue;
                partitions_[p].add(buffer.data(), buffer.size(), pending_codes_.data(), first);
                buffer.clear();
            }
        });
        next_document_ += pending_codes_.size();
        pending_codes_.clear();
        if (settings_.budget == 0 || bytes() <= settings_.budget) return;
        std::size_t tables = 0;
        for (const auto& partition : partitions_) tables += partition.bytes();
        // Words stay in memory: when they alone fill the budget, writing small runs helps nobody.
        if (tables < settings_.budget / 8) return;
        if (!file_.open()) file_.create(settings_.spill_path);
        for (auto& partition : partitions_) partition.spill(file_);
    }

    // Moves the entries to ranges of keys of about equal size, freeing each partition.
    void distribute(std::size_t threads) {
        std::size_t total = 0;
        for (auto& partition : partitions_) total += partition.size();
        // Small enough that sorting one takes milliseconds: there is no poll inside.
        const std::size_t wanted = std::min<std::size_t>(8192, total / 16384 + 1);
        std::vector<Entry<W>> sample;
        const std::size_t step = std::max<std::size_t>(1, total / (wanted * 32));
        std::size_t at = step / 2;
        for (auto& partition : partitions_) {
            for (; at < partition.size(); at += step) sample.push_back(partition.entries()[at]);
            at -= partition.size();
        }
        std::sort(sample.begin(), sample.end(), Before<W>());
        std::vector<Entry<W>> splitters;
        for (std::size_t i = 1; i < wanted && !sample.empty(); ++i) {
            Entry<W> splitter = sample[sample.size() * i / wanted];
            splitter.code = 0;  // classes of one term stay together
            if (splitters.empty() || Before<W>()(splitters.back(), splitter))
                splitters.push_back(splitter);
        }
        const std::size_t ranges = splitters.size() + 1;
        const auto range_of = [&](const Entry<W>& entry) {
            return static_cast<std::size_t>(
                std::upper_bound(splitters.begin(), splitters.end(), entry, Before<W>()) -
                splitters.begin());
        };
        std::vector<std::size_t> cells(kPartitions * ranges, 0);
        run_tasks(threads, kPartitions, [&](std::size_t, std::size_t p) {
            // The last document has served; its place remembers the range.
            Pace pace(kPaceEntries);
            for (Entry<W>& entry : partitions_[p].entries()) {
                pace.spend(1);
                entry.last = static_cast<std::uint32_t>(range_of(entry));
                ++cells[p * ranges + entry.last];
            }
        });
        ranges_.resize(ranges);
        for (std::size_t r = 0; r < ranges; ++r) {
            std::size_t sum = 0;
            for (std::size_t p = 0; p < kPartitions; ++p) {
                const std::size_t own = cells[p * ranges + r];
                cells[p * ranges + r] = sum;
                sum += own;
            }
            ranges_[r].resize(sum);
        }
        run_tasks(threads, kPartitions, [&](std::size_t, std::size_t p) {
            Pace pace(kPaceEntries);
            for (const Entry<W>& entry : partitions_[p].entries()) {
                pace.spend(1);
                const std::size_t r = entry.last;
                ranges_[r][cells[p * ranges + r]++] = entry;
            }
            partitions_[p].release();
        });
    }

    static void sort_range(Block<Entry<W>>& range) {
        std::sort(range.begin(), range.end(), Before<W>());
    }

    std::size_t name_length(const Key<W>& key) const {
        std::size_t length = 0;
        const bool words = analysis_.joined || analysis_.analyzer == Analyzer::kWord;
        for (std::size_t j = 0; j < W && key[j] != 0; ++j) {
            if (words)
                length += sorted_words_[key[j] - 1].size + (j > 0 ? 1 : 0);
            else
                length += encoded_length(key[j] - 1);
        }
        return length;
    }
    Byte* write_name(const Key<W>& key, Byte* out) const {
        const bool words = analysis_.joined || analysis_.analyzer == Analyzer::kWord;
        for (std::size_t j = 0; j < W && key[j] != 0; ++j) {
            if (!words) {
                out += encode(key[j] - 1, out);
                continue;
            }
            if (j > 0) *out++ = ' ';
            const Span word = sorted_words_[key[j] - 1];
            if (word.size > 0) std::memcpy(out, word.data, word.size);
            out += word.size;
        }
        return out;
    }
    void measure(const Block<Entry<W>>& range, RangeInfo& info) const {
        for (std::size_t i = 0; i < range.size(); ++i) {
            const bool term = i == 0 || range[i].key != range[i - 1].key;
            if (term) {
                ++info.terms;
                info.name_bytes += name_length(range[i].key);
            }
            if (term || range[i].code != range[i - 1].code) ++info.pairs;
        }
    }
    void write_range(const Block<Entry<W>>& range, const RangeInfo& from, Output& out) const {
        std::size_t term = from.terms, pair = from.pairs;
        Byte* name = out.names + from.name_bytes;
        Pace pace(kPaceEntries);
        for (std::size_t i = 0; i < range.size();) {
            pace.spend(1);
            const Key<W> key = range[i].key;
            out.name_offsets[term] = name - out.names;
            name = write_name(key, name);
            if (!out.dense) out.start[term] = static_cast<std::int64_t>(pair);
            while (i < range.size() && range[i].key == key) {
                const std::uint32_t code = range[i].code;
                std::uint64_t count = 0, documents = 0;
                for (; i < range.size() && range[i].key == key && range[i].code == code; ++i) {
                    count += range[i].count;
                    documents += range[i].documents;
                }
                if (settings_.binary) count = documents;
                const std::size_t cell = out.dense ? code * out.terms + term : pair;
                out.count[cell] = static_cast<double>(count);
                out.documents[cell] = static_cast<double>(documents);
                if (!out.dense) out.code[pair] = static_cast<std::int32_t>(code);
                ++pair;
            }
            ++term;
        }
    }

    Analysis analysis_;
    CounterSettings settings_;
    Dictionary words_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<Partition<W>> partitions_;
    Block<std::int32_t> pending_codes_;
    std::uint64_t next_document_ = 1;
    SpillFile file_;
    std::vector<Span> sorted_words_;
    std::vector<Block<Entry<W>>> ranges_;
    std::vector<RangeInfo> ranges_info_;
};

inline std::unique_ptr<Counter> make_counter(const Analysis& analysis, CounterSettings settings) {
    const std::size_t width = analysis.joined ? 1 : key_width(analysis.max_n);
    switch (width) {
        case 1: return std::make_unique<CounterOf<1>>(analysis, std::move(settings));
        case 2: return std::make_unique<CounterOf<2>>(analysis, std::move(settings));
        case 3: return std::make_unique<CounterOf<3>>(analysis, std::move(settings));
        case 4: return std::make_unique<CounterOf<4>>(analysis, std::move(settings));
        case 6: return std::make_unique<CounterOf<6>>(analysis, std::move(settings));
        case 8: return std::make_unique<CounterOf<8>>(analysis, std::move(settings));
        default: throw std::invalid_argument("such long n-grams must be joined");
    }
}

}  // namespace bayesieve::text
