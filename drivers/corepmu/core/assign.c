// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: placement of events on counters
 *
 * Events and counters are the two sides of a bipartite graph. A placement is a matching that
 * covers all events. One more event fits exactly if there is an augmenting path from the new event
 * (Berge, 1957). The shortest augmenting path moves the fewest events.
 *
 * A pair is two chained counters for one event: a matching cannot express that. So the search tries
 * each pair: the pair's counters leave the graph, and the events that were on them are placed again
 * on the other counters. Other pairs stay in place. If no pair fits, the search places all events
 * from scratch.
 */
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include <corepmu/assign.h>

#define NR_COUNTERS	64
#define NO_EVENT	(-1)

/**
 * struct matching - a placement during the search
 * @demands: the events
 * @nr: number of events
 * @owner: event on each counter, as an index into @demands, or NO_EVENT; the lower counter of a
 *	pair has none
 * @blocked: mask of counters that are part of a pair
 */
struct matching {
	struct corepmu_demand	*demands;
	unsigned int		nr;
	s8			owner[NR_COUNTERS];
	u64			blocked;
};

static bool is_pair(const struct corepmu_demand *demand)
{
	return demand->counter >= 0 && (demand->pairs & BIT_ULL(demand->counter));
}

static int is_taken(const struct matching *m, int counter)
{
	return m->owner[counter] != NO_EVENT;
}

static void matching_place(struct matching *m, int event, int counter)
{
	struct corepmu_demand *demand = &m->demands[event];

	demand->counter = counter;
	m->owner[counter] = event;
	if (is_pair(demand))
		m->blocked |= BIT_ULL(counter) | BIT_ULL(counter - 1);
}

/* Take an event from its single counter. */
static void matching_unplace(struct matching *m, int event)
{
	m->owner[m->demands[event].counter] = NO_EVENT;
	m->demands[event].counter = -1;
}

static void matching_init(struct matching *m, struct corepmu_demand *demands,
			  unsigned int nr)
{
	unsigned int i;

	m->demands = demands;
	m->nr = nr;
	m->blocked = 0;
	memset(m->owner, NO_EVENT, sizeof(m->owner));

	for (i = 0; i < nr; i++)
		if (demands[i].counter >= 0)
			matching_place(m, i, demands[i].counter);
}

/*
 * Move the events along an augmenting path that ends at the free counter @counter. @from: for each
 * counter, the event from which the search reached the counter. The last event of the path moves to
 * @counter, the event before it moves to the counter that is free now, and so on back to @event.
 */
static void matching_shift(struct matching *m, const s8 *from, int event, int counter)
{
	int mover;

	do {
		int old;

		mover = from[counter];
		old = m->demands[mover].counter;
		m->demands[mover].counter = counter;
		m->owner[counter] = mover;
		counter = old;
	} while (mover != event);
}

/*
 * Place @event on a single counter along the shortest augmenting path. The search is breadth first
 * over the counters. Return false if there is no path.
 */
static bool matching_augment(struct matching *m, int event)
{
	s8 queue[NR_COUNTERS], from[NR_COUNTERS];
	unsigned int head = 0, tail = 0;
	u64 seen = m->blocked;
	int next = event;

	for (;;) {
		struct corepmu_demand *demand = &m->demands[next];
		u64 reach = demand->allowed & ~demand->pairs & ~seen;

		while (reach) {
			int counter = corepmu_first_choice(reach);

			reach &= ~BIT_ULL(counter);
			seen |= BIT_ULL(counter);
			from[counter] = next;

			if (is_taken(m, counter)) {
				queue[tail++] = counter;
				continue;
			}

			matching_shift(m, from, event, counter);
			return true;
		}

		if (head == tail)
			return false;
		next = m->owner[queue[head++]];
	}
}

/*
 * Place @event on the pair with upper counter @upper. Single events on the pair move. Return false
 * if one of them has no other counter.
 */
static bool matching_take_pair(struct matching *m, int event, int upper)
{
	int evicted[2] = { m->owner[upper], m->owner[upper - 1] };
	int i;

	for (i = 0; i < 2; i++)
		if (evicted[i] != NO_EVENT)
			matching_unplace(m, evicted[i]);

	matching_place(m, event, upper);

	for (i = 0; i < 2; i++)
		if (evicted[i] != NO_EVENT && !matching_augment(m, evicted[i]))
			return false;

	return true;
}

static noinline void matching_save(const struct matching *m, s8 *counters)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		counters[i] = m->demands[i].counter;
}

static noinline void matching_restore(struct matching *m, const s8 *counters)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		m->demands[i].counter = counters[i];
	matching_init(m, m->demands, m->nr);
}

/* Place one more event. Events on single counters may move, events on pairs stay. */
static bool matching_add(struct matching *m, int event)
{
	struct corepmu_demand *demand = &m->demands[event];
	u64 pairs = demand->allowed & demand->pairs;
	s8 saved[COREPMU_MAX_DEMANDS];
	int moves;

	if (matching_augment(m, event))
		return true;

	matching_save(m, saved);

	/* Pairs of free counters first, then pairs with one event to move, then with two. */
	for (moves = 0; moves <= 2; moves++) {
		u64 tries = pairs;

		while (tries) {
			int upper = __ffs64(tries);

			tries &= ~BIT_ULL(upper);
			if (m->blocked & (BIT_ULL(upper) | BIT_ULL(upper - 1)))
				continue;
			if (is_taken(m, upper) + is_taken(m, upper - 1) != moves)
				continue;
			if (matching_take_pair(m, event, upper))
				return true;
			matching_restore(m, saved);
		}
	}

	return false;
}

