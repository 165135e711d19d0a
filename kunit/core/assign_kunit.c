// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of core/assign.c: placement of events on counters
 */
#include <kunit/test.h>

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/time64.h>

#include <corepmu/assign.h>

#include "fixture/stride.h"
#include "fixture/suite.h"

#define RANDOM_SETS	100000
#define RANDOM_EVENTS	9

static u64 occupied_by(const struct corepmu_demand *demand, int counter)
{
	u64 bit = BIT_ULL(counter);

	return demand->pairs & bit ? bit | bit >> 1 : bit;
}

/* Check whether a placement exists, by trying all. */
static bool placement_exists(const struct corepmu_demand *demands, unsigned int nr, u64 taken)
{
	if (!nr)
		return true;
	for (u64 left = demands->allowed; left; left &= left - 1) {
		int counter = __ffs64(left);
		u64 mine = occupied_by(demands, counter);

		if (!(mine & taken) && placement_exists(demands + 1, nr - 1, taken | mine))
			return true;
	}

	return false;
}

/*
 * Return the fewest placed events that must move so that all events have a counter, or nr + 1. The
 * search gives up at @best moves.
 */
static unsigned int fewest_moves(const struct corepmu_demand *demands, unsigned int nr,
				 u64 taken, unsigned int best)
{
	if (!nr)
		return 0;
	for (u64 left = demands->allowed; left; left &= left - 1) {
		int counter = __ffs64(left);
		u64 mine = occupied_by(demands, counter);
		unsigned int moves = demands->counter >= 0 && demands->counter != counter;

		if ((mine & taken) || moves >= best)
			continue;
		moves += fewest_moves(demands + 1, nr - 1, taken | mine, best - moves);
		if (moves < best)
			best = moves;
	}

	return best;
}

/* Check that every event has a counter that it may use, and shares it with no other event. */
static bool is_valid(const struct corepmu_demand *demands, unsigned int nr)
{
	u64 taken = 0;

	for (unsigned int i = 0; i < nr; i++) {
		u64 mine;

		if (demands[i].counter < 0 || demands[i].counter > 63 ||
		    !(demands[i].allowed & BIT_ULL(demands[i].counter)))
			return false;
		mine = occupied_by(&demands[i], demands[i].counter);
		if (mine & taken)
			return false;
		taken |= mine;
	}

	return true;
}

static unsigned int count_moves(const struct corepmu_demand *before,
				const struct corepmu_demand *after, unsigned int nr)
{
	unsigned int i, moves = 0;

	for (i = 0; i < nr; i++)
		moves += before[i].counter >= 0 && before[i].counter != after[i].counter;

	return moves;
}

static const char *check_assign(const struct corepmu_demand *before, unsigned int nr, bool possible)
{
	struct corepmu_demand after[COREPMU_MAX_DEMANDS];
	int ret;

	memcpy(after, before, nr * sizeof(*after));
	ret = corepmu_assign(after, nr);
	if (possible && ret)
		return "a placement exists and was not found";
	if (!possible && !ret)
		return "no placement exists and one was found";
	if (ret && memcmp(before, after, nr * sizeof(*after)))
		return "a failure has changed the demands";
	if (!ret && !is_valid(after, nr))
		return "the placement is not valid";

	return NULL;
}

static void print_demands(struct kunit *test, const struct corepmu_demand *demands, unsigned int nr,
			  const char *wrong)
{
	for (unsigned int i = 0; i < nr; i++)
		kunit_info(test, "allowed %#llx pairs %#llx counter %d\n", demands[i].allowed,
			   demands[i].pairs, demands[i].counter);
	KUNIT_FAIL(test, "%s", wrong);
}

