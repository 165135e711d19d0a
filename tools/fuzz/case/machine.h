/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * machine.h - events of real microarchitectures, by number
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "fuzz.h"

/** enum machine - whose events */
enum machine {
	MACHINE_INTEL,
	MACHINE_AMD,
	MACHINE_ARM64,
};

/**
 * machine_config() - attr.config of an event, with what depends on the machine
 * @machine: whose
 * @event: the event
 *
 * Return: the number.
 */
u64 machine_config(enum machine machine, const struct fuzz_event *event);

/**
 * machine_config1() - attr.config1 of an event, with what depends on the machine
 * @machine: whose
 * @event: the event
 *
 * Return: the number.
 */
u64 machine_config1(enum machine machine, const struct fuzz_event *event);

/**
 * machine_counts_alike() - does an event count something, or nothing, whatever the driver?
 * @machine: whose
 * @event: an event of FUZZ_RAW or FUZZ_OWN
 *
 * Misses depend on all that ran before.
 *
 * Return: whether it does.
 */
bool machine_counts_alike(enum machine machine, const struct fuzz_event *event);

/**
 * machine_find() - find a machine by its name
 * @name: "intel", "amd" or "arm64"
 * @machine: result
 *
 * Return: whether it is one of these.
 */
bool machine_find(const char *name, enum machine *machine);

#endif /* MACHINE_H */
