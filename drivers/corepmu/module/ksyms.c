// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: find functions that the kernel does not export
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/printk.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>

#ifdef MODULE

#if !defined(CONFIG_KPROBES) || !defined(CONFIG_KALLSYMS)
#error "corepmu as a module needs a kernel with CONFIG_KPROBES and CONFIG_KALLSYMS"
#endif

static unsigned long corepmu_lookup_none(const char *name)
{
	return 0;
}

static struct perf_callchain_entry *callchain_none(struct perf_event *event, struct pt_regs *regs)
{
	static struct perf_callchain_entry empty;

	return &empty;
}

static int lookup_size_none(unsigned long addr, unsigned long *size, unsigned long *offset)
{
	return 0;
}

DEFINE_STATIC_CALL(corepmu_lookup_name, corepmu_lookup_none);
DEFINE_STATIC_CALL(corepmu_lookup_size, lookup_size_none);
DEFINE_STATIC_CALL_NULL(corepmu_overflow, perf_event_overflow);
DEFINE_STATIC_CALL_NULL(corepmu_took, perf_sample_event_took);
DEFINE_STATIC_CALL_NULL(corepmu_cb_inc, perf_sched_cb_inc);
DEFINE_STATIC_CALL_NULL(corepmu_cb_dec, perf_sched_cb_dec);
DEFINE_STATIC_CALL(corepmu_text, corepmu_text_none);
DEFINE_STATIC_CALL(corepmu_callchain, callchain_none);
DEFINE_STATIC_CALL_NULL(corepmu_prepare, perf_prepare_sample);
DEFINE_STATIC_CALL_NULL(corepmu_prepare_header, perf_prepare_header);
DEFINE_STATIC_CALL_NULL(corepmu_output_begin, perf_output_begin_forward);
DEFINE_STATIC_CALL_NULL(corepmu_output_sample, perf_output_sample);
DEFINE_STATIC_CALL_NULL(corepmu_output_end, perf_output_end);

static bool has_sched_cb, has_callchain;

#ifdef CONFIG_X86

DEFINE_STATIC_CALL_NULL(corepmu_trace, intel_pt_interrupt);

DEFINE_STATIC_CALL_RET0(corepmu_bts, intel_bts_interrupt);
DEFINE_STATIC_CALL_NULL(corepmu_bts_off, intel_bts_disable_local);
DEFINE_STATIC_CALL_NULL(corepmu_bts_on, intel_bts_enable_local);

static bool has_trace_interrupt, has_bts_interrupt;

/* Key of perf core's static call __perf_guest_handle_intel_pt_intr, or NULL */
static const struct static_call_key *guest_trace;

/* Find intel_pt_interrupt(). Without it the driver does not pass on Intel PT's interrupts. */
static void __corepmu_init corepmu_resolve_for_trace(void)
{
	const char *guest = STATIC_CALL_KEY_STR(__perf_guest_handle_intel_pt_intr);
	unsigned long interrupt = corepmu_find_symbol("intel_pt_interrupt");

	if (!interrupt)
		return;
	static_call_update(corepmu_trace, (typeof(intel_pt_interrupt) *)interrupt);
	guest_trace = (void *)corepmu_find_symbol(guest);
	has_trace_interrupt = true;
}

/*
 * Find the functions of the PMU intel_bts. Before Linux 6.16 that PMU does not exist without the
 * built-in driver. The change that removed this dependency ("perf/x86/intel: Decouple BTS
 * initialization from PEBS initialization") renamed intel_ds_init() to intel_pebs_init().
 */
static void __corepmu_init corepmu_resolve_for_bts(void)
{
	unsigned long interrupt, off, on;

	if (!corepmu_find_symbol("intel_pebs_init"))
		return;
	interrupt = corepmu_find_symbol("intel_bts_interrupt");
	off = corepmu_find_symbol("intel_bts_disable_local");
	on = corepmu_find_symbol("intel_bts_enable_local");
	if (!interrupt || !off || !on)
		return;
	static_call_update(corepmu_bts, (typeof(intel_bts_interrupt) *)interrupt);
	static_call_update(corepmu_bts_off, (typeof(intel_bts_disable_local) *)off);
	static_call_update(corepmu_bts_on, (typeof(intel_bts_enable_local) *)on);
	has_bts_interrupt = true;
}