/*
 * Try every constraint graph of up to 6 events on up to 6 counters.
 *
 * A placement does not depend on the names of events and counters. Of graphs that differ only in
 * names, the test tries one: the masks of its events are in ascending order. Its counters are in
 * descending order of the number of events that want them, and then by the first event. The test
 * gives random names to events and counters.
 *
 * Hall's theorem says when a placement exists: every set of events reaches at least as many
 * counters.
 */
#define GRAPH_COUNTERS	6
/* With KASAN six events take an hour and find nothing more. */
#define GRAPH_EVENTS	(IS_ENABLED(CONFIG_KASAN) ? 4 : 6)

struct graphs {
	struct rnd_state rnd;
	u8 mask[GRAPH_COUNTERS];
	/* for the first n events: how many of them want each counter, four bits each */
	u32 wanted[GRAPH_COUNTERS + 1];
	u32 spread[BIT(GRAPH_COUNTERS)];
	struct corepmu_demand demands[GRAPH_COUNTERS];
	unsigned int nr;
	unsigned int sets;
	const char *wrong;
};

static bool satisfies_hall(const u8 *mask, unsigned int nr)
{
	u8 reach[BIT(GRAPH_COUNTERS)] = { };

	for (unsigned int set = 1; set < BIT(nr); set++) {
		reach[set] = reach[set & (set - 1)] | mask[__ffs(set)];
		if (hweight8(reach[set]) < hweight32(set))
			return false;
	}

	return true;
}

/* Check whether the first event that wants only one of two counters wants the first of them. */
static bool is_first(const u8 *mask, unsigned int nr, unsigned int counter)
{
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int both = mask[i] >> counter & 3;

		if (both == 1 || both == 2)
			return both == 1;
	}

	return true;
}

static bool is_sorted(const struct graphs *g, unsigned int nr)
{
	u32 wanted = g->wanted[nr];

	for (unsigned int i = 0; i < GRAPH_COUNTERS - 1; i++, wanted >>= 4) {
		if ((wanted & 0xf) < (wanted >> 4 & 0xf))
			return false;
		if ((wanted & 0xf) == (wanted >> 4 & 0xf) && !is_first(g->mask, nr, i))
			return false;
	}

	return true;
}

static void shuffle_names(struct rnd_state *rnd, u8 *names, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		names[i] = i;
	while (nr > 1) {
		unsigned int other = prandom_u32_state(rnd) % nr--;

		swap(names[nr], names[other]);
	}
}

static void try_graph(struct graphs *g, unsigned int nr)
{
	u8 counter[GRAPH_COUNTERS], event[GRAPH_COUNTERS];

	if (g->sets++ % CASE_STRIDE)
		return;
	shuffle_names(&g->rnd, counter, GRAPH_COUNTERS);
	shuffle_names(&g->rnd, event, nr);
	for (unsigned int i = 0; i < nr; i++) {
		u64 allowed = 0;

		for (unsigned int j = 0; j < GRAPH_COUNTERS; j++)
			if (g->mask[i] & BIT(j))
				allowed |= BIT_ULL(counter[j]);
		g->demands[event[i]] = (struct corepmu_demand) {
			.allowed = allowed, .counter = -1,
		};
	}
	g->nr = nr;
	g->wrong = check_assign(g->demands, nr, satisfies_hall(g->mask, nr));
}

static void all_graphs(struct graphs *g, unsigned int depth)
{
	unsigned int mask;

	for (mask = depth ? g->mask[depth - 1] : 0; mask < BIT(GRAPH_COUNTERS); mask++) {
		g->mask[depth] = mask;
		g->wanted[depth + 1] = g->wanted[depth] + g->spread[mask];
		if (is_sorted(g, depth + 1))
			try_graph(g, depth + 1);
		if (!g->wrong && depth + 1 < GRAPH_EVENTS)
			all_graphs(g, depth + 1);
		if (g->wrong)
			return;
	}
	cond_resched();
}

