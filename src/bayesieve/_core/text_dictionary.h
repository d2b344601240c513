// Strings to numbers, once for each distinct string, shared by all threads.
//
// The dictionary is cut into shards by hash, each with a lock of its own. Every thread keeps a
// small direct-mapped cache in front: text repeats its frequent words, so that locks and large
// tables are met for rare words only. Which number a word gets depends on the order in which
// threads meet it; results are sorted by string in the end and do not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "text_hash.h"
#include "growing_block.h"
#include "runtime.h"
#include "text_unicode.h"

namespace bayesieve::text {

// Whether two strings of the same size are equal; short ones without a call.
inline bool same_bytes(const Byte* a, const Byte* b, std::size_t size) {
    if (size > 16) return std::memcmp(a, b, size) == 0;
    std::uint64_t x = 0, y = 0, u = 0, v = 0;
    if (size >= 8) {
        std::memcpy(&x, a, 8);
        std::memcpy(&y, b, 8);
        std::memcpy(&u, a + size - 8, 8);
        std::memcpy(&v, b + size - 8, 8);
    } else if (size >= 4) {
        std::memcpy(&x, a, 4);
        std::memcpy(&y, b, 4);
        std::memcpy(&u, a + size - 4, 4);
        std::memcpy(&v, b + size - 4, 4);
    } else if (size > 0) {
        return a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1];
    }
    return ((x ^ y) | (u ^ v)) == 0;
}

inline bool less_bytes(const Span& a, const Span& b) {
    const std::size_t shared = std::min(a.size, b.size);
    const int order = shared == 0 ? 0 : std::memcmp(a.data, b.data, shared);
    return order != 0 ? order < 0 : a.size < b.size;
}

// One bit for each hash, 16 to 32 for each word: most strings that are not there are told at
// once, without a look into the dictionary.
class HashFilter {
public:
    explicit HashFilter(std::size_t words = 0) {
        std::size_t bits = 4096;
        while (bits < 16 * words) bits *= 2;
        words_.resize(bits / 64);
        mask_ = bits - 1;
    }
    void add(std::uint64_t hash) { words_[place(hash) / 64] |= bit(hash); }
    bool may_have(std::uint64_t hash) const {
        return (words_[place(hash) / 64] & bit(hash)) != 0;
    }
    std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }

private:
    std::size_t place(std::uint64_t hash) const {
        return static_cast<std::size_t>(hash >> 20) & mask_;
    }
    std::uint64_t bit(std::uint64_t hash) const { return std::uint64_t{1} << (place(hash) % 64); }

    std::vector<std::uint64_t> words_;
    std::size_t mask_;
};

class Dictionary {
public:
    static constexpr std::uint32_t kShards = 64;

    // The number of a string, from 1; 0 is never given and may stand for "none".
    // Sets `kept` to a copy of the string that lives as long as the dictionary.
    std::uint32_t number(const Byte* p, std::size_t size, std::uint64_t hash, const Byte*& kept) {
        const auto which = static_cast<std::uint32_t>(hash >> 58);
        Shard& shard = shards_[which];
        const std::lock_guard<std::mutex> lock(shard.guard);
        const std::uint32_t i = shard.place(p, size, hash, true);
        kept = shard.words[i].data;
        return i * kShards + which + 1;
    }
    // The number of a string that is there, else 0. Only when nobody adds.
    std::uint32_t find(const Byte* p, std::size_t size, std::uint64_t hash) const {
        const auto which = static_cast<std::uint32_t>(hash >> 58);
        const std::uint32_t i = shards_[which].look_up(p, size, hash);
        return i == kNone ? 0 : i * kShards + which + 1;
    }
    std::size_t size() const {
        std::size_t total = 0;
        for (const Shard& shard : shards_) total += shard.words.size();
        return total;
    }
    std::size_t bytes() const {
        std::size_t total = 0;
        for (const Shard& shard : shards_)
            total += shard.words.bytes() + shard.slots.bytes() + shard.arena_bytes;
        return total;
    }
    // Largest number given out.
    std::size_t limit() const {
        std::size_t largest = 0;
        for (std::uint32_t s = 0; s < kShards; ++s)
            if (!shards_[s].words.empty())
                largest = std::max<std::size_t>(largest,
                                                (shards_[s].words.size() - 1) * kShards + s + 1);
        return largest;
    }
    Span string(std::uint32_t number) const {
        const Word& word = shards_[(number - 1) % kShards].words[(number - 1) / kShards];
        return {word.data, word.size};
    }