#else

static void __corepmu_init corepmu_resolve_for_trace(void)
{
}

static void __corepmu_init corepmu_resolve_for_bts(void)
{
}

#endif /* CONFIG_X86 */

/* Address of perf_event_output_forward(), if all functions that it calls were found; else 0 */
static unsigned long plain_output;

/**
 * corepmu_text_none() - stand in for kernel_text_address() if it was not found
 * @addr: an address
 *
 * Return: 0: no address is known to be text
 */
int corepmu_text_none(unsigned long addr)
{
	return 0;
}

/*
 * Find kallsyms_lookup_name() by a kprobe. A disabled kprobe has the function's address and does
 * not patch the function. With IBT the address is four bytes past the function's entry: good enough
 * for calls of kallsyms_lookup_name(), which returns true entries of all other functions.
 */
static int __corepmu_init find_lookup_name(void)
{
	struct kprobe kp = {
		.symbol_name	= "kallsyms_lookup_name",
		.flags		= KPROBE_FLAG_DISABLED,
	};
	int ret;

	ret = register_kprobe(&kp);
	if (ret) {
		pr_err("cannot find kallsyms_lookup_name (%d): the kernel needs CONFIG_KPROBES and CONFIG_KALLSYMS\n",
		       ret);
		return ret;
	}

	static_call_update(corepmu_lookup_name, (typeof(kallsyms_lookup_name) *)kp.addr);
	unregister_kprobe(&kp);

	return 0;
}

/**
 * corepmu_find_symbol() - find the address of a symbol that is not exported
 * @name: name of a function or an object of the kernel
 *
 * Process context, after corepmu_resolve_symbols().
 *
 * Return: the symbol's address, 0 if the kernel has no such symbol
 */
unsigned long corepmu_find_symbol(const char *name)
{
	return static_call(corepmu_lookup_name)(name);
}

/**
 * corepmu_symbol_size() - find the size of the rest of a function or an object
 * @addr: an address in the function or object
 *
 * Process context, after corepmu_resolve_symbols().
 *
 * Return: number of bytes from @addr to the next symbol, 0 if unknown
 */
unsigned long __corepmu_init corepmu_symbol_size(unsigned long addr)
{
	unsigned long size, offset;

	return static_call(corepmu_lookup_size)(addr, &size, &offset) ? size - offset : 0;
}

static unsigned long __corepmu_init find_required(const char *name)
{
	unsigned long addr = corepmu_find_symbol(name);

	if (!addr)
		pr_err("the function %s is missing in /proc/kallsyms: use a stock kernel, or report this kernel's version and configuration\n",
		       name);

	return addr;
}

/**
 * corepmu_has_sched_cb() - check whether perf_sched_cb_inc() and perf_sched_cb_dec() were found
 *
 * Without them perf core notifies no PMU of task switches on the driver's behalf.
 *
 * Return: true if both were found
 */
bool corepmu_has_sched_cb(void)
{
	return has_sched_cb;
}

/**
 * corepmu_has_callchain() - check whether perf_callchain() was found
 *
 * Precise samples need it: their callchain starts from other registers than the sample shows.
 *
 * Return: true if perf_callchain() was found
 */
bool __corepmu_init corepmu_has_callchain(void)
{
	return has_callchain;
}

/**
 * corepmu_is_plain_output() - check whether @handler is perf_event_output_forward()
 * @handler: an event's overflow_handler
 *
 * Return: true if it is, and the functions that it calls are available: see
 * corepmu_perf_output_begin()
 */
bool corepmu_is_plain_output(perf_overflow_handler_t handler)
{
	return handler && (unsigned long)handler == plain_output;
}

