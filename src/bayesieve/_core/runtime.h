// How every kernel runs: work cut into pieces for a few threads, and a way to end it early.
//
// Results must not depend on the number of threads, so work is cut into blocks whose size is
// a constant, each block writes only its own slot, and callers combine the slots in order.
// Scratch space may be kept per worker as long as what it gathers does not depend on order.
//
// The first exception of any thread is thrown by the caller once all have ended, and where the
// system refuses a thread those that run do all the work. Threads live for one call: there is
// no pool that a fork could lose, and no lock that outlives a call.
//
// A kernel listens. Between blocks, and inside work that takes long, it calls poll(), which
// throws when Ctrl-C was pressed, when the time limit is reached or when another thread has
// failed; a few milliseconds of work between two calls are few enough, and a call costs some
// tens of nanoseconds. Who listens to Python is in kernel.h: nothing here needs Python.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace bayesieve {

// Ends the work of a thread because another one has failed; never leaves run_tasks.
struct Stopped {};

// What a kernel listens to.
class Watch {
public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    virtual ~Watch() = default;

    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    void stop() { stopped_.store(true, std::memory_order_relaxed); }
    // Throws if the kernel has to end. Called by the thread that Python called, by no other.
    virtual void look() = 0;

private:
    std::atomic<bool> stopped_{false};
};

// The watch of the kernel that this thread works for, and whether it is the one that looks.
struct Listening {
    Watch* watch = nullptr;
    bool looks = false;
};
inline thread_local Listening listening;

inline void poll() {
    Watch* const watch = listening.watch;
    if (watch == nullptr) return;
    if (watch->stopped()) throw Stopped();
    if (listening.looks) watch->look();
}

// Calls poll() once for so many units of work: for loops whose steps are short.
class Pace {
public:
    explicit Pace(std::size_t between = std::size_t{1} << 20) : between_(between) {}
    void spend(std::size_t work) {
        spent_ += work;
        if (spent_ < between_) return;
        spent_ = 0;
        poll();
    }

private:
    std::size_t between_, spent_ = 0;
};

// Calls body(first, last) for stretches of [0, items), with a poll between two: for loops whose
// steps are so short that even a Pace would be felt.
template <class Body>
void for_each_stretch(std::size_t items, Body body,
                      std::size_t stretch = std::size_t{1} << 17) {
    for (std::size_t first = 0; first < items; first += stretch) {
        if (first > 0) poll();
        body(first, std::min(items, first + stretch));
    }
}

// Threads of one call of run_tasks.
class Team {
public:
    // Calls work(worker) on up to so many threads, this one among them, and waits for all.
    template <class Work>
    void run(std::size_t workers, Work work) {
        Watch* const watch = listening.watch;
        auto guarded = [&](std::size_t worker) {
            try {
                work(worker);
            } catch (const Stopped&) {  // the reason is known elsewhere
            } catch (...) {
                fail(watch);
            }
        };
        std::vector<std::thread> threads;
        threads.reserve(workers - 1);
        for (std::size_t w = 1; w < workers; ++w) {
            {
                const std::lock_guard<std::mutex> lock(guard_);
                ++running_;
            }
            try {
                threads.emplace_back([this, watch, w, &guarded] {
                    listening = {watch, false};
                    guarded(w);
                    const std::lock_guard<std::mutex> lock(guard_);
                    if (--running_ == 0) ended_.notify_one();
                });
            } catch (const std::exception&) {  // no more threads, or no memory for one
                const std::lock_guard<std::mutex> lock(guard_);
                --running_;
                break;
            }
        }
        guarded(0);
        wait(watch);
        for (auto& thread : threads) thread.join();
        if (failure_) std::rethrow_exception(failure_);
        // Another team of the same kernel has failed.
        if (watch != nullptr && watch->stopped()) throw Stopped();
    }

private:
    void fail(Watch* watch) {
        const std::lock_guard<std::mutex> lock(guard_);
        if (!failure_) failure_ = std::current_exception();
        if (watch != nullptr) watch->stop();
    }

    // Listens while the others work.
    void wait(Watch* watch) {
        std::unique_lock<std::mutex> lock(guard_);
        while (running_ > 0) {
            if (!listening.looks || failure_) {
                ended_.wait(lock);
                continue;
            }
            ended_.wait_for(lock, std::chrono::milliseconds(20));
            if (running_ == 0) break;
            lock.unlock();
            try {
                watch->look();
            } catch (...) {
                fail(watch);
            }
            lock.lock();
        }
    }

    std::mutex guard_;
    std::condition_variable ended_;
    std::size_t running_ = 0;
    std::exception_ptr failure_;
};

// Calls body(worker, task) for every task in [0, tasks), tasks in rising order.
template <class Body>
void run_tasks(std::size_t threads, std::size_t tasks, Body body) {
    const std::size_t workers = std::max<std::size_t>(1, std::min(threads, tasks));
    if (workers == 1) {
        for (std::size_t task = 0; task < tasks; ++task) {
            poll();
            body(std::size_t{0}, task);
        }
        return;
    }
    poll();  // the others may have done all the tasks before this thread comes to one
    std::atomic<std::size_t> next{0};
    Team team;
    team.run(workers, [&](std::size_t worker) {
        try {
            for (std::size_t task = next++; task < tasks; task = next++) {
                poll();
                body(worker, task);
            }
        } catch (...) {
            next = tasks;
            throw;
        }
    });
}

// Threads that the kernels which this thread calls may use, 0 for one a processor; set from
// Python by _core.ThreadLimit.
inline thread_local std::size_t thread_limit = 0;

inline std::size_t available_threads() {
    if (thread_limit != 0) return thread_limit;
    return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

// Threads for so many items, of which each thread must have some: one costs some 30 microseconds
// to start, and more where processors are busy.
inline std::size_t threads_for(std::size_t threads, std::size_t items, std::size_t each) {
    return std::max<std::size_t>(1, std::min(threads, items / each));
}

inline std::size_t block_count(std::size_t items, std::size_t block) {
    return (items + block - 1) / block;
}

inline std::size_t worker_count(std::size_t items, std::size_t block) {
    return std::max<std::size_t>(
        1, std::min<std::size_t>({available_threads(), block_count(items, block), 8}));
}

// Calls body(worker, block_index, first, last) for every block of [0, items).
template <class Body>
void for_each_block_by_worker(std::size_t items, std::size_t block, Body body) {
    run_tasks(worker_count(items, block), block_count(items, block),
              [&](std::size_t worker, std::size_t b) {
                  body(worker, b, b * block, std::min(items, (b + 1) * block));
              });
}

// Calls body(block_index, first, last) for every block of [0, items).
template <class Body>
void for_each_block(std::size_t items, std::size_t block, Body body) {
    for_each_block_by_worker(items, block,
                             [&](std::size_t, std::size_t b, std::size_t first,
                                 std::size_t last) { body(b, first, last); });
}

}  // namespace bayesieve