    HashFilter filter() const {
        HashFilter result(size());
        for (const Shard& shard : shards_)
            for (const Word& word : shard.words) result.add(hash_bytes(word.data, word.size));
        return result;
    }

    // Places looked at to find the string that is hardest to find.
    std::size_t longest_search() const {
        std::size_t longest = 0;
        for (const Shard& shard : shards_)
            for (std::size_t at = 0; at < shard.slots.size(); ++at)
                if (shard.slots[at] != 0) {
                    const std::size_t home = shard.words[shard.slots[at] - 1].hash;
                    longest = std::max(longest, ((at - home) & (shard.slots.size() - 1)) + 1);
                }
        return longest;
    }

    // Strings in order, and for every number the rank of its string, from 1.
    void ranks(std::size_t threads, std::vector<Span>& sorted,
               Block<std::uint32_t>& rank) const {
        struct Item {
            std::uint64_t head;  // first eight bytes, most significant first
            Span text;
            std::uint32_t number;
        };
        // Cut by first bytes so that threads sort parts of their own.
        std::vector<Item> items;
        items.reserve(size());
        for (std::uint32_t s = 0; s < kShards; ++s) {
            poll();
            const Shard& shard = shards_[s];
            for (std::size_t i = 0; i < shard.words.size(); ++i) {
                const Word& word = shard.words[i];
                std::uint64_t head = 0;
                for (std::size_t b = 0; b < 8; ++b)
                    head = head << 8 | (b < word.size ? word.data[b] : 0u);
                items.push_back({head,
                                 {word.data, word.size},
                                 static_cast<std::uint32_t>(i * kShards + s + 1)});
            }
        }
        // Sorting listens as well, by its comparisons.
        const auto less_by = [](Pace& pace) {
            return [&pace](const Item& a, const Item& b) {
                pace.spend(1);
                return a.head != b.head ? a.head < b.head : less_bytes(a.text, b.text);
            };
        };
        // Threads sort equal parts, then pairs of parts are merged.
        std::size_t parts = 1;
        while (parts < threads && items.size() / (2 * parts) >= 1024) parts *= 2;
        const auto bound = [&](std::size_t part) {
            return items.begin() + static_cast<std::ptrdiff_t>(items.size() * part / parts);
        };
        run_tasks(threads, parts, [&](std::size_t, std::size_t part) {
            Pace pace(kPaceItems);
            std::sort(bound(part), bound(part + 1), less_by(pace));
        });
        for (std::size_t width = 1; width < parts; width *= 2)
            run_tasks(threads, parts / (2 * width), [&](std::size_t, std::size_t pair) {
                const std::size_t first = 2 * width * pair;
                Pace pace(kPaceItems);
                std::inplace_merge(bound(first), bound(first + width), bound(first + 2 * width),
                                   less_by(pace));
            });
        sorted.resize(items.size());
        rank.resize(limit() + 1);
        std::fill(rank.begin(), rank.end(), 0u);
        for_each_stretch(items.size(), [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                sorted[i] = items[i].text;
                rank[items[i].number] = static_cast<std::uint32_t>(i + 1);
            }
        });
    }

