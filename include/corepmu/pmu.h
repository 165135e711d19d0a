/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: types and functions that all files share
 *
 * An event goes perf core -> core/pmu.c -> core/assign.c (which counter) -> core/counter.c
 * (what value) -> backend (which registers); an overflow comes back backend ->
 * core/overflow.c -> core/counter.c -> perf core. See Documentation/driver-api/corepmu.rst.
 * corepmu/hw.h says what the driver keeps in struct hw_perf_event.
 */
#ifndef _COREPMU_PMU_H
#define _COREPMU_PMU_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/notifier.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/static_call.h>
#include <linux/time64.h>
#include <linux/types.h>

#include <corepmu/assign.h>
#include <corepmu/branch.h>
#include <corepmu/compat.h>
#include <corepmu/hw.h>
#include <corepmu/limiter.h>
#include <corepmu/precise.h>

struct corepmu;

#define COREPMU_MAX_COUNTERS	64

/* Bytes of a counter's name, see struct corepmu_backend */
#define COREPMU_COUNTER_NAME	24

/*
 * The event counts in 64 bits whatever the width of a single counter. The bit
 * is the one that the kernel's arch_perf_update_userpage() takes for "64 bits
 * wide" (drivers/perf/arm_pmuv3.c, ARMPMU_EVT_64BIT).
 */
#define COREPMU_EVENT_LONG	BIT(0)
/* On a counter of corepmu.pair_counters, the event takes the one below too. */
#define COREPMU_EVENT_PAIR	BIT(1)
/* User space reads the low 32 bits of the counter: it is used as if it had no more. */
#define COREPMU_EVENT_32BIT	BIT(2)
/* The task that the event counts has mapped its page, or, of a CPU's event, anybody has. */
#define COREPMU_EVENT_MAPPED	BIT(3)
/* Its samples have branch records. */
#define COREPMU_EVENT_BRANCHES	BIT(4)
/* The event shares its counter with others of its group (Intel's slots and their parts). */
#define COREPMU_EVENT_TOPDOWN	BIT(8)
/* Its samples are made from records that the hardware writes (PEBS). */
#define COREPMU_EVENT_PRECISE	BIT(5)
/* Several of its records may be written before there is an interrupt (large PEBS). */
#define COREPMU_EVENT_LARGE	BIT(9)
/*
 * A register besides the event selection says what it counts (Intel's OFFCORE_RSP), and is
 * shared by events that want the same value in it.
 */
#define COREPMU_EVENT_SECOND	BIT(6)
/* The hardware sets its counter anew when others of its group overflow (auto counter reload). */
#define COREPMU_EVENT_RELOAD	BIT(7)
/* Branch records of its group say how often it has happened between two of them. */
#define COREPMU_EVENT_COUNTED	BIT(10)
/* Bits from here on are the backends'. */
#define COREPMU_EVENT_BACKEND	12

/* Adding, starting and stopping an event with one of these takes more than its counter. */
#define COREPMU_EVENT_EXTRAS	(COREPMU_EVENT_BRANCHES | COREPMU_EVENT_PRECISE | \
				 COREPMU_EVENT_SECOND | COREPMU_EVENT_RELOAD |	\
				 COREPMU_EVENT_COUNTED)

/* hw_perf_event.last_cpu: the period for the event's frequency has not been found yet. */
#define COREPMU_FREQ_YOUNG	(-1)

/* Second registers of a CPU, at most */
#define COREPMU_MAX_SECOND	7

/* Bits of corepmu_cpu.trusted_others: registers that all counters share */
#define COREPMU_TRUST_SHARED	BIT(0)
/* Registers of branch records, precise samples, auto counter reload, and each second register */
#define COREPMU_TRUST_BRANCHES	BIT(1)
#define COREPMU_TRUST_PRECISE	BIT(2)
#define COREPMU_TRUST_RELOAD	BIT(3)
#define COREPMU_TRUST_SECOND(n)	BIT(8 + (n))

