// SPDX-License-Identifier: GPL-2.0-only
/*
 * judge.c - compare a branch stack with the branches that a program takes
 *
 * The program's position at the sample is unknown. A stack is right if all its entries fit some
 * position, one after the other and without a gap. The kernel's own branches are unknown. The
 * program's entries into the kernel and the returns are known; interrupts add more of them
 * anywhere.
 */
#include <inttypes.h>
#include <string.h>

#include "branches.h"

/* perf_branch_entry.type: PERF_BR_* of linux/perf_event.h */
static const unsigned int types[] = {
	[KIND_COND]	= PERF_BR_COND,
	[KIND_JUMP]	= PERF_BR_UNCOND,
	[KIND_IND_JUMP]	= PERF_BR_IND,
	[KIND_CALL]	= PERF_BR_CALL,
	[KIND_IND_CALL]	= PERF_BR_IND_CALL,
	[KIND_RETURN]	= PERF_BR_RET,
};

static const struct step *step_at(const struct course *c, unsigned int i)
{
	return &c->steps[i % c->nr];
}

static unsigned int before(const struct course *c, unsigned int i)
{
	return (i + c->nr - 1) % c->nr;
}

/* Check whether the program can be at an address after step @i. */
static bool is_after(const struct course *c, unsigned int i, u64 addr)
{
	u64 end = step_at(c, i + 1)->from;

	/* The step enters the kernel, or has left it from an unknown address. */
	return addr >= step_at(c, i)->to && (!end || addr <= end);
}

/* Results of comparing one stack */
struct findings {
	unsigned int disturbed;
	unsigned int entered;
	unsigned int missed;
};

static bool is_step(const struct verdict *v, const struct perf_branch_entry *e,
		    const struct step *s, struct findings *f)
{
	if (e->from != s->from || e->to != s->to)
		return false;
	if (v->types && e->type != types[s->kind])
		return false;
	if (e->mispred == e->predicted)
		return false;
	if (e->mispred && s->kind != KIND_COND)
		return false;
	f->missed += e->mispred;
	f->disturbed += v->cycles && e->cycles != s->cycles;
	return true;
}

/*
 * Return the number of steps that the stack omits: types that were not requested, and steps inside
 * the kernel if the kernel is excluded.
 */
static unsigned int skip(const struct verdict *v, unsigned int i)
{
	const struct course *c = v->course;

	for (unsigned int n = 0; n < c->nr && !(v->kinds & KIND_BIT(step_at(c, i)->kind)); n++)
		i = before(c, i);
	return i;
}

/*
 * Check whether the program returns from the kernel to @to after step @i, and such returns are not
 * requested.
 */
static bool is_skipped_leave(const struct verdict *v, unsigned int i, u64 to)
{
	const struct step *s;

	for (s = step_at(v->course, ++i); !(v->kinds & KIND_BIT(s->kind));
	     s = step_at(v->course, ++i))
		if (s->kind == KIND_LEAVE && s->to == to)
			return true;
	return false;
}

/*
 * Check for an entry with one end in the kernel: the program's own entry or exit, or an interrupt
 * after step @i.
 */
static bool is_crossing(const struct verdict *v, const struct perf_branch_entry *e,
			unsigned int *i, struct findings *f)
{
	const struct step *s = step_at(v->course, *i);
	bool enters = is_kernel(e->to);

	if (s->kind == (enters ? KIND_ENTER : KIND_LEAVE) &&
	    (enters ? e->from == s->from : e->to == s->to)) {
		f->entered += enters;
		*i = before(v->course, *i);
		return true;
	}
	return is_after(v->course, *i, enters ? e->from : e->to) ||
	       (!enters && is_skipped_leave(v, *i, e->to));
}

/* Longest code without a taken branch */
#define STRAIGHT_MAX	0x4000

static bool is_in_order(const struct sample *s, unsigned int *where)
{
	for (unsigned int n = 1; n < s->nr_branches; n++) {
		u64 to = s->branches[n].to, from = s->branches[n - 1].from;

		*where = n;
		if (from < to || from > to + STRAIGHT_MAX)
			return false;
	}
	return true;
}

/* Return the number of entries that are right if the youngest branch was step @i. */
static unsigned int compare(const struct verdict *v, const struct sample *s, unsigned int i,
			    struct findings *f)
{
	const struct perf_branch_entry *e;
	unsigned int n;

