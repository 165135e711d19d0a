/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: types and functions that all files share
 *
 * Perf core adds an event through core/pmu.c. core/assign.c chooses the counter, core/counter.c
 * computes the counter's initial value, and the backend writes the registers. An overflow goes from
 * the backend to core/overflow.c, core/counter.c and perf core. corepmu/hw.h lists what the driver
 * keeps in struct hw_perf_event. See Documentation/driver-api/corepmu.rst.
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

/* Size in bytes of the buffer that corepmu_backend.counter_name() fills in */
#define COREPMU_COUNTER_NAME	24

/*
 * Flags in hw_perf_event.flags. LONG: the event counts in 64 bits, even where a single counter is
 * narrower. The bit is ARMPMU_EVT_64BIT (drivers/perf/arm_pmuv3.c): the kernel's
 * arch_perf_update_userpage() tells user space that the counter has 64 bits.
 */
#define COREPMU_EVENT_LONG	BIT(0)
/* On a counter of corepmu.pair_counters, the event takes the next lower counter too. */
#define COREPMU_EVENT_PAIR	BIT(1)
/* User space reads the low 32 bits of the counter: the driver uses only these. */
#define COREPMU_EVENT_32BIT	BIT(2)
/* Per-task event: the task has mapped the event's page. Per-CPU event: any task has mapped it. */
#define COREPMU_EVENT_MAPPED	BIT(3)
/* The event's samples have branch records. */
#define COREPMU_EVENT_BRANCHES	BIT(4)
/* Topdown slots or metric: the event shares its counter with other events of its group. */
#define COREPMU_EVENT_TOPDOWN	BIT(8)
/* Precise event: the hardware writes the records that its samples are made from (PEBS). */
#define COREPMU_EVENT_PRECISE	BIT(5)
/* Large PEBS: the hardware may write several records of the event before it interrupts. */
#define COREPMU_EVENT_LARGE	BIT(9)
/*
 * The event needs a value in an extra register besides its event selection (Intel's OFFCORE_RSP).
 * Events that need the same value share the register.
 */
#define COREPMU_EVENT_EXTRA_REG	BIT(6)
/* Auto counter reload (ACR): overflows of other group members reload the event's counter. */
#define COREPMU_EVENT_ACR	BIT(7)
/* PERF_SAMPLE_BRANCH_COUNTERS: each branch record has a count of the event. */
#define COREPMU_EVENT_COUNTED	BIT(10)
/* Flags from this bit on belong to the backends. */
#define COREPMU_EVENT_BACKEND	12

/* Features: an event with one of these flags needs more than a counter (core/features.c). */
#define COREPMU_EVENT_FEATURES	(COREPMU_EVENT_BRANCHES | COREPMU_EVENT_PRECISE | \
				 COREPMU_EVENT_EXTRA_REG | COREPMU_EVENT_ACR |		\
				 COREPMU_EVENT_COUNTED)

/* Value of hw_perf_event.last_cpu while the driver measures the event's rate (core/frequency.c) */
#define COREPMU_FREQ_YOUNG	(-1)

/* Extra registers that the driver handles per CPU, at most */
#define COREPMU_MAX_EXTRA_REGS	7

/* Bits of corepmu_cpu.trusted_others: registers that all counters share */
#define COREPMU_TRUST_SHARED	BIT(0)
/* Registers of branch records, precise samples, auto counter reload, and each extra register */
#define COREPMU_TRUST_BRANCHES	BIT(1)
#define COREPMU_TRUST_PRECISE	BIT(2)
#define COREPMU_TRUST_ACR	BIT(3)
#define COREPMU_TRUST_EXTRA_REG(n)	BIT(8 + (n))

/**
 * struct corepmu_extra_reg - an extra register that events share
 * @value: the value that all its users need
 * @users: number of placed events that need @value
 */
struct corepmu_extra_reg {
	u64		value;
	unsigned int	users;
};