/**
 * struct corepmu_second - what a register holds that events share
 * @value: its value, of all of them
 * @users: events that are placed and need it
 */
struct corepmu_second {
	u64		value;
	unsigned int	users;
};

/**
 * struct corepmu_cpu - one PMU's state on one CPU
 * @pmu: the PMU
 * @used: counters that hold an event, or are the lower of a pair
 * @active: counters that are to count
 * @hw_active: counters that the hardware has enabled
 * @dirty: counters that hold no event, but maybe a value that one left there
 * @trusted: counters whose event has left since perf core stopped the PMU last: their event
 *	selection is still what @selected or @shared_select says. Of any other counter that an event
 *	comes to, somebody else may have written the registers meanwhile (another agent, firmware, a
 *	hypervisor): the backend writes them
 * @trusted_others: registers besides the event selections that hold what is known of them, for the
 *	same reason: COREPMU_TRUST_*
 * @running: the PMU as a whole counts
 * @regs: registers that the overflow interrupt which is being handled interrupted, else NULL
 * @overflow_start: sched_clock() when that interrupt came
 * @overflow_resume: the PMU ran when it came, and is to run again after it
 * @overflow_handled: events whose overflow it has handled so far
 * @limiter: the limiter's state
 * @suspended: counters that counted when the CPU was powered down
 * @last_late: jiffies when a stop last overtook an overflow
 * @stray: counters that overflowed and held no event, for the self-test
 * @irq: this CPU's overflow interrupt
 * @branch_users: events whose samples have branch records
 * @precise_users: events whose samples are made of records that the hardware writes
 * @reload_users: events placed that have COREPMU_EVENT_RELOAD
 * @extras: these three at once: not 0 if any of them is not
 * @branches: branch records of this CPU, NULL where the hardware has none
 * @shared_select: what a register holds that selects for several counters
 * @events: the event on each counter; of a pair only the upper has one
 * @selected: what each counter's event selection register holds
 * @second: registers that say what events count, besides @selected
 * @demands: scratch memory for working out a placement
 * @sample: what samples of the overflow interrupt are made in; one interrupt does not interrupt
 *	another
 *
 * Only the CPU itself touches it, with interrupts disabled.
 */
struct corepmu_cpu {
	struct corepmu		*pmu;
	u64			used;
	u64			active;
	u64			hw_active;
	u64			dirty;
	u64			trusted;
	unsigned int		trusted_others;
	bool			running;
	struct pt_regs		*regs;
	u64			overflow_start;
	bool			overflow_resume;
	unsigned int		overflow_handled;
	struct corepmu_limiter	limiter;
	u64			suspended;
	unsigned long		last_late;
	u64			stray;
	int			irq;
	union {
		struct {
			unsigned int	branch_users;
			u16		precise_users;
			u16		reload_users;
		};
		u64		extras;
	};
	struct corepmu_branches	*branches;
	u64			shared_select;
	struct perf_event	*events[COREPMU_MAX_COUNTERS];
	u64			selected[COREPMU_MAX_COUNTERS];
	struct corepmu_second	second[COREPMU_MAX_SECOND];
	struct corepmu_demand	demands[COREPMU_MAX_DEMANDS];
	struct perf_sample_data	sample;
};

