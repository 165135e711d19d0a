/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * observe.h - questions that perf_event_open(2) leaves open, and what this kernel and PMU do
 */
#ifndef OBSERVE_H
#define OBSERVE_H

#include "judge/validate.h"

/**
 * struct observation - a question and the function that finds the answer
 * @subject: what the question is about, a single word
 * @question: the question
 * @look: find the answer and call answer(); each runs in a process of its own
 * @look_at: as @look, for questions that differ in a value
 * @value: the value for @look_at
 * @attr: without @look and @look_at: bits that are set in the attributes of an event of
 *	instructions; the answer is the error of opening it
 * @work: without them, too: the answer is the records that the event has of this work
 */
struct observation {
	const char *subject;
	const char *question;
	void (*look)(void);
	void (*look_at)(u64 value);
	u64 value;
	struct perf_event_attr attr;
	void (*work)(void);
};

struct observation_list {
	const struct observation *observations;
	unsigned int nr;
};

extern const struct observation_list count_observations, time_observations,
	record_observations, sample_observations, overflow_observations, page_observations,
	refusal_observations, branch_observations;

/**
 * observe_all() - print the answer to each question whose "subject: question" has one of @texts
 * @texts: the texts
 * @nr: number of @texts; 0 for all questions
 *
 * Two runs print the same lines if the clock counts instructions.
 *
 * Return: 0; 1 if the PMU has no event of instructions; 2 if no question has a text.
 */
int observe_all(const char *const *texts, unsigned int nr);

/**
 * answer() - add some words to the answer
 * @fmt: as for printf(3)
 */
void answer(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * answer_error() - add the name of an errno to the answer
 * @what: what was tried
 * @result: negative errno, whose name is added; any other value is "accepted"
 */
void answer_error(const char *what, int result);

/**
 * answer_loops() - add a count to the answer, in calls of known_loop(ITERATIONS)
 * @what: what was counted
 * @count: the count, which is rounded to tenths of a loop
 */
void answer_loops(const char *what, u64 count);

/**
 * answer_records() - add the types of a buffer's records to the answer, in order
 * @ring: the buffer, which is empty afterwards
 */
void answer_records(struct ring *ring);

/**
 * answer_refusal() - answer with the error of opening an event
 * @more: bits to set in its attributes
 */
void answer_refusal(const struct perf_event_attr *more);

/**
 * answer_records_of() - answer with the records that an event has of some work
 * @more: bits to set in the event's attributes
 * @work: the work
 */
void answer_records_of(const struct perf_event_attr *more, void (*work)(void));

/**
 * attr_add() - set bits in the attributes of an event
 * @attr: the attributes
 * @more: the bits
 */
void attr_add(struct perf_event_attr *attr, const struct perf_event_attr *more);

/**
 * open_or_answer() - open an event of this task
 * @attr: its attributes
 *
 * If the event is refused, the answer says so, and the question ends.
 *
 * Return: a descriptor.
 */
int open_or_answer(struct perf_event_attr *attr);

/**
 * open_with() - open an event of instructions of this task, as open_or_answer() does
 * @more: bits to set in its attributes
 *
 * Return: a descriptor.
 */
int open_with(const struct perf_event_attr *more);

/**
 * open_ring() - open an event and map its buffer
 * @ring: result
 * @attr: its attributes
 * @pid: task
 * @cpu: CPU
 *
 * If the event or its buffer is refused, the answer says so, and the question ends.
 *
 * Return: a descriptor.
 */
int open_ring(struct ring *ring, struct perf_event_attr *attr, pid_t pid, int cpu);

/* Run @work in a child, and wait for its end. */
void in_child(void (*work)(void));
void one_loop(void);

#define PAGES	64

#endif /* OBSERVE_H */