/* Find the functions that write several samples at once. Without them samples go one by one. */
static void __corepmu_init corepmu_resolve_output(void)
{
	unsigned long prepare = corepmu_find_symbol("perf_prepare_sample");
	unsigned long header = corepmu_find_symbol("perf_prepare_header");
	unsigned long begin = corepmu_find_symbol("perf_output_begin_forward");
	unsigned long sample = corepmu_find_symbol("perf_output_sample");
	unsigned long end = corepmu_find_symbol("perf_output_end");

	if (!prepare || (COMPAT_HAVE_PREPARE_HEADER && !header) || !begin || !sample || !end)
		return;
	static_call_update(corepmu_prepare, (typeof(perf_prepare_sample) *)prepare);
	static_call_update(corepmu_prepare_header, (typeof(perf_prepare_header) *)header);
	static_call_update(corepmu_output_begin, (typeof(perf_output_begin_forward) *)begin);
	static_call_update(corepmu_output_sample, (typeof(perf_output_sample) *)sample);
	static_call_update(corepmu_output_end, (typeof(perf_output_end) *)end);
	plain_output = corepmu_find_symbol("perf_event_output_forward");
}

/* Find perf_callchain(). Without it precise samples are rejected. */
static void __corepmu_init corepmu_resolve_for_precise(void)
{
	unsigned long callchain = corepmu_find_symbol("perf_callchain");

	if (!callchain)
		return;
	static_call_update(corepmu_callchain, (typeof(perf_callchain) *)callchain);
	has_callchain = true;
}

/* Find functions for branch records. Without them some kinds of branch records are missing. */
static void __corepmu_init corepmu_resolve_for_branches(void)
{
	unsigned long inc, dec, text;

	inc = corepmu_find_symbol("perf_sched_cb_inc");
	dec = corepmu_find_symbol("perf_sched_cb_dec");
	if (inc && dec) {
		static_call_update(corepmu_cb_inc, (typeof(perf_sched_cb_inc) *)inc);
		static_call_update(corepmu_cb_dec, (typeof(perf_sched_cb_dec) *)dec);
		has_sched_cb = true;
	}

	text = corepmu_find_symbol("kernel_text_address");
	if (text)
		static_call_update(corepmu_text, (typeof(kernel_text_address) *)text);
}

/**
 * corepmu_resolve_symbols() - find the functions that the kernel does not export
 *
 * Process context, once, before any event can exist.
 *
 * Return: 0, or a negative errno after logging the missing function
 */
int __corepmu_init corepmu_resolve_symbols(void)
{
	unsigned long overflow, took, size;
	int ret;

	ret = find_lookup_name();
	if (ret)
		return ret;

	overflow = find_required("perf_event_overflow");
	took = find_required("perf_sample_event_took");
	if (!overflow || !took)
		return -ENOENT;

	static_call_update(corepmu_overflow, (typeof(perf_event_overflow) *)overflow);
	static_call_update(corepmu_took, (typeof(perf_sample_event_took) *)took);
	size = corepmu_find_symbol("kallsyms_lookup_size_offset");
	if (size)
		static_call_update(corepmu_lookup_size,
				   (typeof(kallsyms_lookup_size_offset) *)size);
	corepmu_resolve_for_branches();
	corepmu_resolve_for_precise();
	corepmu_resolve_for_trace();
	corepmu_resolve_for_bts();
	corepmu_resolve_output();

	return 0;
}

#endif /* MODULE */

#ifdef CONFIG_X86

#ifdef MODULE

static __corepmu_init const struct static_call_key *builtin_handler_key(void)
{
	return (void *)corepmu_find_symbol(STATIC_CALL_KEY_STR(x86_pmu_handle_irq));
}

/*
 * Do the same as perf_guest_handle_intel_pt_intr(): its static call key is not exported. Perf core
 * sets the key's function for KVM. When KVM unregisters, perf core resets the key and then waits
 * for running NMIs (perf_unregister_guest_info_callbacks()): a function that an NMI has read stays
 * valid until the NMI ends.
 */
static unsigned int handle_guest_trace(void)
{
	unsigned int (*handle)(void);

	if (!guest_trace)
		return 0;
	handle = READ_ONCE(guest_trace->func);

	/* Without KVM, the key's function has another type and must not be called. */
	return (void *)handle == (void *)__static_call_return0 ? 0 : handle();
}

/**
 * corepmu_has_trace_interrupt() - check whether the driver can pass on Intel PT's interrupts
 *
 * Return: true if intel_pt_interrupt() was found
 */
