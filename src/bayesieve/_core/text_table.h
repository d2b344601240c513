// One partition of the counts: a hash table of (n-gram, class), and its runs on disk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "growing_block.h"
#include "runtime.h"
#include "spill_file.h"
#include "text_analysis.h"

// Counters and numbers of documents are 32 bits wide. Tests make them full much earlier.
#ifndef BAYESIEVE_TEXT_FULL
#define BAYESIEVE_TEXT_FULL 0xFFFFFFFFu
#endif
#ifndef BAYESIEVE_TEXT_DOCUMENTS
#define BAYESIEVE_TEXT_DOCUMENTS 0xFFFFFFFFu
#endif

namespace bayesieve::text {

constexpr std::uint32_t kFull = BAYESIEVE_TEXT_FULL;
constexpr std::uint64_t kLastDocument = BAYESIEVE_TEXT_DOCUMENTS;

// An occurrence of an n-gram; documents are numbered within what is pending.
template <std::size_t W>
struct Occurrence {
    Key<W> key;
    std::uint32_t document;
};

template <std::size_t W>
struct Entry {
    Key<W> key;
    std::uint32_t code;
    std::uint32_t count;
    std::uint32_t documents;
    std::uint32_t last;  // document last seen, from 1
};

// By key, then by class. A type rather than a function, so that sorts can inline it.
template <std::size_t W>
struct Before {
    bool operator()(const Entry<W>& a, const Entry<W>& b) const {
        if constexpr (W == 2) {
            const std::uint64_t x = static_cast<std::uint64_t>(a.key[0]) << 32 | a.key[1];
            const std::uint64_t y = static_cast<std::uint64_t>(b.key[0]) << 32 | b.key[1];
            return x != y ? x < y : a.code < b.code;
        } else {
            for (std::size_t i = 0; i < W; ++i)
                if (a.key[i] != b.key[i]) return a.key[i] < b.key[i];
            return a.code < b.code;
        }
    }
};

template <std::size_t W>
class Partition {
public:
    // Adds occurrences, documents in one stretch each; first is the number of document 0.
    void add(const Occurrence<W>* items, std::size_t count, const std::int32_t* codes,
             std::uint32_t first) {
        constexpr std::size_t kAhead = 12;
        std::uint64_t ahead[kAhead];
        const auto hash = [&](std::size_t i) {
            return hash_pair(items[i].key,
                             static_cast<std::uint32_t>(codes[items[i].document]));
        };
        if (slots_.empty()) grow();
        for (std::size_t i = 0; i < count && i < kAhead; ++i) ahead[i] = hash(i);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t h = ahead[i % kAhead];
            if (i + kAhead < count) {
                const std::uint64_t next = hash(i + kAhead);
                ahead[i % kAhead] = next;
                BAYESIEVE_PREFETCH(&slots_[next & (slots_.size() - 1)]);
            }
            const auto code = static_cast<std::uint32_t>(codes[items[i].document]);
            const std::uint32_t document = first + items[i].document;
            Entry<W>& entry = find(items[i].key, code, h);
            // A full counter goes on in a second entry; they are added up in the end.
            if (entry.count == kFull) {
                continue_entry(entry, h);
                Entry<W>& fresh = entries_[entries_.size() - 1];
                ++fresh.count;
                if (fresh.last != document) ++fresh.documents, fresh.last = document;
                continue;
            }
            ++entry.count;
            if (entry.last != document) {
                ++entry.documents;
                entry.last = document;
            }
        }
    }
    std::size_t bytes() const { return entries_.bytes() + slots_.bytes(); }
    std::size_t size() const { return entries_.size(); }
    Block<Entry<W>>& entries() { return entries_; }