	memset(f, 0, sizeof(*f));
	for (n = 0; n < s->nr_branches; n++) {
		e = &s->branches[n];
		if (is_kernel(e->from) && is_kernel(e->to))
			continue;
		i = skip(v, i);
		if (is_kernel(e->from) || is_kernel(e->to)) {
			if (!is_crossing(v, e, &i, f))
				break;
			continue;
		}
		if (!is_step(v, e, step_at(v->course, i), f))
			break;
		i = before(v->course, i);
	}
	return n;
}

static void print_wrong(const struct verdict *v, const struct sample *s, unsigned int right)
{
	const struct perf_branch_entry *e;

	if (v->wrong > 1)
		return;
	ktap_diag("a sample at %#" PRIx64 ", of its %" PRIu64 " entries %u are right:",
		  s->ip, s->nr_branches, right);
	for (unsigned int n = 0; n < s->nr_branches; n++) {
		e = &s->branches[n];
		ktap_diag("%2u: %#llx -> %#llx type %u cycles %u%s", n, (long long)e->from,
			  (long long)e->to, (unsigned int)e->type, (unsigned int)e->cycles,
			  e->mispred ? " mispredicted" : "");
	}
}

static void add(struct verdict *v, const struct sample *s)
{
	unsigned int nr = s->nr_branches;

	if (!v->samples || nr < v->shortest)
		v->shortest = nr;
	if (nr > v->longest)
		v->longest = nr;
	v->full += nr + 2 >= v->longest;
	v->samples++;
	v->entries += nr;
}

void judge(struct verdict *v, const struct sample *s)
{
	const struct course *c = v->course;
	struct findings f = { 0 }, found;
	unsigned int i, right, most = 0;

	add(v, s);
	/* Of several positions, take the one with the fewest interrupts. */
	for (i = 0; i < c->nr; i++) {
		if (v->ip && !is_after(c, i, s->ip))
			continue;
		right = compare(v, s, i, &found);
		if (right > most || (right == most && found.entered >= f.entered)) {
			most = right;
			f = found;
		}
	}
	if (most < s->nr_branches ||
	    (v->all && s->nr_branches >= v->all && !is_in_order(s, &most))) {
		v->wrong++;
		print_wrong(v, s, most);
		return;
	}
	v->disturbed += f.disturbed;
	v->entered += f.entered;
	v->missed += f.missed;
}

/* ---- call stacks ---- */

#define CALLS_MAX	64

/* A call stack as the hardware records it: a ring that loses the oldest calls */
struct calls {
	const struct step *ring[CALLS_MAX];
	unsigned int depth;
	unsigned int top;
};

static void follow(struct calls *calls, const struct step *s)
{
	/* The hardware does not record a call of the next instruction: it has no return. */
	bool calls_next = s->kind == KIND_CALL && s->to - s->from == 5;

	if (s->kind == KIND_RETURN) {
		calls->ring[calls->top] = NULL;
		calls->top = (calls->top + calls->depth - 1) % calls->depth;
	} else if ((s->kind == KIND_CALL && !calls_next) || s->kind == KIND_IND_CALL) {
		calls->top = (calls->top + 1) % calls->depth;
		calls->ring[calls->top] = s;
	}
}

static unsigned int compare_calls(const struct calls *calls, const struct sample *s, bool partial)
{
	const struct perf_branch_entry *e;
	const struct step *step;
	unsigned int n;

	for (n = 0; n < calls->depth; n++) {
		step = calls->ring[(calls->top + calls->depth - n) % calls->depth];
		if (!step || n == s->nr_branches)
			break;
		e = &s->branches[n];
		if (e->from != step->from || e->to != step->to)
			return n;
	}
	return n == s->nr_branches && (partial || n == calls->depth || !step) ? n : 0;
}

void judge_calls(struct verdict *v, const struct sample *s, unsigned int depth)
{
	const struct course *c = v->course;
	struct calls calls = { .depth = depth };
	unsigned int i, right, most = 0;

	add(v, s);
	/* Start from the state at the end of the previous round. */
	for (i = 0; i < c->nr; i++)
		follow(&calls, step_at(c, i));
	for (i = 0; i < c->nr; i++) {
		follow(&calls, step_at(c, i));
		if (!is_after(c, i, s->ip))
			continue;
		right = compare_calls(&calls, s, v->partial);
		if (right == s->nr_branches && (right || v->partial || !calls.ring[calls.top]))
			return;
		if (right > most)
			most = right;
	}
	v->wrong++;
	print_wrong(v, s, most);
}