/* Check whether each event has the same bits for two pairs. @upper, @other: their upper counters */
static bool pairs_are_alike(const struct matching *m, int upper, int other)
{
	unsigned int i;
	u64 differ = 0;

	for (i = 0; i < m->nr; i++) {
		u64 allowed = m->demands[i].allowed, pairs = m->demands[i].pairs;

		differ |= allowed >> (upper - 1) ^ allowed >> (other - 1);
		differ |= pairs >> (upper - 1) ^ pairs >> (other - 1);
	}

	return !(differ & 3);
}

/* Check whether an earlier event is on a pair and may use the same counters as @event. */
static bool alike_event_has_pair(const struct matching *m, unsigned int event)
{
	const struct corepmu_demand *demand = &m->demands[event], *like;

	for (like = m->demands; like < demand; like++)
		if (is_pair(like) && like->allowed == demand->allowed &&
		    like->pairs == demand->pairs)
			return true;

	return false;
}

/*
 * Try all placements: for each event from @event on that can be on a pair, try a single counter and
 * each pair. Then match the other events. Return whether all events are placed.
 *
 * Two rules skip a placement that is equivalent to an earlier one. The search skips a pair that is
 * like the pair that it tried last. Of events that may use the same counters, the first ones get
 * single counters and the others pairs. On PMUv3 all pairs are alike: without the rules 10 events
 * on 16 counters take seconds.
 */
static bool matching_search(struct matching *m, unsigned int event)
{
	s8 saved[COREPMU_MAX_DEMANDS];
	int tried = 0;
	u64 pairs;

	while (event < m->nr && !m->demands[event].pairs)
		event++;

	if (event == m->nr) {
		unsigned int i;

		for (i = 0; i < m->nr; i++)
			if (m->demands[i].counter < 0 && !matching_augment(m, i))
				return false;
		return true;
	}

	matching_save(m, saved);

	/* Try without a pair: the matching at the end places the event on a single counter. */
	if ((m->demands[event].allowed & ~m->demands[event].pairs) &&
	    !alike_event_has_pair(m, event)) {
		if (matching_search(m, event + 1))
			return true;
		matching_restore(m, saved);
	}

	for (pairs = m->demands[event].allowed & m->demands[event].pairs; pairs; ) {
		int upper = __ffs64(pairs);

		pairs &= ~BIT_ULL(upper);
		if (m->blocked & (BIT_ULL(upper) | BIT_ULL(upper - 1)))
			continue;
		if (tried && pairs_are_alike(m, upper, tried))
			continue;
		tried = upper;
		matching_place(m, event, upper);
		if (matching_search(m, event + 1))
			return true;
		matching_restore(m, saved);
	}

	return false;
}

/*
 * Check whether the events need more counters than there are. This is the common case without a
 * placement, and the check is cheaper than the search.
 */
static bool is_overload(const struct corepmu_demand *demands, unsigned int nr)
{
	unsigned int need = 0, i;
	u64 allowed = 0;

	for (i = 0; i < nr; i++) {
		allowed |= demands[i].allowed;
		if (demands[i].pairs)
			allowed |= (demands[i].pairs & demands[i].allowed) >> 1;
		need += demands[i].allowed & ~demands[i].pairs ? 1 : 2;
	}

	return need > hweight64(allowed);
}

static bool may_need_pairs(const struct corepmu_demand *demands, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (demands[i].pairs)
			return true;

	return false;
}

/**
 * corepmu_assign() - place all events on counters, and move as few placed events as possible
 * @demands: the events; an event with a counter is placed, and stays there if possible
 * @nr: number of events, at most COREPMU_MAX_DEMANDS
 *
 * Any context. Placing all events from scratch takes about 400 bytes of stack for each event that
 * can be on a pair.
 *
 * Return: 0 with a counter in each demand, or -EAGAIN with @demands unchanged if there is no
 * placement
 */
int corepmu_assign(struct corepmu_demand *demands, unsigned int nr)
{
	s8 saved[COREPMU_MAX_DEMANDS];
	struct matching m;
	unsigned int i;

	if (nr > COREPMU_MAX_DEMANDS || is_overload(demands, nr))
		return -EAGAIN;

	matching_init(&m, demands, nr);
	matching_save(&m, saved);

	for (i = 0; i < nr; i++)
		if (demands[i].counter < 0 && !matching_add(&m, i))
			break;
	if (i == nr)
		return 0;

	matching_restore(&m, saved);
	if (!may_need_pairs(demands, nr))
		return -EAGAIN;

	/* Pairs that stayed in place may block the only placement: place all from scratch. */
	for (i = 0; i < nr; i++)
		demands[i].counter = -1;
	matching_init(&m, demands, nr);
	if (matching_search(&m, 0))
		return 0;

	matching_restore(&m, saved);
	return -EAGAIN;
}