/**
 * struct corepmu_backend - what the generic code needs of an architecture
 * @name: for messages
 * @remedy: what may be done where no overflow interrupt comes, for messages; or NULL
 * @standin_name: what the built-in driver calls its PMU where no kind of CPU has a name of its own
 * @standin_type: the type of that one, or -1 for the next free one
 * @attr_groups: format, events and caps in sysfs
 * @capabilities: PERF_PMU_CAP_* of the architecture
 * @raw_of_first_kind: of several kinds of CPU, only the PMU of the first answers to PERF_TYPE_RAW,
 *	since the same number means another event on others. Without it each PMU does, on its CPUs
 * @encode: turn event->attr into config_base, config (the counters it may be
 *	placed on) and flags. Process context. An errno of
 *	perf_event_open(2) says why it cannot be; see corepmu_refuse()
 * @precise: can an event with attr.precise_ip be had? 0, or an errno, see corepmu_refuse();
 *	-ENOENT after attr.type has been changed to that of a PMU that can. Process context
 * @check_period: may the event, which samples, have this period? -EINVAL if not; NULL where
 *	every period will do. Process context
 * @acquire: reserve the hardware for one more event, or -EBUSY, see corepmu_refuse();
 *	NULL where it is reserved when the module is loaded. Process context
 * @release: undo @acquire. Process context
 * @reset: bring this CPU's PMU to a known, stopped state and forget every
 *	shadow of it. IRQs off or from a CPU hotplug callback
 * @quiesce: leave this CPU's PMU as a driver that comes after expects it
 * @joins: is this CPU, which was offline when the PMU was described, one of its CPUs? NULL
 *	where firmware has named them all. From a CPU hotplug callback
 * @counter_name: write what messages call counter idx, at most COREPMU_COUNTER_NAME bytes
 * @self_test_config: config_base of an event that counts in a busy loop of the
 *	kernel, on counter idx
 * @self_test_end: counters have been tried, and some of their interrupts have come: NULL, or what
 *	can be learnt of it. On the CPU, IRQs off, while nothing counts
 * @entering_regs: has the interrupt, whose registers are @regs, hit the kernel's entry code
 *	before user space's registers were saved? Then @user gets those. NULL where interrupts
 *	are masked there
 * @irq_enable: unmask this CPU's overflow interrupt. On the CPU
 * @irq_disable: mask this CPU's overflow interrupt. On the CPU
 * @clear: set counters to 0 that hold no event. IRQs off
 * @second_choose: which of the registers @second an event with COREPMU_EVENT_SECOND is to use;
 *	-EAGAIN while others hold other values. NULL, as the next two, where there are none
 * @second_use: have the event use register @reg, which may change its config_base. IRQs off
 * @second_write: write corepmu_cpu.second[@reg] to the hardware. IRQs off, and the PMU stopped
 * @reload_start: have the counters of events with COREPMU_EVENT_RELOAD begin anew when those do
 *	that they name. NULL, as the next two, where none does. IRQs off, or NMI, and counters
 *	stand still
 * @reload_forget: somebody else may have written the registers of @reload_start. IRQs off, and the
 *	PMU stopped
 * @reload_end: the last of these events has lost its counter. IRQs off, and the PMU stopped
 * @event_idx: struct pmu's: what user space calls the counter of an event that is placed and
 *	counts, plus 1; 0 when it cannot read it, see corepmu_event_may_be_read(). IRQs off, or NMI
 * @user_switch: let the current task read the counters of its own events, and nothing of
 *	other tasks'. The PMU is about to be enabled; this CPU may be of another kind. IRQs off
 * @user_mapped: the event's page has been mapped in @mm: give it access; NULL where access does
 *	not depend on that. Process context, mmap_lock held for writing
 * @user_unmapped: the event's page has been unmapped from @mm: undo @user_mapped; NULL without
 *	that. Process context
 * @user_gone: an event that user space could read is about to be freed; NULL where no access
 *	has to be taken back then. Process context
 * @read: value of counter hw.idx; bits above its value mask do not matter. IRQs off
 * @enable: make the hardware count what corepmu_cpu.active says. IRQs off
 * @disable: stop all counters, values kept. IRQs off
 * @select: program the event selection of the counter hw.idx, which is not
 *	counting. IRQs off
 * @update: corepmu_count_event() with @read. From the overflow interrupt, or where
 *	it leaves the event alone. IRQs off, or NMI
 * @update_nmi_safe: the same where the overflow interrupt may count the event meanwhile:
 *	corepmu_count_event_nmi_safe() when it is an NMI. IRQs off
 * @write: set counter hw.idx. The PMU as a whole is stopped, or the counter is
 *	not enabled. IRQs off
 *
 * @enable, @disable, @select, @update, @update_nmi_safe and @write are hot paths, called
 * through static calls.
 */