    void forget_documents() {
        for (Entry<W>& entry : entries_) entry.last = 0;
    }
    void drop_index() { slots_.release(); }
    void release() {
        entries_.release();
        slots_.release();
    }
    void spill(SpillFile& file) {
        if (entries_.empty()) return;
        runs_.push_back({file.append(entries_.data(), entries_.size() * sizeof(Entry<W>)),
                         entries_.size()});
        release();
    }
    bool spilled() const { return !runs_.empty(); }
    // Places looked at to find the pair that is hardest to find.
    std::size_t longest_search() const {
        std::size_t longest = 0;
        for (std::size_t at = 0; at < slots_.size(); ++at)
            if (slots_[at] != 0) {
                const Entry<W>& entry = entries_[slots_[at] - 1];
                const auto home = static_cast<std::size_t>(hash_pair(entry.key, entry.code));
                longest = std::max(longest, ((at - home) & (slots_.size() - 1)) + 1);
            }
        return longest;
    }
    // Adds the runs on disk to what is in memory; `lock` is held while the file is read.
    template <class Lock>
    void gather(SpillFile& file, Lock lock) {
        Block<Entry<W>> part;
        for (const Run& run : runs_) {
            for (std::size_t done = 0; done < run.count; done += part.size()) {
                part.resize(std::min<std::size_t>(run.count - done, 1 << 15));
                {
                    const auto held = lock();
                    file.read(run.at + done * sizeof(Entry<W>), part.data(),
                              part.size() * sizeof(Entry<W>));
                }
                poll();
                for (const Entry<W>& item : part) add_entry(item);
            }
        }
        runs_.clear();
    }

private:
    struct Run {
        std::uint64_t at;
        std::size_t count;
    };

    // The top bits, which chose the partition, are the same in all of it.
    static std::uint64_t hash_pair(const Key<W>& key, std::uint32_t code) {
        return (hash_key(key) ^ code) * 0x9E3779B97F4A7C15ull >> 16;
    }
    Entry<W>& find(const Key<W>& key, std::uint32_t code, std::uint64_t hash) {
        if ((entries_.size() + 1) * 10 > slots_.size() * 7) grow();
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
            if (slots_[at] == 0) {
                if (entries_.size() >= 0xFFFFFFFEu)
                    throw std::length_error("too many distinct terms in one partition");
                entries_.push_back({key, code, 0, 0, 0});
                slots_[at] = static_cast<std::uint32_t>(entries_.size());
                return entries_[entries_.size() - 1];
            }
            Entry<W>& entry = entries_[slots_[at] - 1];
            if (entry.key == key && entry.code == code) return entry;
        }
    }
    void continue_entry(const Entry<W>& full, std::uint64_t hash) {
        continued_ = true;
        const auto old = static_cast<std::uint32_t>(&full - entries_.data()) + 1;
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash & mask;
        while (slots_[at] != old) at = (at + 1) & mask;
        entries_.push_back({full.key, full.code, 0, 0, full.last});
        slots_[at] = static_cast<std::uint32_t>(entries_.size());
    }
    void add_entry(const Entry<W>& item) {
        if (slots_.empty()) grow();
        const std::uint64_t hash = hash_pair(item.key, item.code);
        Entry<W>& entry = find(item.key, item.code, hash);
        if (kFull - entry.count < item.count) {
            continue_entry(entry, hash);
            Entry<W>& fresh = entries_[entries_.size() - 1];
            fresh.count = item.count;
            fresh.documents = item.documents;
            return;
        }
        entry.count += item.count;
        entry.documents += item.documents;
    }
    void grow() {
        const std::size_t size = slots_.empty() ? 64 : slots_.size() * 2;
        slots_.release();
        slots_.resize(size);
        std::fill(slots_.begin(), slots_.end(), 0u);
        const std::size_t mask = size - 1;
        // Later entries of the same pair replace earlier ones, which are full.
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            std::size_t at = hash_pair(entries_[i].key, entries_[i].code) & mask;
            while (slots_[at] != 0) {
                if (!continued_) {
                    at = (at + 1) & mask;
                    continue;
                }
                const Entry<W>& other = entries_[slots_[at] - 1];
                if (other.key == entries_[i].key && other.code == entries_[i].code) break;
                at = (at + 1) & mask;
            }
            slots_[at] = static_cast<std::uint32_t>(i + 1);
        }
    }

    Block<Entry<W>> entries_;
    Block<std::uint32_t> slots_;  // index of an entry plus one; 0 is free
    std::vector<Run> runs_;
    bool continued_ = false;
};

}  // namespace bayesieve::text