private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    static constexpr std::size_t kPaceItems = 1 << 16;
    static constexpr std::size_t kChunk = 1 << 16;

    struct Word {
        const Byte* data;
        std::uint32_t size;
        std::uint32_t hash;
    };
    struct Shard {
        std::mutex guard;
        Block<Word> words;
        Block<std::uint32_t> slots;  // index of a word plus one; 0 is free
        std::vector<std::unique_ptr<Byte[]>> chunks;
        std::size_t left = 0;
        Byte* next = nullptr;
        std::size_t arena_bytes = 0;

        std::uint32_t look_up(const Byte* p, std::size_t size, std::uint64_t hash) const {
            if (slots.empty()) return kNone;
            const std::size_t mask = slots.size() - 1;
            const auto tag = static_cast<std::uint32_t>(hash);
            for (std::size_t at = tag & mask;; at = (at + 1) & mask) {
                if (slots[at] == 0) return kNone;
                const Word& word = words[slots[at] - 1];
                if (word.hash == tag && word.size == size &&
                    same_bytes(word.data, p, size))
                    return slots[at] - 1;
            }
        }
        std::uint32_t place(const Byte* p, std::size_t size, std::uint64_t hash, bool) {
            const std::uint32_t found = look_up(p, size, hash);
            if (found != kNone) return found;
            if (size > 0xFFFFFFFFull) throw std::length_error("a term is longer than 4 GB");
            if (words.size() >= kNone / kShards - 1)
                throw std::length_error("more than four thousand million distinct strings");
            if ((words.size() + 1) * 10 > slots.size() * 7) grow();
            words.push_back({keep(p, size), static_cast<std::uint32_t>(size),
                             static_cast<std::uint32_t>(hash)});
            put(static_cast<std::uint32_t>(words.size() - 1));
            return static_cast<std::uint32_t>(words.size() - 1);
        }
        void put(std::uint32_t index) {
            const std::size_t mask = slots.size() - 1;
            std::size_t at = words[index].hash & mask;
            while (slots[at] != 0) at = (at + 1) & mask;
            slots[at] = index + 1;
        }
        void grow() {
            const std::size_t size = slots.empty() ? 64 : slots.size() * 2;
            slots.release();
            slots.resize(size);
            std::fill(slots.begin(), slots.end(), 0u);
            for (std::size_t i = 0; i < words.size(); ++i) put(static_cast<std::uint32_t>(i));
        }
        const Byte* keep(const Byte* p, std::size_t size) {
            if (size > left || next == nullptr) {
                // Begins small: a dictionary of a few words should cost a few kilobytes.
                const std::size_t room =
                    std::max(size, std::min(kChunk, std::max<std::size_t>(256, arena_bytes)));
                chunks.push_back(std::make_unique<Byte[]>(room));
                next = chunks.back().get();
                left = room;
                arena_bytes += room;
            }
            Byte* kept = next;
            if (size > 0) std::memcpy(kept, p, size);
            next += size;
            left -= size;
            return kept;
        }
    };
    Shard shards_[kShards];
};

// A thread's own small table of words it has met lately, one place for each hash. A word of up
// to 16 bytes is held in the line itself, so that a hit touches one line of memory.
class WordCache {
public:
    explicit WordCache(bool used) : lines_(used ? kLines : 0) {}

