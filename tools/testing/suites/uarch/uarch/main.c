// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - x86: the built-in driver and the driver under test count the same events
 *
 * For guests in coexist mode, without the NMI watchdog, whose virtual PMU is a microarchitecture.
 * The built-in driver knows it by family and model, and uses its own tables of events and
 * constraints. The virtual PMU counts an event only on its allowed counters, so a wrong placement
 * reads 0. The table marks events that corepmu rejects although they could count.
 */
#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "task.h"
#include "uarch.h"

#define ITERATIONS	4096

/* Twice the size of the virtual PMU's cache: every line misses. */
#define BUFFER_SIZE	0x20000
#define LINE_SIZE	64

static char buffer[BUFFER_SIZE] __attribute__((aligned(BUFFER_SIZE)));

/* Work of a round: a load, a store, a call and a return, a branch, with a new cache line */
void uarch_work(unsigned long iterations, char *data);
asm(".pushsection .text\n"
	"	.type	uarch_work, @function\n"
	"uarch_work:\n"
	"	xor	%eax, %eax\n"
	"1:	mov	(%rsi,%rax), %rdx\n"
	"	mov	%rdx, 8(%rsi,%rax)\n"
	"	call	2f\n"
	"	add	$64, %eax\n"
	"	and	$0x1ffff, %eax\n"
	"	dec	%rdi\n"
	"	jnz	1b\n"
	"2:	ret\n"
	"	.size	uarch_work, . - uarch_work\n"
	".popsection");

_Static_assert(LINE_SIZE == 64 && BUFFER_SIZE == 0x1ffff + 1, "uarch_work() has the numbers");

/* PMU type of the built-in driver */
static int own_type;

/* Counts of an event or a group, or the reason for its rejection */
struct result {
	int error;
	u64 counts[GROUP_MAX];
	bool all_running;
};

/* Return the first row of this CPU model, or the one after @last: a hybrid machine has several. */
static const struct uarch *this_uarch(const struct uarch *last)
{
	const struct uarch *u = ARCH_BY_VENDOR(uarch_intel, uarch_amd, uarch_zhaoxin);
	unsigned int eax = 0, ebx, ecx, edx, family, model;

	__get_cpuid(1, &eax, &ebx, &ecx, &edx);
	family = (eax >> 8 & 0xf) + ((eax >> 8 & 0xf) == 0xf ? eax >> 20 & 0xff : 0);
	model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
	for (u = last ? last + 1 : u; u->name; u++)
		if (u->family == family &&
		    (u->model == model || u->others[0] == model || u->others[1] == model))
			return u;
	return NULL;
}

/* Return the type of the built-in driver's PMU, or of corepmu's, for CPUs of that type. */
static int type_of(const char *base, const struct uarch *uarch)
{
	char path[256];

	if (uarch && uarch->kind)
		snprintf(path, sizeof(path), UARCH_DEVICES "%s_%s/type", base, uarch->kind);
	else
		snprintf(path, sizeof(path), UARCH_DEVICES "%s/type", base);
	return read_number(path);
}

/* The same code for either driver, since the instructions around the work count too */
static __attribute__((noipa)) void count_work(const int *fds, unsigned int nr,
					      struct result *result)
{
	struct event_times times;

	event_enable(fds[0]);
	uarch_work(ITERATIONS, buffer);
	event_disable(fds[0]);
	result->all_running = true;
	for (unsigned int i = 0; i < nr; i++) {
		event_read_times(fds[i], &times);
		result->counts[i] = times.count;
		if (times.running != times.enabled || !times.running)
			result->all_running = false;
	}
}

static void count(struct perf_event_attr *attrs, unsigned int nr, struct result *result)
{
	int fds[GROUP_MAX];
	unsigned int i;

	memset(result, 0, sizeof(*result));
	for (i = 0; i < nr; i++) {
		attrs[i].disabled = !i;
		attrs[i].read_format = FORMAT_TIMES;
		fds[i] = event_open(&attrs[i], 0, -1, i ? fds[0] : -1, 0);
		if (fds[i] < 0) {
			result->error = fds[i];
			break;
		}
	}
	if (!result->error)
		count_work(fds, nr, result);
	close_all(fds, i);
}

static void count_events(int type, const u64 *configs, unsigned int nr, struct result *result)
{
	struct perf_event_attr attrs[GROUP_MAX];

	for (unsigned int i = 0; i < nr; i++) {
		attr_init(&attrs[i], configs[i]);
		attrs[i].type = type;
	}
	count(attrs, nr, result);
}