/**
 * struct corepmu_cpu - one PMU's state on one CPU
 * @pmu: the PMU
 * @used: mask of counters that hold an event, or are the lower counter of a pair
 * @active: mask of counters that must count while the PMU runs
 * @hw_active: mask of counters that are enabled in the hardware
 * @dirty: mask of counters without an event that may still hold an earlier event's value
 * @trusted: mask of counters that lost their event since perf core last disabled the PMU: their
 *	selection registers still hold @selected or @shared_select. Another agent, firmware or a
 *	hypervisor may have written the other counters' registers: the backend writes these again
 *	when an event is placed
 * @trusted_others: COREPMU_TRUST_*: the same for registers besides the event selections
 * @running: the PMU as a whole is started
 * @regs: registers that the current overflow interrupt interrupted, NULL outside of one
 * @overflow_start: sched_clock() at the start of the current overflow interrupt, in ns
 * @overflow_resume: @running at the start of the overflow interrupt: its end restarts the PMU
 * @overflow_handled: number of events that the current overflow interrupt has handled
 * @limiter: the limiter's state
 * @suspended: mask of counters that were active when the CPU was powered down
 * @last_late: time, in jiffies, when a stop last handled an overflow before its interrupt
 * @stray: mask of counters that overflowed without an event, for the self-test
 * @irq: Linux IRQ number of this CPU's overflow interrupt
 * @branch_users: number of placed events with COREPMU_EVENT_BRANCHES
 * @precise_users: number of placed events with COREPMU_EVENT_PRECISE
 * @acr_users: number of placed events with COREPMU_EVENT_ACR
 * @features: the three numbers above in one word: 0 if all are 0
 * @branches: branch records of this CPU, NULL where the hardware has none
 * @shared_select: value of the register that selects events of several counters (x86: the fixed
 *	counters' control register)
 * @events: event on each counter; only the upper counter of a pair has an event here
 * @selected: value of each counter's event selection register
 * @extra_regs: extra registers
 * @demands: scratch memory for place_by_moving()
 * @sample: buffer for samples of the overflow interrupt, which never nests
 *
 * Only the CPU itself accesses its state, with interrupts disabled.
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
			u16		acr_users;
		};
		u64		features;
	};
	struct corepmu_branches	*branches;
	u64			shared_select;
	struct perf_event	*events[COREPMU_MAX_COUNTERS];
	u64			selected[COREPMU_MAX_COUNTERS];
	struct corepmu_extra_reg	extra_regs[COREPMU_MAX_EXTRA_REGS];
	struct corepmu_demand	demands[COREPMU_MAX_DEMANDS];
	struct perf_sample_data	sample;
};

/**
 * struct corepmu_backend - functions that the architecture provides to the generic code
 * @name: name in messages
 * @remedy: advice in messages where no overflow interrupt comes; or NULL
 * @builtin_name: name of the built-in driver's PMU, or the beginning of the names of its PMUs
 * @builtin_type: type of the built-in driver's PMU, or -1 for the next free one
 * @attr_groups: format, events and caps in sysfs
 * @capabilities: PERF_PMU_CAP_* of the architecture
 * @raw_of_first_cpu_type: with several CPU types, only the first type's PMU accepts PERF_TYPE_RAW,
 *	since a raw number is another event on the other types. Otherwise each PMU accepts it
 * @encode: turn event->attr into config_base, flags and the counters that the event may be placed
 *	on. Return 0, or an errno of perf_event_open(2), see corepmu_refuse(). Process context
 * @precise: check whether an event with attr.precise_ip is available. Return 0, or an errno, see
 *	corepmu_refuse(); -ENOENT after changing attr.type to the PMU that has it. Process context
 * @check_period: check the period of a sampling event. Return 0 or -EINVAL; NULL where every
 *	period is valid. Process context
 * @acquire: reserve the hardware for one more event. Return 0 or -EBUSY, see corepmu_refuse();
 *	NULL where the module reserves the hardware at load. Process context
 * @release: undo @acquire. Process context
 * @reset: bring this CPU's PMU to a known, stopped state, and reset the copies of its registers in
 *	struct corepmu_cpu. IRQs off or from a CPU hotplug callback
 * @quiesce: leave this CPU's PMU in the state that another driver expects
 * @joins: check whether a CPU that was offline at load belongs to this PMU; NULL where firmware
 *	lists all CPUs. From a CPU hotplug callback
 * @counter_name: write the name of counter idx for messages, at most COREPMU_COUNTER_NAME bytes
 * @self_test_config: return config_base of an event that counts in a busy loop of the kernel, on
 *	counter idx
 * @self_test_end: called after a self-test round in which overflow interrupts came: learn how they
 *	behave; or NULL. On the CPU, IRQs off, while nothing counts
 * @entering_regs: check whether the interrupt with @regs hit the kernel's entry code before the
 *	entry code saved the user's registers; if so, copy the user's registers to @user. NULL
 *	where the entry code masks the interrupt
 * @irq_enable: unmask this CPU's overflow interrupt. On the CPU
 * @irq_disable: mask this CPU's overflow interrupt. On the CPU
 * @clear: set counters without an event to 0. IRQs off
 * @extra_reg_choose: choose one of @extra_regs for an event with COREPMU_EVENT_EXTRA_REG.
 *	Return -EAGAIN while other events need other values there. NULL, as the next two, where
 *	the CPU has no extra registers
 * @extra_reg_use: assign extra register @reg to the event; config_base may change. IRQs off
 * @extra_reg_write: write corepmu_cpu.extra_regs[@reg] to the hardware. IRQs off, and the PMU
 *	stopped
 * @acr_start: write the ACR registers of events with COREPMU_EVENT_ACR: which overflows
 *	reload which counters. NULL, as the next two, where the CPU has no ACR. IRQs off, or NMI,
 *	and counters are stopped
 * @acr_forget: forget the ACR registers' values, since another agent may have written these
 *	registers. IRQs off, and the PMU stopped
 * @acr_end: the last event with COREPMU_EVENT_ACR has lost its counter. IRQs off, and the
 *	PMU stopped
 * @event_idx: pmu.event_idx: return the number by which user space reads the counter of an active
 *	event, plus 1; 0 if user space cannot read it, see corepmu_event_may_be_read(). IRQs off,
 *	or NMI
 * @rdpmc_switch: let the current task read the counters of its own events, and no other task's.
 *	Called before the PMU is enabled; this CPU may have another PMU. IRQs off
 * @rdpmc_mapped: @mm has mapped the event's page: allow @mm to read counters; NULL where access
 *	does not depend on the mapping. Process context, mmap_lock held for writing
 * @rdpmc_unmapped: @mm has unmapped the event's page: undo @rdpmc_mapped; NULL without
 *	@rdpmc_mapped. Process context
 * @rdpmc_gone: perf core is about to free an event that user space could read; NULL where that
 *	changes no access. Process context
 * @read: return the value of counter hw.idx; bits above its value mask are undefined. IRQs off
 * @enable: make the hardware count on exactly the counters in corepmu_cpu.active. IRQs off
 * @disable: stop all counters and keep their values. IRQs off
 * @select: program the event selection of counter hw.idx, which is not counting. IRQs off
 * @update: corepmu_count_event() with @read. From the overflow interrupt, or where the overflow
 *	interrupt does not update the event. IRQs off, or NMI
 * @update_nmi_safe: the same where the overflow interrupt may update the event meanwhile:
 *	corepmu_count_event_nmi_safe() if that interrupt is an NMI. IRQs off
 * @write: set the value of counter hw.idx. The PMU as a whole is stopped, or the counter is not
 *	enabled. IRQs off
 *
 * @enable, @disable, @select, @update, @update_nmi_safe and @write are hot paths, called
 * through static calls.
 */