struct corepmu_backend {
	const char *name;
	const char *remedy;
	char *standin_name;
	int standin_type;
	const struct attribute_group **attr_groups;
	int capabilities;
	bool raw_of_first_kind;
	int (*encode)(struct corepmu *pmu, struct perf_event *event);
	int (*precise)(struct corepmu *pmu, struct perf_event *event);
	int (*check_period)(const struct perf_event *event, u64 period);
	int (*acquire)(struct corepmu *pmu);
	void (*release)(struct corepmu *pmu);
	void (*reset)(struct corepmu_cpu *cpuc);
	void (*quiesce)(struct corepmu_cpu *cpuc);
	bool (*joins)(struct corepmu_cpu *cpuc);
	void (*counter_name)(int idx, char *name);
	u64 (*self_test_config)(struct corepmu *pmu, int idx);
	void (*self_test_end)(struct corepmu_cpu *cpuc);
	bool (*entering_regs)(const struct pt_regs *regs, struct pt_regs *user);
	void (*irq_enable)(struct corepmu_cpu *cpuc);
	void (*irq_disable)(struct corepmu_cpu *cpuc);
	void (*clear)(struct corepmu_cpu *cpuc, u64 counters);
	int (*second_choose)(struct corepmu *pmu, const struct corepmu_second *second,
			     const struct perf_event *event);
	void (*second_use)(struct corepmu *pmu, struct perf_event *event, int reg);
	void (*second_write)(struct corepmu_cpu *cpuc, int reg);
	void (*reload_start)(struct corepmu_cpu *cpuc);
	void (*reload_forget)(struct corepmu_cpu *cpuc);
	void (*reload_end)(struct corepmu_cpu *cpuc);
	int (*event_idx)(struct perf_event *event);
	void (*user_switch)(struct corepmu_cpu *cpuc);
	void (*user_mapped)(struct perf_event *event, struct mm_struct *mm);
	void (*user_unmapped)(struct perf_event *event, struct mm_struct *mm);
	void (*user_gone)(struct corepmu *pmu);
	u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc);

	void (*enable)(struct corepmu_cpu *cpuc);
	void (*disable)(struct corepmu_cpu *cpuc);
	void (*select)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc);
	void (*update)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void (*update_nmi_safe)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void (*write)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value);
};

/**
 * struct corepmu - one PMU: all CPUs of one kind
 * @perf_pmu: the PMU as perf core knows it
 * @node: entry among the PMUs that follow CPU hotplug
 * @user_node: entry among the PMUs whose counters user space may read
 * @backend: the architecture's part
 * @supported_cpus: CPUs that have this PMU; one that comes may be added
 * @cpu: state of each CPU
 * @counters: counters that exist
 * @pair_counters: counters that can be the upper half of a pair
 * @width: bits of each counter
 * @pair_width: bits of a pair of counters
 * @max_left: the most events after which a counter can be set to overflow
 * @min_left: the fewest events after which a counter may be set to overflow
 * @counting_period: period of events that count without sampling, but for those that ask for a
 *	width (COREPMU_EVENT_LONG, COREPMU_EVENT_PAIR, COREPMU_EVENT_32BIT)
 * @kind: what this kind of CPU is called, the end of the PMU's name; NULL where kinds have no
 *	names, or there is one alone
 * @standin_name: what the built-in driver calls this kind's PMU, where the backend's standin_name
 *	is not that, or the beginning of it; or NULL
 * @secondary: not the first kind of CPU: the type that the user asked for is another PMU's
 * @claims_generic: there is no other driver's core PMU: answer to PERF_TYPE_RAW too, and to
 *	generic events that do not name a PMU
 * @open: set when registration is complete: from then on events may be opened
 * @nr_branches: branch records that the hardware keeps
 * @branch_backend: their registers, where there are any
 * @branch_reason: why there are none, for messages, or NULL
 * @branches: branch records of each CPU, where there are any
 * @capabilities: PERF_PMU_CAP_* of the hardware, besides the backend's
 * @max_precise: the highest attr.precise_ip
 * @precise_backend: the hardware of precise samples, where there is any
 * @precise_reason: why there is none, for messages, or NULL
 * @parent: device in sysfs that the PMU belongs to, or NULL
 * @pm_nb: CPU power-down notifier
 * @reboot_nb: notifier of the end of the system
 * @private: the backend's own description of the hardware
 */