bool __corepmu_init corepmu_has_trace_interrupt(void)
{
	return has_trace_interrupt;
}

static void trace_interrupt(void)
{
	static_call(corepmu_trace)();
}

/**
 * corepmu_has_bts_interrupt() - check whether the driver can pass on intel_bts' interrupts
 *
 * Return: true if the functions of intel_bts were found, and intel_bts exists without the built-in
 * driver
 */
bool __corepmu_init corepmu_has_bts_interrupt(void)
{
	return has_bts_interrupt;
}

/**
 * corepmu_bts_pause() - stop this CPU's branch trace until corepmu_bts_resume()
 *
 * Only if corepmu_has_bts_interrupt(), as the next two functions. From the NMI handler.
 */
void corepmu_bts_pause(void)
{
	static_call(corepmu_bts_off)();
}

/**
 * corepmu_bts_interrupt() - pass an NMI on to the PMU intel_bts
 *
 * From the NMI handler, while the branch trace is paused.
 *
 * Return: 1 if the NMI is from intel_bts, else 0
 */
int corepmu_bts_interrupt(void)
{
	return static_call(corepmu_bts)();
}

/**
 * corepmu_bts_resume() - undo corepmu_bts_pause(), unless intel_bts has run out of space
 *
 * From the NMI handler.
 */
void corepmu_bts_resume(void)
{
	static_call(corepmu_bts_on)();
}

#else

DECLARE_STATIC_CALL(x86_pmu_handle_irq, int (struct pt_regs *regs));

static __corepmu_init const struct static_call_key *builtin_handler_key(void)
{
	return &STATIC_CALL_KEY(x86_pmu_handle_irq);
}

static unsigned int handle_guest_trace(void)
{
	return perf_guest_handle_intel_pt_intr();
}

bool __corepmu_init corepmu_has_trace_interrupt(void)
{
	return IS_ENABLED(CONFIG_CPU_SUP_INTEL);
}

static void trace_interrupt(void)
{
	if (IS_ENABLED(CONFIG_CPU_SUP_INTEL))
		intel_pt_interrupt();
}

bool __corepmu_init corepmu_has_bts_interrupt(void)
{
	return COMPAT_HAVE_BTS_ALONE && IS_ENABLED(CONFIG_CPU_SUP_INTEL);
}

void corepmu_bts_pause(void)
{
	if (IS_ENABLED(CONFIG_CPU_SUP_INTEL))
		intel_bts_disable_local();
}

int corepmu_bts_interrupt(void)
{
	return IS_ENABLED(CONFIG_CPU_SUP_INTEL) ? intel_bts_interrupt() : 0;
}

void corepmu_bts_resume(void)
{
	if (IS_ENABLED(CONFIG_CPU_SUP_INTEL))
		intel_bts_enable_local();
}

#endif /* MODULE */

/**
 * corepmu_trace_interrupt() - pass Intel PT's interrupt on to KVM or to the Intel PT driver
 *
 * Only if corepmu_has_trace_interrupt(). From the NMI handler, after the acknowledgment of the
 * status.
 */
void corepmu_trace_interrupt(void)
{
	if (!handle_guest_trace())
		trace_interrupt();
}

/**
 * corepmu_has_builtin_pmu() - check whether the built-in driver has found a PMU
 *
 * The built-in driver sets the static call to its NMI handler when it finds a PMU
 * (arch/x86/events/core.c). x86_pmu_initialized() there uses the same check.
 * perf_get_x86_pmu_capability() is no alternative: it reports nothing on hybrid CPUs. Process
 * context, after corepmu_resolve_symbols().
 *
 * Return: 1 if the built-in driver has a PMU, 0 if not, -ENOENT after logging that the static call
 * was not found
 */
int __corepmu_init corepmu_has_builtin_pmu(void)
{
	const struct static_call_key *key;

	key = builtin_handler_key();
	if (!key) {
		pr_err("cannot find out whether the built-in driver has the counters: the kernel needs CONFIG_KALLSYMS_ALL\n");
		return -ENOENT;
	}

	return !!READ_ONCE(key->func);
}

#endif /* CONFIG_X86 */
