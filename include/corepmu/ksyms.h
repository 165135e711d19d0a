/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: functions of the kernel that are not exported to modules
 *
 * A driver that is built into the kernel calls these functions by name. The module looks up their
 * addresses once, at load, and calls them through static calls: where the architecture has static
 * calls, they are direct calls. On x86 with IBT an indirect call would fault if the kernel has
 * sealed the function's landing pad.
 */
#ifndef _COREPMU_KSYMS_H
#define _COREPMU_KSYMS_H

#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>

#include <corepmu/compat.h>

#ifdef MODULE

int corepmu_text_none(unsigned long addr);

/* The static calls have the functions' types: if the kernel changes one, the build fails. */
DECLARE_STATIC_CALL(corepmu_overflow, perf_event_overflow);
DECLARE_STATIC_CALL(corepmu_took, perf_sample_event_took);

DECLARE_STATIC_CALL(corepmu_cb_inc, perf_sched_cb_inc);
DECLARE_STATIC_CALL(corepmu_cb_dec, perf_sched_cb_dec);
DECLARE_STATIC_CALL(corepmu_text, corepmu_text_none);

DECLARE_STATIC_CALL(corepmu_callchain, perf_callchain);

DECLARE_STATIC_CALL(corepmu_prepare, perf_prepare_sample);
DECLARE_STATIC_CALL(corepmu_prepare_header, perf_prepare_header);
DECLARE_STATIC_CALL(corepmu_output_begin, perf_output_begin_forward);
DECLARE_STATIC_CALL(corepmu_output_sample, perf_output_sample);
DECLARE_STATIC_CALL(corepmu_output_end, perf_output_end);

int corepmu_resolve_symbols(void);
bool corepmu_has_sched_cb(void);
bool corepmu_has_callchain(void);
bool corepmu_is_plain_output(perf_overflow_handler_t handler);
unsigned long corepmu_find_symbol(const char *name);
unsigned long corepmu_symbol_size(unsigned long addr);

/* Call perf_event_overflow(). From the overflow interrupt, or IRQs off. */
static inline int corepmu_perf_event_overflow(struct perf_event *event,
					      struct perf_sample_data *data,
					      struct pt_regs *regs)
{
	return static_call(corepmu_overflow)(event, data, regs);
}

/* Call perf_sample_event_took(). From the overflow interrupt, once per interrupt. */
static inline void corepmu_perf_sample_event_took(u64 ns)
{
	static_call(corepmu_took)(ns);
}

/* Call perf_sched_cb_inc() or perf_sched_cb_dec(), if corepmu_has_sched_cb(). IRQs off. */
static inline void corepmu_perf_sched_cb_inc(struct pmu *pmu)
{
	static_call(corepmu_cb_inc)(pmu);
}

static inline void corepmu_perf_sched_cb_dec(struct pmu *pmu)
{
	static_call(corepmu_cb_dec)(pmu);
}

/* Call kernel_text_address(); return 0 on a kernel where it was not found. Any context, NMI too. */
static inline int corepmu_kernel_text_address(unsigned long addr)
{
	return static_call(corepmu_text)(addr);
}

/* Call perf_callchain(), if corepmu_has_callchain(). From the overflow interrupt, or IRQs off. */
static inline struct perf_callchain_entry *corepmu_perf_callchain(struct perf_event *event,
								  struct pt_regs *regs)
{
	return static_call(corepmu_callchain)(event, regs);
}

/*
 * The functions that perf_event_output_forward() calls, if corepmu_is_plain_output(). From the
 * overflow interrupt, or IRQs off.
 */
#define corepmu_perf_prepare_sample	static_call(corepmu_prepare)
#define corepmu_perf_prepare_header	static_call(corepmu_prepare_header)

static inline int corepmu_perf_output_begin(struct perf_output_handle *handle,
					    struct perf_sample_data *data,
					    struct perf_event *event, unsigned int size)
{
	return static_call(corepmu_output_begin)(handle, data, event, size);
}

static inline void corepmu_perf_output_sample(struct perf_output_handle *handle,
					      struct perf_event_header *header,
					      struct perf_sample_data *data,
					      struct perf_event *event)
{
	static_call(corepmu_output_sample)(handle, header, data, event);
}

static inline void corepmu_perf_output_end(struct perf_output_handle *handle)
{
	static_call(corepmu_output_end)(handle);
}

#else

#define corepmu_perf_event_overflow	perf_event_overflow
#define corepmu_perf_sample_event_took	perf_sample_event_took
#define corepmu_perf_sched_cb_inc	perf_sched_cb_inc
#define corepmu_perf_sched_cb_dec	perf_sched_cb_dec
#define corepmu_kernel_text_address	kernel_text_address
#define corepmu_perf_callchain		perf_callchain
#define corepmu_perf_prepare_sample	perf_prepare_sample
#define corepmu_perf_prepare_header	perf_prepare_header
#define corepmu_perf_output_begin	perf_output_begin_forward
#define corepmu_perf_output_sample	perf_output_sample
#define corepmu_perf_output_end		perf_output_end

static inline bool corepmu_is_plain_output(perf_overflow_handler_t handler)
{
	return handler == perf_event_output_forward;
}

static inline bool corepmu_has_sched_cb(void)
{
	return true;
}

static inline bool corepmu_has_callchain(void)
{
	return true;
}

static inline unsigned long corepmu_find_symbol(const char *name)
{
	return kallsyms_lookup_name(name);
}

static inline unsigned long corepmu_symbol_size(unsigned long addr)
{
	unsigned long size, offset;

	return kallsyms_lookup_size_offset(addr, &size, &offset) ? size - offset : 0;
}

static inline int corepmu_resolve_symbols(void)
{
	return 0;
}

#endif /* MODULE */

/* Check whether perf core notifies a PMU of task switches (pmu.sched_task). Any context. */
static inline bool corepmu_is_notified(const struct pmu *pmu)
{
	return corepmu_has_sched_cb() && compat_sched_task_is_called(pmu);
}

static inline void corepmu_perf_prepare(struct perf_event_header *header,
					struct perf_sample_data *data, struct perf_event *event,
					struct pt_regs *regs)
{
#if COMPAT_HAVE_PREPARE_HEADER
	corepmu_perf_prepare_sample(data, event, regs);
	corepmu_perf_prepare_header(header, data, event, regs);
#else
	corepmu_perf_prepare_sample(header, data, event, regs);
#endif
}

/* Prepare a sample with the header of the previous sample, which is in @header. */
static inline void corepmu_perf_prepare_same(struct perf_event_header *header,
					     struct perf_sample_data *data,
					     struct perf_event *event, struct pt_regs *regs)
{
#if COMPAT_HAVE_PREPARE_HEADER
	corepmu_perf_prepare_sample(data, event, regs);
#else
	corepmu_perf_prepare_sample(header, data, event, regs);
#endif
}

#ifdef CONFIG_X86

/* From arch/x86/events/perf_event.h, which a module cannot include */
void intel_pt_interrupt(void);
int intel_bts_interrupt(void);
void intel_bts_disable_local(void);
void intel_bts_enable_local(void);
int x86_add_exclusive(unsigned int what);
void x86_del_exclusive(unsigned int what);

int corepmu_has_builtin_pmu(void);
bool corepmu_has_trace_interrupt(void);
void corepmu_trace_interrupt(void);
bool corepmu_has_bts_interrupt(void);
void corepmu_bts_pause(void);
int corepmu_bts_interrupt(void);
void corepmu_bts_resume(void);

#endif /* CONFIG_X86 */

#endif /* _COREPMU_KSYMS_H */