struct corepmu {
	struct pmu			perf_pmu;
	struct hlist_node		node;
	struct list_head		user_node;
	const struct corepmu_backend	*backend;
	cpumask_t			supported_cpus;
	struct corepmu_cpu __percpu	*cpu;
	u64				counters;
	u64				pair_counters;
	u8				width[COREPMU_MAX_COUNTERS];
	u8				pair_width;
	s64				max_left;
	s64				min_left;
	u64				counting_period;
	const char			*kind;
	char				*standin_name;
	bool				secondary;
	bool				claims_generic;
	bool				open;
	unsigned int			nr_branches;
	const struct corepmu_branch_backend *branch_backend;
	const char			*branch_reason;
	struct corepmu_branches __percpu *branches;
	unsigned int			capabilities;
	unsigned int			max_precise;
	const struct corepmu_precise_backend *precise_backend;
	const char			*precise_reason;
	struct device			*parent;
	struct notifier_block		pm_nb;
	struct notifier_block		reboot_nb;
	void				*private;
};

#define to_corepmu(p) container_of(p, struct corepmu, perf_pmu)

/* The counters that @event occupies when it is placed on counter @idx. */
static inline u64 corepmu_event_counters(struct corepmu *pmu,
					 const struct hw_perf_event *hwc, int idx)
{
	u64 counters = BIT_ULL(idx);

	if ((hwc->flags & COREPMU_EVENT_PAIR) && (pmu->pair_counters & counters))
		counters |= counters >> 1;

	return counters;
}

/* The bits of counter @idx, or of its pair, that the event uses when it is placed there. */
static __always_inline u64 corepmu_event_mask(struct corepmu *pmu,
					      const struct hw_perf_event *hwc, int idx)
{
	unsigned int width = pmu->width[idx];

	if ((hwc->flags & COREPMU_EVENT_PAIR) && (pmu->pair_counters & BIT_ULL(idx)))
		width = pmu->pair_width;
	if (hwc->flags & COREPMU_EVENT_32BIT)
		width = 32;

	return GENMASK_ULL(width - 1, 0);
}

/* What @event, which may have no counter yet, demands. */
static inline void corepmu_event_demand(struct corepmu *pmu, struct perf_event *event,
					struct corepmu_demand *demand)
{
	struct hw_perf_event *hwc = &event->hw;

	*demand = (struct corepmu_demand) {
		.allowed	= corepmu_hw_counters(hwc),
		.pairs		= hwc->flags & COREPMU_EVENT_PAIR ?
				  corepmu_hw_counters(hwc) & pmu->pair_counters : 0,
		.counter	= -1,
	};
}

/* Is the event on two chained counters? */
static inline bool corepmu_event_is_paired(struct corepmu *pmu,
					   const struct hw_perf_event *hwc)
{
	return (hwc->flags & COREPMU_EVENT_PAIR) &&
	       (pmu->pair_counters & BIT_ULL(hwc->idx));
}

/* Do overflows interrupt? Not those of a PMU that was set up without samples (sampling=0). */
static inline bool corepmu_has_interrupt(const struct corepmu *pmu)
{
	return !(pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT);
}

/* module/register.c */
extern char *corepmu_name;
extern int corepmu_type;
extern bool corepmu_standin;
struct corepmu *corepmu_alloc(const struct corepmu_backend *backend);
void corepmu_free(struct corepmu *pmu);
int corepmu_register(struct corepmu *pmu);
void corepmu_unregister(struct corepmu *pmu);