struct corepmu_backend {
	const char *name;
	const char *remedy;
	char *builtin_name;
	int builtin_type;
	const struct attribute_group **attr_groups;
	int capabilities;
	bool raw_of_first_cpu_type;
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
	int (*extra_reg_choose)(struct corepmu *pmu, const struct corepmu_extra_reg *extra_regs,
				const struct perf_event *event);
	void (*extra_reg_use)(struct corepmu *pmu, struct perf_event *event, int reg);
	void (*extra_reg_write)(struct corepmu_cpu *cpuc, int reg);
	void (*acr_start)(struct corepmu_cpu *cpuc);
	void (*acr_forget)(struct corepmu_cpu *cpuc);
	void (*acr_end)(struct corepmu_cpu *cpuc);
	int (*event_idx)(struct perf_event *event);
	void (*rdpmc_switch)(struct corepmu_cpu *cpuc);
	void (*rdpmc_mapped)(struct perf_event *event, struct mm_struct *mm);
	void (*rdpmc_unmapped)(struct perf_event *event, struct mm_struct *mm);
	void (*rdpmc_gone)(struct corepmu *pmu);
	u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc);

	void (*enable)(struct corepmu_cpu *cpuc);
	void (*disable)(struct corepmu_cpu *cpuc);
	void (*select)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc);
	void (*update)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void (*update_nmi_safe)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void (*write)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value);
};

