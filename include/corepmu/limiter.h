/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: the limiter: keep overflows of short periods from taking all of a CPU's time
 *
 * core/limiter.c has the rules.
 */
#ifndef _COREPMU_LIMITER_H
#define _COREPMU_LIMITER_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/time64.h>
#include <linux/types.h>

struct corepmu_cpu;

/* The limiter changes min_left at most once in this time. */
#define COREPMU_LIMITER_WINDOW_NS	(10 * NSEC_PER_MSEC)

/* Initial and lowest max_irq_ns */
#define COREPMU_LIMITER_MIN_IRQ_NS	(150 * NSEC_PER_USEC)

/* A debug kernel: the entry to an interrupt and its exit may take thousands of instructions. */
#define COREPMU_KERNEL_CHECKS_ITSELF	(IS_ENABLED(CONFIG_PROVE_LOCKING) ||	\
					 IS_ENABLED(CONFIG_KASAN_GENERIC) ||	\
					 IS_ENABLED(CONFIG_KCSAN))

/**
 * struct corepmu_limiter - the limiter's state on one CPU
 * @min_left: shortest period, in counts, of an event that the limiter throttles; struct corepmu's
 *	min_left while it throttles none
 * @window: sched_clock() at the start of the window, in ns
 * @busy_ns: time that overflow interrupts took in the window
 * @max_irq_ns: longest time that one interrupt adds to @busy_ns
 * @user_hit: an overflow interrupt of the window came in user space
 * @is_raised: periods are stretched
 * @is_logged: the log says that periods are stretched
 */
struct corepmu_limiter {
	s64	min_left;
	u64	window;
	u64	busy_ns;
	u64	max_irq_ns;
	bool	user_hit;
	bool	is_raised;
	bool	is_logged;
};

u64 corepmu_limiter_adjust(struct corepmu_limiter *limiter, u64 ns);
void corepmu_limiter_exclude_irq(struct corepmu_cpu *cpuc);
void corepmu_limiter_end_window(struct corepmu_cpu *cpuc, u64 ns);

/**
 * corepmu_limiter_account() - add an overflow interrupt to the window
 * @limiter: this CPU's limiter
 * @ns: time that the interrupt took
 *
 * Hot: most interrupts are shorter than COREPMU_LIMITER_MIN_IRQ_NS. From the overflow interrupt.
 */
static __always_inline void corepmu_limiter_account(struct corepmu_limiter *limiter, u64 ns)
{
	if (unlikely(ns > COREPMU_LIMITER_MIN_IRQ_NS ||
		     limiter->max_irq_ns > COREPMU_LIMITER_MIN_IRQ_NS))
		ns = corepmu_limiter_adjust(limiter, ns);
	limiter->busy_ns += ns;
}

#endif /* _COREPMU_LIMITER_H */