static void assign_every_graph(struct kunit *test)
{
	struct graphs *g = kunit_kzalloc(test, sizeof(*g), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, g);
	prandom_seed_state(&g->rnd, 0x67726170);
	for (unsigned int mask = 0; mask < BIT(GRAPH_COUNTERS); mask++)
		for (unsigned int i = 0; i < GRAPH_COUNTERS; i++)
			g->spread[mask] |= (mask >> i & 1) << 4 * i;

	all_graphs(g, 0);
	if (g->wrong)
		print_demands(test, g->demands, g->nr, g->wrong);
	kunit_info(test, "%u graphs of up to %u events, every %uth of them\n", g->sets,
		   GRAPH_EVENTS, CASE_STRIDE);
}

/* Make a random set of events; some of them have a counter already. */
static unsigned int random_set(struct rnd_state *rnd, struct corepmu_demand *demands,
			       unsigned int max_events, unsigned int max_counters, bool pairs)
{
	unsigned int counters = 1 + prandom_u32_state(rnd) % max_counters;
	unsigned int nr = 1 + prandom_u32_state(rnd) % max_events;
	u64 all = GENMASK_ULL(counters - 1, 0), taken = 0;

	for (unsigned int i = 0; i < nr; i++) {
		struct corepmu_demand *d = &demands[i];
		u64 random = (u64)prandom_u32_state(rnd) << 32 | prandom_u32_state(rnd);
		u64 allowed = random & all, left;

		if (prandom_u32_state(rnd) % 2)
			allowed &= (u64)prandom_u32_state(rnd) << 32 | prandom_u32_state(rnd);
		*d = (struct corepmu_demand) { .allowed = allowed, .counter = -1 };
		/* The upper counters of pairs are odd, as in PMUv3. */
		if (pairs && prandom_u32_state(rnd) % 2)
			d->pairs = allowed & 0xaaaaaaaaaaaaaaaaULL;
		if (prandom_u32_state(rnd) % 3 == 0)
			continue;
		for (left = d->allowed; left; left &= left - 1) {
			u64 mine = occupied_by(d, __ffs64(left));

			if (!(mine & taken)) {
				d->counter = __ffs64(left);
				taken |= mine;
				break;
			}
		}
	}

	return nr;
}

static void assign_random(struct kunit *test)
{
	struct corepmu_demand demands[RANDOM_EVENTS];
	unsigned int i, placed = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 0x636f7265);
	for (i = 0; i < RANDOM_SETS; i++) {
		unsigned int nr = random_set(&rnd, demands, RANDOM_EVENTS, 8, i % 2);
		bool possible = placement_exists(demands, nr, 0);
		const char *wrong = check_assign(demands, nr, possible);

		placed += possible;
		if (wrong) {
			print_demands(test, demands, nr, wrong);
			return;
		}
		cond_resched();
	}
	/* The sets are useful: many have a placement, and many have none. */
	KUNIT_EXPECT_GT(test, placed, RANDOM_SETS / 10);
	KUNIT_EXPECT_LT(test, placed, RANDOM_SETS * 9 / 10);
}

/* Adding one event moves as few placed events as possible. */
static void assign_moves_fewest(struct kunit *test)
{
	struct corepmu_demand demands[RANDOM_EVENTS], after[RANDOM_EVENTS];
	unsigned int i, compared = 0, had_to = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 0x6d6f7665);
	for (i = 0; i < RANDOM_SETS / 10; i++) {
		unsigned int nr = random_set(&rnd, demands, 8, 7, false), unplaced = 0, j, fewest;

		for (j = 0; j < nr; j++)
			unplaced += demands[j].counter < 0;
		if (unplaced != 1)
			continue;
		fewest = fewest_moves(demands, nr, 0, nr + 1);
		if (fewest > nr)
			continue;

		memcpy(after, demands, sizeof(after));
		KUNIT_ASSERT_EQ(test, corepmu_assign(after, nr), 0);
		if (count_moves(demands, after, nr) != fewest) {
			print_demands(test, demands, nr, "more events have moved than had to");
			return;
		}
		compared++;
		had_to += fewest > 0;
	}
	KUNIT_EXPECT_GT(test, compared, 500);
	KUNIT_EXPECT_GT(test, had_to, 50);
}