static u64 slack_of(enum uarch_precision precision, u64 count)
{
	switch (precision) {
	case UARCH_REMAINDER:
		return 1;
	case UARCH_MISSES:
		return count / 64 + 16;
	default:
		return 0;
	}
}

static void same_count(const char *name, enum uarch_precision precision, u64 own, u64 ours)
{
	u64 slack = slack_of(precision, own);

	ktap_check(ours + slack >= own && ours <= own + slack,
		   "%s: the built-in driver counts %llu, corepmu %llu", name,
		   (unsigned long long)own, (unsigned long long)ours);
}

static void test_event(const struct uarch_event *event)
{
	struct result own, ours;

	if (target.kernel < event->since) {
		ktap_skip("the built-in driver does not know the event");
		return;
	}
	count_events(own_type, &event->config, 1, &own);
	count_events(target.type, &event->config, 1, &ours);
	expect_eq("error of the built-in driver", 0, own.error);
	expect_ne("count of the built-in driver", 0, own.counts[0]);
	if (expect_eq("error of corepmu", -event->refused, ours.error) && !event->refused)
		same_count(event->name, event->precision, own.counts[0], ours.counts[0]);
}

static const struct uarch_event *find_event(const struct uarch *uarch, u64 config)
{
	static const struct uarch_event unknown = EVENT("an event without a name", 0);

	for (unsigned int list = 0; list < UARCH_LISTS; list++)
		for (unsigned int i = 0; i < uarch->events[list].nr; i++)
			if (uarch->events[list].rows[i].config == config)
				return &uarch->events[list].rows[i];
	return &unknown;
}

static void test_group(const struct uarch *uarch, const struct uarch_group *group)
{
	int error = group->fits ? 0 : -EINVAL, refused = 0;
	struct result own, ours;
	unsigned int nr;

	for (nr = 0; group->events[nr]; nr++)
		if (!refused)
			refused = find_event(uarch, group->events[nr])->refused;
	count_events(own_type, group->events, nr, &own);
	count_events(target.type, group->events, nr, &ours);
	expect_eq("error of the built-in driver", error, own.error);
	expect_eq("error of corepmu", refused ? -refused : error, ours.error);
	if (own.error || ours.error)
		return;
	expect_eq("all events of the built-in driver run all the time", 1, own.all_running);
	expect_eq("all events of corepmu run all the time", 1, ours.all_running);
	for (unsigned int i = 0; i < nr; i++) {
		const struct uarch_event *event = find_event(uarch, group->events[i]);

		expect_ne("count of the built-in driver", 0, own.counts[i]);
		same_count(event->name, event->precision, own.counts[i], ours.counts[i]);
	}
}

static void count_extra_reg(int type, const struct uarch_extra_reg *extra_reg,
			    struct result *result)
{
	struct perf_event_attr attrs[EXTRA_REG_EVENTS_MAX];
	unsigned int nr;

	for (nr = 0; extra_reg->events[nr].config; nr++) {
		attr_init(&attrs[nr], extra_reg->events[nr].config);
		attrs[nr].config1 = extra_reg->events[nr].config1;
		attrs[nr].type = type;
	}
	count(attrs, nr, result);
}

static void test_extra_reg(const struct uarch_extra_reg *extra_reg)
{
	struct result own, ours;

	/* corepmu counts first: the built-in driver would leave its value in the extra register. */
	count_extra_reg(target.type, extra_reg, &ours);
	count_extra_reg(own_type, extra_reg, &own);
	expect_eq("error of the built-in driver", extra_reg->error, own.error);
	expect_eq("error of corepmu", extra_reg->error, ours.error);
	if (own.error || ours.error)
		return;
	expect_eq("all events of corepmu run all the time", 1, ours.all_running);
	for (unsigned int i = 0; extra_reg->events[i].config; i++) {
		if (extra_reg->counts)
			expect_ne("count of the built-in driver", 0, own.counts[i]);
		same_count(extra_reg->name, extra_reg->precision, own.counts[i], ours.counts[i]);
	}
}