/**
 * struct corepmu - one PMU: all CPUs of one CPU type
 * @perf_pmu: the PMU as perf core knows it
 * @node: entry in the list of PMUs that follow CPU hotplug
 * @rdpmc_node: entry in the list of PMUs that corepmu_rdpmc_refresh() goes through
 * @backend: the architecture's functions
 * @supported_cpus: CPUs of this PMU; a CPU that comes online may be added
 * @cpu: state of each CPU
 * @counters: mask of counters that exist
 * @pair_counters: mask of counters that can be the upper counter of a pair
 * @width: width of each counter, in bits
 * @pair_width: width of a pair of counters, in bits
 * @max_left: highest number of counts after which a counter can be set to overflow
 * @min_left: lowest number of counts after which a counter may be set to overflow
 * @counting_period: period of events that do not sample, in counts; an event with
 *	COREPMU_EVENT_LONG, COREPMU_EVENT_PAIR or COREPMU_EVENT_32BIT has a period of its own
 * @cpu_type: name of the CPU type, the end of the PMU's name; NULL with one CPU type, or if the
 *	types have no names
 * @builtin_name: name of the built-in driver's PMU for this CPU type, if the name does not follow
 *	from the backend's builtin_name and @cpu_type; or NULL
 * @secondary: this is not the first CPU type: the first type's PMU has the type that the user asks
 *	for
 * @claims_generic: there is no other driver's core PMU: accept PERF_TYPE_RAW, and generic events
 *	that name no PMU
 * @open: registration is complete: events may be opened
 * @nr_branches: number of branch records that the hardware keeps
 * @branch_backend: functions for the branch record registers, or NULL
 * @branch_reason: reason in messages why there are no branch records; or NULL
 * @branches: branch records of each CPU, or NULL
 * @capabilities: PERF_PMU_CAP_* of the hardware, besides the backend's
 * @max_precise: highest attr.precise_ip
 * @precise_backend: functions for precise samples, or NULL
 * @precise_reason: reason in messages why there are no precise samples; or NULL
 * @parent: parent device of the PMU in sysfs, or NULL
 * @pm_nb: CPU power-down notifier
 * @reboot_nb: reboot notifier
 * @private: the backend's description of the hardware
 */