    void prefetch(std::uint64_t hash) const {
        if (!lines_.empty()) BAYESIEVE_PREFETCH(&lines_[hash & (kLines - 1)]);
    }
    bool find(const Byte* p, std::size_t size, std::uint64_t hash, std::uint32_t& number) const {
        if (lines_.empty()) return false;
        const Line& line = lines_[hash & (kLines - 1)];
        if (line.hash != hash || line.size != size || size == 0) return false;
        if (size <= 16) {
            std::uint64_t image[2];
            copy_short(p, size, image);
            if (image[0] != line.image[0] || image[1] != line.image[1]) return false;
        } else {
            const Byte* kept;
            std::memcpy(&kept, line.image, sizeof kept);
            if (std::memcmp(kept, p, size) != 0) return false;
        }
        number = line.number;
        return true;
    }
    // `kept` are the same bytes, for as long as the cache lives.
    void put(const Byte* kept, std::size_t size, std::uint64_t hash, std::uint32_t number) {
        if (lines_.empty() || size == 0 || size > 0xFFFFFFFFull) return;
        Line& line = lines_[hash & (kLines - 1)];
        line.hash = hash;
        line.size = static_cast<std::uint32_t>(size);
        line.number = number;
        if (size <= 16)
            copy_short(kept, size, line.image);
        else
            std::memcpy(line.image, &kept, sizeof kept);
    }

private:
    static constexpr std::size_t kLines = 1 << 15;
    struct Line {
        std::uint64_t hash = 0;
        std::uint64_t image[2] = {0, 0};
        std::uint32_t size = 0;
        std::uint32_t number = 0;
    };
    // All bytes of a word of 1 to 16; with its size they are the word.
    static void copy_short(const Byte* p, std::size_t size, std::uint64_t* image) {
        if (size >= 8) {
            std::memcpy(image, p, 8);
            std::memcpy(image + 1, p + size - 8, 8);
        } else if (size >= 4) {
            std::uint32_t first, last;
            std::memcpy(&first, p, 4);
            std::memcpy(&last, p + size - 4, 4);
            image[0] = first;
            image[1] = last;
        } else {
            image[0] = p[0];
            image[1] = static_cast<std::uint64_t>(p[size / 2]) << 8 | p[size - 1];
        }
    }
    std::vector<Line> lines_;
};

// A thread's way into a growing dictionary.
class CachedDictionary {
public:
    // Words of `stop`, if given, have the number 0.
    CachedDictionary(Dictionary& shared, const Dictionary* stop)
        : shared_(shared), stop_(stop), cache_(true) {}

    void prefetch(std::uint64_t hash) const { cache_.prefetch(hash); }
    std::uint32_t number(const Byte* p, std::size_t size) {
        return number(p, size, hash_bytes(p, size));
    }
    std::uint32_t number(const Byte* p, std::size_t size, std::uint64_t hash) {
        std::uint32_t number;
        if (cache_.find(p, size, hash, number)) return number;
        if (stop_ != nullptr) {
            const std::uint32_t found = stop_->find(p, size, hash);
            if (found != 0) {
                cache_.put(stop_->string(found).data, size, hash, 0);
                return 0;
            }
        }
        const Byte* kept = nullptr;
        number = shared_.number(p, size, hash, kept);
        cache_.put(kept, size, hash, number);
        return number;
    }

private:
    Dictionary& shared_;
    const Dictionary* stop_;
    WordCache cache_;
};

// A thread's way into a dictionary that is complete. Unknown words are not cached: they are
// common where the dictionary is small, and near memory anyway.
class FixedDictionary {
public:
    // `filter` has every word of `words`.
    FixedDictionary(const Dictionary& words, const Dictionary* stop, const HashFilter& filter)
        : words_(words), stop_(stop), filter_(filter), cache_(words.size() > kSmall) {}

    static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;

    void prefetch(std::uint64_t hash) const { cache_.prefetch(hash); }
    // 0 for stop words, which are left out; kUnknown for words that end every n-gram.
    std::uint32_t number(const Byte* p, std::size_t size) {
        return number(p, size, hash_bytes(p, size));
    }
    std::uint32_t number(const Byte* p, std::size_t size, std::uint64_t hash) {
        std::uint32_t number;
        if (cache_.find(p, size, hash, number)) return number;
        if (stop_ != nullptr && stop_->find(p, size, hash) != 0) return 0;
        if (!filter_.may_have(hash)) return kUnknown;
        number = words_.find(p, size, hash);
        if (number == 0) return kUnknown;
        cache_.put(words_.string(number).data, size, hash, number);
        return number;
    }

private:
    static constexpr std::size_t kSmall = 1 << 12;
    const Dictionary& words_;
    const Dictionary* stop_;
    const HashFilter& filter_;
    WordCache cache_;
};

}  // namespace bayesieve::text
