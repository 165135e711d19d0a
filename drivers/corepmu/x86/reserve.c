// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: reservation of the counters, against the built-in driver and other users
 *
 * The kernel has a reservation for each counter and each event selection register
 * (arch/x86/kernel/cpu/perfctr-watchdog.c). The built-in driver reserves all of them for its first
 * event and releases them after its last. If the built-in driver is present, corepmu does the same,
 * and each driver rejects events while the other has events. Otherwise corepmu holds the
 * reservations from load to unload.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>
#include <corepmu/rdpmc.h>

#include "msr.h"
#include "x86.h"

static DEFINE_MUTEX(reserve_lock);
static unsigned int reserve_users;

/* This driver holds the reservations. Written under reserve_lock, read by the NMI handler. */
bool x86_reserved;

static u32 counter_msr(const struct x86_desc *desc, unsigned int idx)
{
	/* The kernel reserves the legacy MSR, even if the driver writes the full-width MSR. */
	u32 base = desc->counter_msr == MSR_IA32_PMC0 ? MSR_P6_PERFCTR0 : desc->counter_msr;

	return base + desc->step * idx;
}

static u32 select_msr(const struct x86_desc *desc, unsigned int idx)
{
	return desc->select_msr + desc->step * idx;
}

static void release_below(const struct x86_desc *desc, unsigned int end)
{
	while (end--) {
		release_evntsel_nmi(select_msr(desc, end));
		release_perfctr_nmi(counter_msr(desc, end));
	}
}

static int reserve_all(const struct x86_desc *desc)
{
	unsigned int idx;

	for (idx = 0; idx < desc->nr_gp; idx++) {
		if (!reserve_perfctr_nmi(counter_msr(desc, idx)))
			break;
		if (!reserve_evntsel_nmi(select_msr(desc, idx))) {
			release_perfctr_nmi(counter_msr(desc, idx));
			break;
		}
	}
	if (idx == desc->nr_gp)
		return 0;

	release_below(desc, idx);
	return -EBUSY;
}

static void reset_this_cpu(void *unused)
{
	struct corepmu *pmu = x86_this_pmu();

	if (pmu)
		pmu->backend->reset(this_cpu_ptr(pmu->cpu));
}

/*
 * Release this CPU's counters. If the built-in driver is present, it owns them from here on: clear
 * the values now.
 */
static void leave_this_cpu(void *unused)
{
	struct corepmu *pmu = x86_this_pmu();

	reset_this_cpu(NULL);
	if (pmu && to_x86(pmu)->shares_counters)
		corepmu_rdpmc_clear(this_cpu_ptr(pmu->cpu));
}

/**
 * x86_msr_keeps() - check whether a register exists and keeps written values
 * @msr: MSR number
 * @probe: bits that the check may change for a moment
 *
 * A hypervisor without the register raises #GP or ignores the write. The register has its old value
 * afterwards. Any context; the check stays on one CPU.
 *
 * Return: true if the register keeps the bits
 */
bool x86_msr_keeps(u32 msr, u64 probe)
{
	unsigned long flags;
	u64 old, value;
	bool keeps;

	local_irq_save(flags);
	keeps = !x86_read_msr_safe(msr, &old) && !x86_write_msr_safe(msr, old ^ probe) &&
		!x86_read_msr_safe(msr, &value) && value == (old ^ probe) &&
		!x86_write_msr_safe(msr, old);
	local_irq_restore(flags);

	return keeps;
}

/*
 * Check whether counter 0 keeps written values. All AMD CPUs have the counters, but some
 * hypervisors do not implement them. If the built-in driver is present, it has made the check.
 */
static bool counters_answer(const struct x86_desc *desc)
{
	const u64 wanted = 0xabcd;
	unsigned long flags;
	bool answers;
	u64 value;

	if (desc->shares_counters)
		return true;

	/* Stay on this CPU: another CPU would read its own counter. */
	local_irq_save(flags);
	answers = !x86_write_msr_safe(desc->select_msr, 0) &&
		  !x86_write_msr_safe(desc->counter_msr, wanted) &&
		  !x86_read_msr_safe(desc->counter_msr, &value) && value == wanted;
	local_irq_restore(flags);

	return answers;
}

/*
 * Leave out counters that a hypervisor lacks: AMD's CPUID does not report the number of counters.
 */
static void leave_out_missing(struct x86_desc *desc)
{
	struct corepmu *pmu = desc->pmu;
	unsigned int idx;
	u64 value;

	for (idx = 1; idx < desc->nr_gp; idx++) {
		if ((desc->holes & BIT_ULL(idx)) ||
		    (!x86_read_msr_safe(select_msr(desc, idx), &value) &&
		     !x86_read_msr_safe(counter_msr(desc, idx), &value)))
			continue;
		pr_warn("counter %u of this CPU family does not exist here (hypervisor?): left out\n",
			idx);
		desc->holes |= BIT_ULL(idx);
		pmu->counters &= ~BIT_ULL(idx);
		pmu->pair_counters &= pmu->counters & pmu->counters << 1;
	}
}

/* Return the CPU type with the most counters: reserving these reserves all. */
static struct x86_desc *largest_cpu_type(void)
{
	struct x86_desc *desc, *largest = x86_cpu_type(0);
	unsigned int i;

	for (i = 1; (desc = x86_cpu_type(i)); i++)
		if (desc->nr_gp > largest->nr_gp)
			largest = desc;

	return largest;
}

/* Reserve first: no register may be written without the reservation. */
static int take_all(void)
{
	struct x86_desc *desc = largest_cpu_type();
	int ret;

	ret = reserve_all(desc);
	if (ret)
		return ret;

	if (!counters_answer(desc)) {
		release_below(desc, desc->nr_gp);
		return -ENODEV;
	}
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL && !desc->shares_counters)
		leave_out_missing(desc);
	desc->has_guest_filter = boot_cpu_has(X86_FEATURE_SVM) &&
				 x86_msr_keeps(desc->select_msr, EVNTSEL_AMD_GUESTONLY);

	WRITE_ONCE(x86_reserved, true);
	on_each_cpu(reset_this_cpu, NULL, 1);

	return 0;
}

/**
 * x86_reserve() - reserve the counters of all CPUs, for one event or until unload
 *
 * Process context.
 *
 * Return: 0; -EBUSY while another user holds one of them; -ENODEV if the counters do not keep
 * written values
 */
int x86_reserve(void)
{
	int ret = 0;

	mutex_lock(&reserve_lock);
	if (!reserve_users)
		ret = take_all();
	if (!ret)
		reserve_users++;
	mutex_unlock(&reserve_lock);

	return ret;
}

/**
 * x86_acquire() - reserve the counters for one more event: the backend's acquire()
 * @pmu: the PMU
 *
 * Process context.
 *
 * Return: 0, or -EBUSY after corepmu_refuse()
 */
int x86_acquire(struct corepmu *pmu)
{
	int ret = x86_reserve();

	return ret ? corepmu_refuse(ret, "the built-in driver has the counters: " X86_REMEDY) : 0;
}

/**
 * x86_release() - undo x86_reserve(): also the backend's release()
 * @pmu: the PMU, unused
 *
 * Process context.
 */
void x86_release(struct corepmu *pmu)
{
	mutex_lock(&reserve_lock);
	if (!--reserve_users) {
		on_each_cpu(leave_this_cpu, NULL, 1);
		WRITE_ONCE(x86_reserved, false);
		release_below(largest_cpu_type(), largest_cpu_type()->nr_gp);
	}
	mutex_unlock(&reserve_lock);
}