/* Run two events that need different values of one extra register: one runs at a time. */
static void test_turns(const struct uarch_extra_reg *extra_reg, int type, struct result *results)
{
	struct perf_event_attr attr;
	int fds[2], i;

	for (i = 0; i < 2; i++) {
		attr_init(&attr, extra_reg->events[i].config);
		attr.config1 = extra_reg->events[i].config1;
		attr.type = type;
		attr.disabled = 0;
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open(&attr, 0, -1, -1, 0);
		if (!ktap_check(fds[i] >= 0, "event %d: error %d", i, fds[i]))
			break;
	}
	if (i == 2) {
		uarch_work(ITERATIONS, buffer);
		for (i = 0; i < 2; i++) {
			struct event_times times;

			event_read_times(fds[i], &times);
			results->counts[i] = times.count;
			results->all_running = times.running == times.enabled;
		}
	}
	close_all(fds, i);
}

static void test_extra_reg_turns(const struct uarch *uarch)
{
	struct uarch_extra_reg extra_reg;
	unsigned int i, tried = 0;

	for (i = 0; uarch_extra_reg_get(uarch, i, &extra_reg); i++) {
		struct result own = { }, ours = { };

		/* Groups whose events are rejected together */
		if (!extra_reg.error || !extra_reg.events[1].config || extra_reg.events[2].config)
			continue;
		tried++;
		test_turns(&extra_reg, target.type, &ours);
		test_turns(&extra_reg, own_type, &own);
		expect_eq("the second event of the built-in driver runs all the time", 0,
			  own.all_running);
		expect_eq("the second event of corepmu runs all the time", 0, ours.all_running);
		expect_ne("sum of both counts of corepmu", 0, ours.counts[0] + ours.counts[1]);
	}
	if (!tried)
		ktap_skip("no two events need the same register");
}

/*
 * Expect both drivers to count the same. @needless: corepmu may have events that the built-in
 * driver lacks.
 */
static void same_generic(const struct uarch *uarch, struct perf_event_attr *attr,
			 const char *name, enum uarch_precision precision, bool needless)
{
	u64 config = attr->config;
	struct result own, ours;

	/* Without a type, perf core also asks the PMU of the other CPU type. */
	if (uarch->kind)
		attr->config = config | (u64)own_type << 32;
	count(attr, 1, &own);
	attr->config = config | (u64)target.type << 32;
	count(attr, 1, &ours);
	if (own.error && needless)
		return;
	if (needless && config && config == uarch->nameless) {
		expect_eq(name, 0, own.error);
		expect_eq(name, -ENOENT, ours.error);
		return;
	}
	if (ktap_check(own.error == ours.error,
		       "%s: errno %d with the built-in driver, %d with corepmu", name, own.error,
		       ours.error) && !own.error)
		same_count(name, precision, own.counts[0], ours.counts[0]);
}

static void test_hardware(const struct uarch *uarch)
{
	/* Mispredictions depend on earlier branches, as misses depend on earlier accesses. */
	static const struct {
		const char *name;
		enum uarch_precision precision;
	} rows[] = {
		[PERF_COUNT_HW_CPU_CYCLES] = { "cpu-cycles", UARCH_EXACT },
		[PERF_COUNT_HW_INSTRUCTIONS] = { "instructions", UARCH_EXACT },
		[PERF_COUNT_HW_CACHE_REFERENCES] = { "cache-references", UARCH_EXACT },
		[PERF_COUNT_HW_CACHE_MISSES] = { "cache-misses", UARCH_MISSES },
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = { "branches", UARCH_EXACT },
		[PERF_COUNT_HW_BRANCH_MISSES] = { "branch-misses", UARCH_MISSES },
		[PERF_COUNT_HW_BUS_CYCLES] = { "bus-cycles", UARCH_REMAINDER },
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = {
			"stalled-cycles-frontend", UARCH_EXACT
		},
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = { "stalled-cycles-backend", UARCH_EXACT },
		[PERF_COUNT_HW_REF_CPU_CYCLES] = { "ref-cycles", UARCH_REMAINDER },
	};
	struct perf_event_attr attr;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		attr_init_generic(&attr, i);
		same_generic(uarch, &attr, rows[i].name, rows[i].precision, false);
	}
}

/*
 * If the virtual PMU lacks OFFCORE_RSP, the built-in driver rejects some events with ENXIO.
 * corepmu has architectural events for them.
 */
