// SPDX-License-Identifier: GPL-2.0-only
/*
 * judge.c - is a branch stack what a program did?
 *
 * Where in its course the program was when the sample was taken is not known: any place will
 * do from which all entries are right, one after the other and none left out. What the kernel
 * does for itself is not known either; that it is entered and left by the program's doing is.
 * It is also by interrupts, which come anywhere.
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

/* Is an address where the program may be after step @i? */
static bool is_after(const struct course *c, unsigned int i, u64 addr)
{
	u64 end = step_at(c, i + 1)->from;

	/* It enters the kernel; or it has left it, and that step is no place. */
	return addr >= step_at(c, i)->to && (!end || addr <= end);
}

/* What is found on the way through a stack */
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

/* Steps that are not in the stack: of kinds not asked for, or in the kernel where that is not. */
static unsigned int skip(const struct verdict *v, unsigned int i)
{
	const struct course *c = v->course;
	unsigned int n;

	for (n = 0; n < c->nr && !(v->kinds & KIND_BIT(step_at(c, i)->kind)); n++)
		i = before(c, i);
	return i;
}

/* Does the program go there from the kernel after step @i, where that is not asked for? */
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
 * An entry that has one end in the kernel: the program's doing, or an interrupt that came
 * after step @i, or left the program there.
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

/* As much as code goes on without a branch taken */
#define STRAIGHT_MAX	0x4000

static bool is_in_order(const struct sample *s, unsigned int *where)
{
	unsigned int n;

	for (n = 1; n < s->nr_branches; n++) {
		u64 to = s->branches[n].to, from = s->branches[n - 1].from;

		*where = n;
		if (from < to || from > to + STRAIGHT_MAX)
			return false;
	}
	return true;
}

/* How many entries are right if the youngest branch was step @i. */
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
	unsigned int n;

	if (v->wrong > 1)
		return;
	ktap_diag("a sample at %#" PRIx64 ", of its %" PRIu64 " entries %u are right:",
		  s->ip, s->nr_branches, right);
	for (n = 0; n < s->nr_branches; n++) {
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
	/* Of several places, the one with the least of interrupts. */
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

/* A call stack as hardware keeps it: a ring, out of which the oldest calls fall. */
struct calls {
	const struct step *ring[CALLS_MAX];
	unsigned int depth;
	unsigned int top;
};

static void follow(struct calls *calls, const struct step *s)
{
	/* A call of what follows it has no return. */
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
	/* What is there once the program has gone through its course before. */
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