struct corepmu {
	struct pmu			perf_pmu;
	struct hlist_node		node;
	struct list_head		rdpmc_node;
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
	const char			*cpu_type;
	char				*builtin_name;
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

/* Return the mask of counters that an event on counter @idx occupies: one, or two of a pair. */
static inline u64 corepmu_event_counters(struct corepmu *pmu,
					 const struct hw_perf_event *hwc, int idx)
{
	u64 counters = BIT_ULL(idx);

	if ((hwc->flags & COREPMU_EVENT_PAIR) && (pmu->pair_counters & counters))
		counters |= counters >> 1;

	return counters;
}

/* Return the value mask of an event on counter @idx: the bits of the counter, or of its pair. */
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

/* Fill in @demand: the counters that @event may be placed on. */
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

/* Check whether the event is placed on a pair of counters. */
static inline bool corepmu_event_is_paired(struct corepmu *pmu,
					   const struct hw_perf_event *hwc)
{
	return (hwc->flags & COREPMU_EVENT_PAIR) &&
	       (pmu->pair_counters & BIT_ULL(hwc->idx));
}

/* Check whether overflows interrupt: with sampling=0 they do not. */
static inline bool corepmu_has_interrupt(const struct corepmu *pmu)
{
	return !(pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT);
}

/* module/register.c */
extern char *corepmu_name;
extern int corepmu_type;
extern bool corepmu_as_builtin;
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
 * corepmu_sibling_counts() - check whether a sibling counts when its group is scheduled in
 * @event: a sibling
 *
 * A disabled sibling needs no counter.
 *
 * Return: true if the sibling counts
 */
static inline bool corepmu_sibling_counts(const struct perf_event *event)
{
	return event->state > PERF_EVENT_STATE_OFF ||
	       (event->state == PERF_EVENT_STATE_OFF && event->attr.enable_on_exec);
}

/* core/features.c: branch records, precise samples, extra registers, auto counter reload */
bool corepmu_extra_reg_fits_group(struct perf_event *event);
bool corepmu_features_fit(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_extra_regs_reset(struct corepmu_cpu *cpuc);
void corepmu_features_add(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_features_del(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_features_start(struct corepmu_cpu *cpuc);
void corepmu_features_stop(struct corepmu_cpu *cpuc);
void corepmu_features_interrupt(struct corepmu_cpu *cpuc);

/*
 * Start and stop a CPU's PMU as a whole. IRQs off.
 *
 * An NMI may come between the write of running and the writes of registers. The NMI stops the PMU
 * in corepmu_overflow_begin(), and restarts the PMU in corepmu_overflow_end() if running is true.
 * The interrupted function then writes the registers once more, with the same result.
 */
static inline void corepmu_start_cpu(struct corepmu_cpu *cpuc)
{
	cpuc->running = true;
	barrier();
	if (unlikely(cpuc->features))
		corepmu_features_start(cpuc);
	static_call(corepmu_enable_counters)(cpuc);
}

static inline void corepmu_stop_cpu(struct corepmu_cpu *cpuc)
{
	cpuc->running = false;
	barrier();
	static_call(corepmu_disable_counters)(cpuc);
	if (unlikely(cpuc->features))
		corepmu_features_stop(cpuc);
}

/**
 * corepmu_overflow_begin() - stop the PMU at the start of an overflow interrupt
 * @cpuc: this CPU's state
 * @regs: the interrupted registers
 *
 * Nothing counts until corepmu_overflow_end(): no event counts the handler, and the events of a
 * group count the same instructions. This function stops the PMU even if corepmu_cpu.running is
 * false: CPU A clears running in corepmu_stop_cpu(), and an NMI comes before CPU A has stopped the
 * counters. Without the stop here, the NMI would lose counts between its read and its write of a
 * counter. From the overflow interrupt, before the backend reads the overflow status: IRQs off, or
 * NMI.
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
	if (unlikely(cpuc->features))
		corepmu_features_interrupt(cpuc);
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
extern bool corepmu_rdpmc_in_use;
extern bool corepmu_rdpmc_allowed;
void corepmu_rdpmc_add(struct corepmu *pmu);
void corepmu_rdpmc_remove(struct corepmu *pmu);
bool corepmu_rdpmc_has_others(const struct corepmu *pmu);
void corepmu_rdpmc_switch(struct corepmu_cpu *cpuc);
void corepmu_rdpmc_clear(struct corepmu_cpu *cpuc);
void corepmu_rdpmc_refresh(void);
void corepmu_event_mapped(struct perf_event *event, struct mm_struct *mm);
void corepmu_event_unmapped(struct perf_event *event, struct mm_struct *mm);

/* Check whether the event was opened for counter reads from user space. */
static inline bool corepmu_event_is_readable(const struct hw_perf_event *hwc)
{
	return hwc->flags & PERF_EVENT_FLAG_USER_READ_CNT;
}

/* Check whether user space may read the event's counter now: the administrator allows it. */
static inline bool corepmu_event_may_be_read(const struct perf_event *event)
{
	return corepmu_event_is_readable(&event->hw) && READ_ONCE(corepmu_rdpmc_allowed);
}

/* Save the call where no page is mapped: perf core would write a page that no process reads. */
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
int corepmu_stale_pmus_init(void);
void corepmu_stale_pmus_redirect(struct corepmu *pmu);
bool corepmu_stale_pmus_add(struct corepmu *pmu);
#else
static inline int corepmu_stale_pmus_init(void)
{
	return 0;
}

static inline void corepmu_stale_pmus_redirect(struct corepmu *pmu)
{
}

static inline bool corepmu_stale_pmus_add(struct corepmu *pmu)
{
	return true;
}
#endif

/* module/sysfs.c */
extern const struct attribute_group corepmu_common_group;
extern struct device_attribute corepmu_attr_max_precise;
extern struct device_attribute corepmu_attr_branches;

/* arm64/ and x86/: find the PMUs of this machine and register them */
int corepmu_arch_init(void);
void corepmu_arch_exit(void);

#endif /* _COREPMU_PMU_H */