/* core/pmu.c: the hot paths of the backend in use, as static calls */
void corepmu_enable_none(struct corepmu_cpu *cpuc);
void corepmu_update_none(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_select_none(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc);
void corepmu_write_none(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value);

DECLARE_STATIC_CALL(corepmu_enable_counters, corepmu_enable_none);
DECLARE_STATIC_CALL(corepmu_disable_counters, corepmu_enable_none);
DECLARE_STATIC_CALL(corepmu_select_event, corepmu_select_none);
DECLARE_STATIC_CALL(corepmu_counter_update, corepmu_update_none);
DECLARE_STATIC_CALL(corepmu_counter_update_nmi_safe, corepmu_update_none);
DECLARE_STATIC_CALL(corepmu_write_counter, corepmu_write_none);

/**
 * corepmu_sibling_counts() - does an event count when the group does that it is in?
 * @event: a sibling
 *
 * Disabled ones need no counter.
 *
 * Return: whether it does
 */
static inline bool corepmu_sibling_counts(const struct perf_event *event)
{
	return event->state > PERF_EVENT_STATE_OFF ||
	       (event->state == PERF_EVENT_STATE_OFF && event->attr.enable_on_exec);
}

/* core/features.c: what there is besides the counters */
bool corepmu_second_fits_group(struct perf_event *event);
bool corepmu_extras_fit(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_second_reset(struct corepmu_cpu *cpuc);
void corepmu_add_extras(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_del_extras(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_start_extras(struct corepmu_cpu *cpuc);
void corepmu_stop_extras(struct corepmu_cpu *cpuc);
void corepmu_interrupt_extras(struct corepmu_cpu *cpuc);

/*
 * Start and stop a CPU's PMU as a whole. IRQs off.
 *
 * An NMI that comes between the flag and the registers stops the PMU in
 * corepmu_overflow_begin() whatever the flag says, and starts it in
 * corepmu_overflow_end() if the flag was set. Then the registers are written as this says:
 * a PMU that has just been started is started again, one that stands still is stopped.
 */
static inline void corepmu_start_cpu(struct corepmu_cpu *cpuc)
{
	cpuc->running = true;
	barrier();
	if (unlikely(cpuc->extras))
		corepmu_start_extras(cpuc);
	static_call(corepmu_enable_counters)(cpuc);
}

static inline void corepmu_stop_cpu(struct corepmu_cpu *cpuc)
{
	cpuc->running = false;
	barrier();
	static_call(corepmu_disable_counters)(cpuc);
	if (unlikely(cpuc->extras))
		corepmu_stop_extras(cpuc);
}

/**
 * corepmu_overflow_begin() - an overflow interrupt has come: stop the PMU
 * @cpuc: this CPU's state
 * @regs: where it came
 *
 * Nothing counts until corepmu_overflow_end(), so that the handler is not counted and the
 * events of a group see the same instructions. The PMU is stopped whatever
 * corepmu_cpu.running says: an NMI in corepmu_stop_cpu() may find the flag cleared and the
 * counters still running, and what they count between being read and being set would be
 * lost. From the overflow interrupt, before its cause is looked for: IRQs off, or NMI.
 */
static inline void corepmu_overflow_begin(struct corepmu_cpu *cpuc, struct pt_regs *regs)
{
	cpuc->overflow_start = sched_clock();
	cpuc->overflow_resume = cpuc->running;
	cpuc->overflow_handled = 0;
	cpuc->regs = regs;
	cpuc->running = false;
	barrier();
	static_call(corepmu_disable_counters)(cpuc);
	if (unlikely(cpuc->extras))
		corepmu_interrupt_extras(cpuc);
}

void corepmu_use_backend(const struct corepmu_backend *backend);
void corepmu_use_none(void);
void corepmu_init_pmu(struct corepmu *pmu);
void corepmu_event_start(struct perf_event *event, int flags);
void corepmu_event_stop(struct perf_event *event, int flags);

/* core/event.c */
int corepmu_event_init(struct perf_event *event);
int corepmu_check_period(struct perf_event *event, u64 value);
u64 corepmu_counting_period(struct corepmu *pmu, const struct hw_perf_event *hwc, u64 counters);
int corepmu_decode_cache(u64 config, unsigned int *cache, unsigned int *op, bool *miss);

/* core/overflow.c */
void corepmu_handle_overflow(struct corepmu_cpu *cpuc, u64 overflowed);
void corepmu_overflow_excuse(struct corepmu_cpu *cpuc);
void corepmu_overflow_end(struct corepmu_cpu *cpuc, bool ours);
int corepmu_emit_with_frequency(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs);
bool corepmu_aux_has_stopped(const struct perf_event *event);
void corepmu_late_overflow(struct corepmu_cpu *cpuc, struct perf_event *event);

/* core/frequency.c */
void corepmu_freq_open(struct perf_event *event);
s64 corepmu_freq_find(struct perf_event *event);
void corepmu_freq_probe(struct corepmu_cpu *cpuc, struct perf_event *event);
s64 corepmu_freq_restart(struct perf_event *event);

/* core/rdpmc.c */
extern bool corepmu_user_reads;
extern bool corepmu_user_allowed;
void corepmu_user_add(struct corepmu *pmu);
void corepmu_user_remove(struct corepmu *pmu);
bool corepmu_user_has_others(const struct corepmu *pmu);
void corepmu_user_switch(struct corepmu_cpu *cpuc);
void corepmu_user_clear(struct corepmu_cpu *cpuc);
void corepmu_user_refresh(void);
void corepmu_event_mapped(struct perf_event *event, struct mm_struct *mm);
void corepmu_event_unmapped(struct perf_event *event, struct mm_struct *mm);

/* May user space read the event's counter, when it is allowed to read any? */
static inline bool corepmu_event_is_readable(const struct hw_perf_event *hwc)
{
	return hwc->flags & PERF_EVENT_FLAG_USER_READ_CNT;
}

/* May user space read the event's counter now? */
static inline bool corepmu_event_may_be_read(const struct perf_event *event)
{
	return corepmu_event_is_readable(&event->hw) && READ_ONCE(corepmu_user_allowed);
}

/* Most of the page is written only when there is one: spare the call. */
static inline void corepmu_update_userpage(struct perf_event *event)
{
	if (unlikely(READ_ONCE(event->rb)))
		perf_event_update_userpage(event);
}

/* module/hotplug.c */
int corepmu_hotplug_init(void);
void corepmu_hotplug_exit(void);
int corepmu_hotplug_add(struct corepmu *pmu);
void corepmu_power_lost(struct corepmu_cpu *cpuc);
void corepmu_warn_changed(unsigned int cpu);
void corepmu_registers_changed(struct corepmu_cpu *cpuc);
void corepmu_hotplug_remove(struct corepmu *pmu);

/* module/shutdown.c */
void corepmu_shutdown_add(struct corepmu *pmu);
void corepmu_shutdown_remove(struct corepmu *pmu);

/* module/refuse.c */
int __printf(2, 3) corepmu_refuse(int err, const char *fmt, ...);
void corepmu_refuse_init(void);
void corepmu_refuse_exit(void);

/* module/selftest.c */
int corepmu_self_test(struct corepmu *pmu);

/* module/stale-pmu.c */
#if COMPAT_PMU_OUTLIVES_MODULE
int corepmu_generations_init(void);
void corepmu_generations_lead(struct corepmu *pmu);
bool corepmu_generations_leave(struct corepmu *pmu);
#else
static inline int corepmu_generations_init(void)
{
	return 0;
}

static inline void corepmu_generations_lead(struct corepmu *pmu)
{
}

static inline bool corepmu_generations_leave(struct corepmu *pmu)
{
	return true;
}
#endif

/* module/sysfs.c */
extern const struct attribute_group corepmu_common_group;
extern struct device_attribute corepmu_attr_max_precise;
extern struct device_attribute corepmu_attr_branches;

/* arm64/ and its likes: find the PMUs of this machine and register them */
int corepmu_arch_init(void);
void corepmu_arch_exit(void);

#endif /* _COREPMU_PMU_H */
