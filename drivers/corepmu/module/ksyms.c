// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: the one way to functions that the kernel does not export
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/printk.h>

#include <corepmu/ksyms.h>

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

static bool has_trace_interrupt;

/* What perf core's __perf_guest_handle_intel_pt_intr() calls, NULL where there is no such call */
static const struct static_call_key *guest_trace;

/* Without intel_pt_interrupt() Intel PT's interrupt is not passed on. */
static void corepmu_resolve_for_trace(void)
{
	const char *guest = STATIC_CALL_KEY_STR(__perf_guest_handle_intel_pt_intr);
	unsigned long interrupt = corepmu_find_symbol("intel_pt_interrupt");

	if (!interrupt)
		return;
	static_call_update(corepmu_trace, (typeof(intel_pt_interrupt) *)interrupt);
	guest_trace = (void *)corepmu_find_symbol(guest);
	has_trace_interrupt = true;
}

#else

static void corepmu_resolve_for_trace(void)
{
}

#endif /* CONFIG_X86 */

/* perf_event_output_forward(), once all of what it is made of is known */
static unsigned long plain_output;

/**
 * corepmu_text_none() - kernel_text_address() of a kernel where it is not found
 * @addr: an address
 *
 * Return: 0, nothing is known to be text
 */
int corepmu_text_none(unsigned long addr)
{
	return 0;
}

/*
 * A kprobe that is registered disabled tells where a function is and never
 * patches it. With IBT the address is four bytes past the entry, so that it
 * serves to reach kallsyms_lookup_name() alone, which gives true entries.
 */
static int corepmu_find_lookup(void)
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
 * corepmu_find_symbol() - where something is that is not exported
 * @name: a function or an object of the kernel
 *
 * Process context, after corepmu_resolve_symbols().
 *
 * Return: its address, 0 when it is not there
 */
unsigned long corepmu_find_symbol(const char *name)
{
	return static_call(corepmu_lookup_name)(name);
}

/**
 * corepmu_symbol_size() - how far a function or an object goes on
 * @addr: an address in it
 *
 * Process context, after corepmu_resolve_symbols().
 *
 * Return: the bytes from @addr to the next symbol, 0 when the kernel does not tell
 */
unsigned long corepmu_symbol_size(unsigned long addr)
{
	unsigned long size, offset;

	return static_call(corepmu_lookup_size)(addr, &size, &offset) ? size - offset : 0;
}

static unsigned long corepmu_lookup(const char *name)
{
	unsigned long addr = corepmu_find_symbol(name);

	if (!addr)
		pr_err("this kernel has no %s\n", name);

	return addr;
}

/**
 * corepmu_has_sched_cb() - can perf core be asked to tell of switches of tasks?
 *
 * Return: whether it can
 */
bool corepmu_has_sched_cb(void)
{
	return has_sched_cb;
}

/**
 * corepmu_has_callchain() - can a sample have the callchain of other registers than its own?
 *
 * Return: whether it can
 */
bool corepmu_has_callchain(void)
{
	return has_callchain;
}

/**
 * corepmu_is_plain_output() - is that what writes a sample of most events to a buffer?
 * @handler: an event's overflow_handler
 *
 * Return: whether it is, and what it is made of can be called: see corepmu_perf_output_begin()
 */
bool corepmu_is_plain_output(perf_overflow_handler_t handler)
{
	return handler && (unsigned long)handler == plain_output;
}

/* Samples are written one by one without these. */
static void corepmu_resolve_output(void)
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

/* Precise samples are refused without it. */
static void corepmu_resolve_for_precise(void)
{
	unsigned long callchain = corepmu_find_symbol("perf_callchain");

	if (!callchain)
		return;
	static_call_update(corepmu_callchain, (typeof(perf_callchain) *)callchain);
	has_callchain = true;
}

/* Branch records are short of something without these, and counters need none of them. */
static void corepmu_resolve_for_branches(void)
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
 * corepmu_resolve_symbols() - find what perf core does not export
 *
 * Process context, once, before any event can exist.
 *
 * Return: 0, or -ENOENT when a function is not there, after saying which
 */
int corepmu_resolve_symbols(void)
{
	unsigned long overflow, took, size;
	int ret;

	ret = corepmu_find_lookup();
	if (ret)
		return ret;

	overflow = corepmu_lookup("perf_event_overflow");
	took = corepmu_lookup("perf_sample_event_took");
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
	corepmu_resolve_output();

	return 0;
}

#endif /* MODULE */

#ifdef CONFIG_X86

#ifdef MODULE

static const struct static_call_key *builtin_handler_key(void)
{
	return (void *)corepmu_find_symbol(STATIC_CALL_KEY_STR(x86_pmu_handle_irq));
}

/*
 * perf_guest_handle_intel_pt_intr(), whose key is not exported. KVM, which sets the function, waits
 * for NMIs when it takes it back (perf_unregister_guest_info_callbacks()).
 */
static unsigned int handle_guest_trace(void)
{
	unsigned int (*handle)(void);

	if (!guest_trace)
		return 0;
	handle = READ_ONCE(guest_trace->func);

	/* Without KVM: a function of another type */
	return (void *)handle == (void *)__static_call_return0 ? 0 : handle();
}

/**
 * corepmu_has_trace_interrupt() - is there somebody to pass Intel PT's interrupt on to?
 *
 * Return: whether there is
 */
bool corepmu_has_trace_interrupt(void)
{
	return has_trace_interrupt;
}

static void trace_interrupt(void)
{
	static_call(corepmu_trace)();
}

#else

DECLARE_STATIC_CALL(x86_pmu_handle_irq, int (struct pt_regs *regs));

static const struct static_call_key *builtin_handler_key(void)
{
	return &STATIC_CALL_KEY(x86_pmu_handle_irq);
}

static unsigned int handle_guest_trace(void)
{
	return perf_guest_handle_intel_pt_intr();
}

bool corepmu_has_trace_interrupt(void)
{
	return IS_ENABLED(CONFIG_CPU_SUP_INTEL);
}

static void trace_interrupt(void)
{
	if (IS_ENABLED(CONFIG_CPU_SUP_INTEL))
		intel_pt_interrupt();
}

#endif /* MODULE */

/**
 * corepmu_trace_interrupt() - pass Intel PT's interrupt on to whoever traces
 *
 * If corepmu_has_trace_interrupt(). From the NMI that it is, once the status has been
 * acknowledged.
 */
void corepmu_trace_interrupt(void)
{
	if (!handle_guest_trace())
		trace_interrupt();
}

/**
 * corepmu_has_builtin_pmu() - does the kernel's own driver have a PMU?
 *
 * arch/x86/events/core.c has a static call to its NMI handler, which is set when the
 * driver has found a PMU; x86_pmu_initialized() there asks the same question. (What
 * perf_get_x86_pmu_capability() fills in is nothing on CPUs of several kinds.) Process
 * context, after corepmu_resolve_symbols().
 *
 * Return: 1 when it has one, 0 when it has none, -ENOENT after saying that the kernel
 * does not tell
 */
int corepmu_has_builtin_pmu(void)
{
	const struct static_call_key *key;

	key = builtin_handler_key();
	if (!key) {
		pr_err("this kernel does not tell whether its own driver has the counters: it needs CONFIG_KALLSYMS_ALL\n");
		return -ENOENT;
	}

	return !!READ_ONCE(key->func);
}

#endif /* CONFIG_X86 */
