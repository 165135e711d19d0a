/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_read.h - read a task's own perf event without a system call
 *
 * Open an event of perf_event_open(2) on the calling task (pid 0, cpu -1), map
 * one page of it, and call user_read() with the page:
 *
 *	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
 *	...
 *	if (!user_read(page, &count))
 *		read(fd, &count, sizeof(count));
 *
 * On arm64 set bit 1 of attr.config1 (rdpmc=1), and have the administrator set
 * kernel.perf_user_access. The page is that of the task which opened the event:
 * other threads read() it.
 *
 * This is the reader that <linux/perf_event.h> describes at struct
 * perf_event_mmap_page, and does what libperf's perf_evsel__read() does.
 */
#ifndef USER_READ_H
#define USER_READ_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* A count, with the ns for which its event was enabled and had a counter */
struct user_count {
	uint64_t value;
	uint64_t enabled;
	uint64_t running;
};

/* The kernel changes the page in interrupts on this CPU, so a compiler barrier is enough. */
static inline void user_read_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

#define user_read_once(x)	(*(const volatile __typeof__(x) *)&(x))

#if defined(__x86_64__)

/* RDPMC: counters from 0 on are general-purpose, from 1 << 30 on fixed. */
static inline uint64_t user_read_counter(uint32_t counter)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter));
	return (uint64_t)high << 32 | low;
}

static inline uint64_t user_read_clock(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a" (low), "=d" (high));
	return (uint64_t)high << 32 | low;
}

#elif defined(__riscv) && __riscv_xlen == 64

/* 0 to 31 are the CSRs cycle, time, instret and hpmcounter3 to hpmcounter31. */
#define USER_READ_CSR(n)						\
	case n:								\
		__asm__ volatile("csrr	%0, " #n " + 0xc00" : "=r" (value)); \
		break
#define USER_READ_8_CSRS(n)						\
	USER_READ_CSR(n); USER_READ_CSR(n + 1); USER_READ_CSR(n + 2); USER_READ_CSR(n + 3);	\
	USER_READ_CSR(n + 4); USER_READ_CSR(n + 5); USER_READ_CSR(n + 6); USER_READ_CSR(n + 7)
static inline uint64_t user_read_counter(uint32_t counter)
{
	uint64_t value = 0;

	switch (counter) {
	USER_READ_8_CSRS(0);
	USER_READ_8_CSRS(8);
	USER_READ_8_CSRS(16);
	USER_READ_8_CSRS(24);
	}
	return value;
}

static inline uint64_t user_read_clock(void)
{
	uint64_t value;

	__asm__ volatile("rdtime	%0" : "=r" (value));
	return value;
}

#elif defined(__aarch64__)

/*
 * The counter's number is part of the instruction. Each of these instructions takes 16 bytes, and
 * the code jumps to the one of @counter. 0 to 30 are PMEVCNTR<n>_EL0, 31 is PMCCNTR_EL0.
 */
static inline uint64_t user_read_counter(uint32_t counter)
{
	uint64_t value, at;

	if (counter == 31) {
		__asm__ volatile("mrs	%0, pmccntr_el0" : "=r" (value));
		return value;
	}

	__asm__ volatile("adr	%1, 1f\n"
	"	add	%1, %1, %w2, uxtw #4\n"
	"	br	%1\n"
	"1:\n"
	"	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"
	"	hint	#36\n"			/* bti j */
	"	mrs	%0, pmevcntr\\n\\()_el0\n"
	"	b	2f\n"
	"	nop\n"
	"	.endr\n"
	"2:\n"
	: "=r" (value), "=&r" (at) : "r" (counter));
	return value;
}

static inline uint64_t user_read_clock(void)
{
	uint64_t value;

	__asm__ volatile("mrs	%0, cntvct_el0" : "=r" (value));
	return value;
}

#elif defined(__powerpc64__)

/* SPRs 771 to 776 are PMC1 to PMC6, as user space reads them. */
#define USER_READ_SPR(n)						\
	case n:								\
		__asm__ volatile("mfspr	%0, " #n " + 771" : "=r" (value)); \
		break
static inline uint64_t user_read_counter(uint32_t counter)
{
	uint64_t value = 0;

	switch (counter) {
	USER_READ_SPR(0);
	USER_READ_SPR(1);
	USER_READ_SPR(2);
	USER_READ_SPR(3);
	USER_READ_SPR(4);
	USER_READ_SPR(5);
	}
	return value;
}

#undef USER_READ_SPR

/* The time base */
static inline uint64_t user_read_clock(void)
{
	uint64_t value;

	__asm__ volatile("mfspr	%0, 268" : "=r" (value));
	return value;
}

#else
#error "user_read.h knows x86-64, arm64, riscv64 and ppc64"
#endif

/*
 * Read the event's count. Return false if the event has no counter that user space can read now:
 * it is stopped, has lost its counter, or reads are not allowed. Then use read(2).
 */
static inline bool user_read(const struct perf_event_mmap_page *page, uint64_t *count)
{
	uint32_t seq, index, unused;
	int64_t counter;
	uint64_t value;

	do {
		seq = user_read_once(page->lock);
		user_read_barrier();
		index = user_read_once(page->index);
		if (!index)
			return false;
		value = user_read_once(page->offset);
		unused = 64 - user_read_once(page->pmc_width);
		counter = user_read_counter(index - 1) << unused;
		value += counter >> unused;
		user_read_barrier();
	} while (user_read_once(page->lock) != seq);

	*count = value;
	return true;
}

/*
 * Return the ns since the kernel wrote the page's times. The page must have a clock
 * (cap_user_time).
 */
static inline uint64_t user_read_elapsed(const struct perf_event_mmap_page *page)
{
	uint64_t clock = user_read_clock(), quotient, remainder;

	if (page->cap_user_time_short)
		clock = page->time_cycles + ((clock - page->time_cycles) & page->time_mask);
	quotient = clock >> page->time_shift;
	remainder = clock & (((uint64_t)1 << page->time_shift) - 1);
	return page->time_offset + quotient * page->time_mult +
	       (remainder * page->time_mult >> page->time_shift);
}

/*
 * Read the count with its times, for events that share counters: count * enabled / running
 * estimates the whole count. Return false where user_read() does.
 */
static inline bool user_read_times(const struct perf_event_mmap_page *page,
				   struct user_count *count)
{
	uint32_t seq, index, unused;
	uint64_t delta;
	int64_t counter;

	do {
		seq = user_read_once(page->lock);
		user_read_barrier();
		index = user_read_once(page->index);
		if (!index)
			return false;
		count->enabled = user_read_once(page->time_enabled);
		count->running = user_read_once(page->time_running);
		count->value = user_read_once(page->offset);
		unused = 64 - user_read_once(page->pmc_width);
		counter = user_read_counter(index - 1) << unused;
		count->value += counter >> unused;
		delta = page->cap_user_time ? user_read_elapsed(page) : 0;
		user_read_barrier();
	} while (user_read_once(page->lock) != seq);

	count->enabled += delta;
	count->running += delta;
	return true;
}

/*
 * Compute for how many ns a running event has been enabled, even if its counter is unreadable.
 * Return false if the page has no clock.
 */
static inline bool user_read_enabled(const struct perf_event_mmap_page *page, uint64_t *enabled)
{
	uint32_t seq;

	do {
		seq = user_read_once(page->lock);
		user_read_barrier();
		if (!page->cap_user_time)
			return false;
		*enabled = user_read_once(page->time_enabled) + user_read_elapsed(page);
		user_read_barrier();
	} while (user_read_once(page->lock) != seq);

	return true;
}

#endif /* USER_READ_H */