/* The longest chain: as many events as counters; the last event moves all others. */
static void assign_longest_chain(struct kunit *test)
{
	struct corepmu_demand demands[COREPMU_MAX_DEMANDS];

	/*
	 * Event i may use counters i and i + 1, and has counter i; the last event needs counter 0.
	 */
	for (int i = 0; i < 63; i++)
		demands[i] = (struct corepmu_demand) {
			.allowed = BIT_ULL(i) | BIT_ULL(i + 1), .counter = i,
		};
	demands[63] = (struct corepmu_demand) { .allowed = BIT_ULL(0), .counter = -1 };
	KUNIT_EXPECT_EQ(test, corepmu_assign(demands, 64), 0);
	KUNIT_EXPECT_EQ(test, demands[63].counter, 0);
	for (int i = 0; i < 63; i++)
		KUNIT_EXPECT_EQ(test, demands[i].counter, i + 1);
}

static void assign_too_many(struct kunit *test)
{
	struct corepmu_demand demands[COREPMU_MAX_DEMANDS + 1];

	for (int i = 0; i < ARRAY_SIZE(demands); i++)
		demands[i] = (struct corepmu_demand) { .allowed = U64_MAX, .counter = -1 };
	KUNIT_EXPECT_EQ(test, corepmu_assign(demands, 0), 0);
	KUNIT_EXPECT_EQ(test, corepmu_assign(demands, 65), -EAGAIN);
	KUNIT_EXPECT_EQ(test, corepmu_assign(demands, 66), -EAGAIN);
	KUNIT_EXPECT_EQ(test, demands[0].counter, -1);
	KUNIT_EXPECT_EQ(test, corepmu_assign(demands, 64), 0);
	KUNIT_EXPECT_TRUE(test, is_valid(demands, 64));
}

/* A new event gets a dedicated counter, or else the lowest free one; no other event moves. */
static void assign_takes_dedicated_then_lowest(struct kunit *test)
{
	struct corepmu_demand demands[] = {
		{ .allowed = 0x8000003fULL, .counter = 3 },
		{ .allowed = 0x8000003fULL, .counter = -1 },
		{ .allowed = 0x0000003fULL, .counter = -1 },
	};

	KUNIT_EXPECT_EQ(test, corepmu_assign(demands, 3), 0);
	KUNIT_EXPECT_EQ(test, demands[0].counter, 3);
	KUNIT_EXPECT_EQ(test, demands[1].counter, 31);
	KUNIT_EXPECT_EQ(test, demands[2].counter, 0);
}

/* Two events have counters that a pair needs; one of them has no other counter. */
static void assign_pairs(struct kunit *test)
{
	struct corepmu_demand demands[] = {
		{ .allowed = 0xf, .counter = 1 },
		{ .allowed = 0x8, .counter = 3 },
		{ .allowed = 0xa, .pairs = 0xa, .counter = -1 },
	};
	struct corepmu_demand full[] = {
		{ .allowed = 0xa, .pairs = 0xa, .counter = 1 },
		{ .allowed = 0xa, .pairs = 0xa, .counter = 3 },
		{ .allowed = 0x8000000fULL, .counter = 31 },
		{ .allowed = 0x8000000fULL, .counter = -1 },
	};

	KUNIT_EXPECT_EQ(test, corepmu_assign(demands, 3), 0);
	KUNIT_EXPECT_EQ(test, demands[0].counter, 2);
	KUNIT_EXPECT_EQ(test, demands[1].counter, 3);
	KUNIT_EXPECT_EQ(test, demands[2].counter, 1);

	KUNIT_EXPECT_EQ(test, corepmu_assign(full, 4), -EAGAIN);
	KUNIT_EXPECT_EQ(test, full[3].counter, -1);
	KUNIT_EXPECT_EQ(test, full[0].counter, 1);
}