static void test_cache(const struct uarch *uarch)
{
	static const char * const caches[] = {
		"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
	};
	static const char * const operations[] = { "loads", "stores", "prefetches" };
	static const char * const results[] = { "", "-misses" };
	struct perf_event_attr attr;
	enum uarch_precision precision;
	char name[64];

	for (unsigned int cache = 0; cache < ARRAY_SIZE(caches); cache++) {
		if (uarch->corrected && target.kernel < LINUX_7 &&
		    (cache == PERF_COUNT_HW_CACHE_LL || cache == PERF_COUNT_HW_CACHE_NODE))
			continue;
		for (unsigned int operation = 0; operation < ARRAY_SIZE(operations); operation++) {
			for (unsigned int result = 0; result < ARRAY_SIZE(results); result++) {
				/*
				 * The virtual PMU counts misses as prefetches, and misses of the
				 * last level as a node's accesses.
				 */
				if (result || operation == PERF_COUNT_HW_CACHE_OP_PREFETCH ||
				    cache == PERF_COUNT_HW_CACHE_DTLB ||
				    cache == PERF_COUNT_HW_CACHE_NODE)
					precision = UARCH_MISSES;
				else
					precision = UARCH_EXACT;
				snprintf(name, sizeof(name), "%s-%s%s", caches[cache],
					 operations[operation], results[result]);
				attr_init_generic(&attr, cache | operation << 8 | result << 16);
				attr.type = PERF_TYPE_HW_CACHE;
				same_generic(uarch, &attr, name, precision, true);
			}
		}
	}
}

static void test_names(const struct uarch *uarch)
{
	char own[64], ours[64];

	snprintf(own, sizeof(own), uarch->kind ? "cpu_%s" : "cpu", uarch->kind);
	snprintf(ours, sizeof(ours), uarch->kind ? "corepmu_%s" : "corepmu", uarch->kind);
	uarch_names(own, ours);
}

static unsigned int nr_tests(const struct uarch *uarch)
{
	struct uarch_extra_reg extra_reg;
	unsigned int list, nr = 0;

	while (uarch_extra_reg_get(uarch, nr, &extra_reg))
		nr++;
	/*
	 * Four tests have no list: values that rotate, names, generic events, cache events. The
	 * first needs extra registers.
	 */
	nr += nr ? 4 : 3;
	for (list = 0; list < UARCH_LISTS; list++)
		nr += uarch->events[list].nr + uarch->groups[list].nr;
	return nr;
}

static void run_tests(const struct uarch *uarch)
{
	struct uarch_extra_reg extra_reg;
	unsigned int i;

	for (unsigned int list = 0; list < UARCH_LISTS; list++) {
		for (i = 0; i < uarch->events[list].nr; i++) {
			ktap_begin("%s: %s", uarch->name, uarch->events[list].rows[i].name);
			test_event(&uarch->events[list].rows[i]);
			ktap_end();
		}
	}
	for (unsigned int list = 0; list < UARCH_LISTS; list++) {
		for (i = 0; i < uarch->groups[list].nr; i++) {
			ktap_begin("%s: %s", uarch->name, uarch->groups[list].rows[i].name);
			test_group(uarch, &uarch->groups[list].rows[i]);
			ktap_end();
		}
	}
	for (i = 0; uarch_extra_reg_get(uarch, i, &extra_reg); i++) {
		ktap_begin("%s: extra register: %s", uarch->name, extra_reg.name);
		test_extra_reg(&extra_reg);
		ktap_end();
	}
	if (i) {
		ktap_begin("%s: values of an extra register take turns", uarch->name);
		test_extra_reg_turns(uarch);
		ktap_end();
	}
	ktap_begin("%s: format/, events/ and caps/", uarch->name);
	test_names(uarch);
	ktap_end();
	ktap_begin("%s: generic events", uarch->name);
	test_hardware(uarch);
	ktap_end();
	ktap_begin("%s: generic cache events", uarch->name);
	test_cache(uarch);
	ktap_end();
}

int main(int argc, char **argv)
{
	const struct uarch *uarch = this_uarch(NULL), *u;
	unsigned int nr = 0;

	if (uarch && uarch->kind)
		setenv("PMU", "corepmu_core", 0);
	target_init(argc, argv);
	own_type = type_of("cpu", uarch);
	for (u = uarch; u; u = this_uarch(u))
		nr += nr_tests(u);
	ktap_plan(1 + nr);
	ktap_begin("the microarchitecture is known, and the built-in driver is there");
	ktap_check(uarch, "a known family and model");
	ktap_check(own_type >= 0, "the PMU of the built-in driver");
	ktap_end();
	/* Let no page fault while anything counts. */
	memset(buffer, 1, sizeof(buffer));
	for (u = uarch; u; u = this_uarch(u)) {
		if (u->kind) {
			run_on(u->cpu);
			own_type = type_of("cpu", u);
			target.type = type_of("corepmu", u);
		}
		run_tests(u);
	}
	return ktap_status();
}