/* Leave @with in the memory below the stack, where the next call has its variables. */
static noinline void fill_stack(int with)
{
	char memory[1024];

	memset(memory, with, sizeof(memory));
	barrier_data(memory);
}

/* A pair that does not fit moves events in vain: the next try finds them in their old places. */
static void assign_restores_after_a_pair(struct kunit *test)
{
	const struct corepmu_demand demands[] = {
		{ .allowed = 0x1b, .pairs = 0x0a, .counter = 0 },
		{ .allowed = 0x1b, .pairs = 0x0a, .counter = -1 },
		{ .allowed = 0x33, .pairs = 0x22, .counter = -1 },
	};
	struct corepmu_demand after[ARRAY_SIZE(demands)];

	for (int with = -1; with < 8; with++) {
		memcpy(after, demands, sizeof(demands));
		fill_stack(with);
		KUNIT_EXPECT_EQ(test, corepmu_assign(after, ARRAY_SIZE(after)), 0);
		KUNIT_EXPECT_EQ(test, after[0].counter, 0);
		KUNIT_EXPECT_EQ(test, after[1].counter, 3);
		KUNIT_EXPECT_EQ(test, after[2].counter, 4);
	}
}

/*
 * Expect that a set without a placement is refused soon: in under 0.1 s at least once in five
 * tries, since a busy host may stop this guest. @pairs events need a pair of the first @counters
 * counters, @either events a pair or the cycle counter, and @cycles events the cycle counter.
 */
static void refuses_soon(struct kunit *test, unsigned int counters, unsigned int pairs,
			 unsigned int either, unsigned int cycles)
{
	u64 upper = GENMASK_ULL(counters - 1, 0) & 0xaaaaaaaaULL, begun, least = U64_MAX;
	struct corepmu_demand demands[COREPMU_MAX_DEMANDS];
	const unsigned int nr = pairs + either + cycles;

	for (unsigned int i = 0; i < nr; i++)
		demands[i] = (struct corepmu_demand) {
			.allowed = i < pairs ? upper :
				   BIT_ULL(31) | (i < pairs + either ? upper : 0),
			.pairs = i < pairs + either ? upper : 0,
			.counter = -1,
		};

	for (unsigned int tries = 0; tries < 5 && least >= 100 * NSEC_PER_MSEC; tries++) {
		begun = ktime_get_ns();
		KUNIT_EXPECT_EQ(test, corepmu_assign(demands, nr), -EAGAIN);
		least = min(least, ktime_get_ns() - begun);
	}
	KUNIT_ASSERT_LT(test, least, 100 * NSEC_PER_MSEC);
}

/* Perf core may add a set without a placement in each context switch. */
static void assign_refuses_pairs_soon(struct kunit *test)
{
	/* More events than pairs, and one cycle counter */
	refuses_soon(test, 14, 0, 9, 0);
	/* Pairs for all, but two events for the cycle counter */
	refuses_soon(test, 18, 8, 0, 2);
	refuses_soon(test, 30, 0, 15, 2);
}

static struct kunit_case assign_cases[] = {
	KUNIT_CASE_SLOW(assign_every_graph),
	KUNIT_CASE_SLOW(assign_random),
	KUNIT_CASE(assign_moves_fewest),
	KUNIT_CASE(assign_longest_chain),
	KUNIT_CASE(assign_too_many),
	KUNIT_CASE(assign_takes_dedicated_then_lowest),
	KUNIT_CASE(assign_pairs),
	KUNIT_CASE(assign_restores_after_a_pair),
	KUNIT_CASE(assign_refuses_pairs_soon),
	{ }
};

TEST_SUITE(assign, "corepmu_assign", NULL, NULL);
