/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * machine.h - events of real microarchitectures, by number
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "fuzz.h"

/**
 * enum machine - vendors whose events the tables have
 */
enum machine {
	MACHINE_INTEL,
	MACHINE_AMD,
	MACHINE_ARM64,
};

/**
 * machine_config() - return attr.config of an event, with the vendor's number
 * @machine: the vendor
 * @event: the event
 *
 * Return: the value.
 */
u64 machine_config(enum machine machine, const struct fuzz_event *event);

/**
 * machine_config1() - return attr.config1 of an event, with the vendor's value
 * @machine: the vendor
 * @event: the event
 *
 * Return: the value.
 */
u64 machine_config1(enum machine machine, const struct fuzz_event *event);

/**
 * machine_counts_alike() - check whether an event's count is zero or not with every driver
 * @machine: the vendor
 * @event: an event of FUZZ_RAW or FUZZ_OWN
 *
 * Misses depend on earlier execution.
 *
 * Return: true if all drivers agree.
 */
bool machine_counts_alike(enum machine machine, const struct fuzz_event *event);

/**
 * machine_find() - find a vendor by its name
 * @name: "intel", "amd" or "arm64"
 * @machine: result
 *
 * Return: true if the name is one of these.
 */
bool machine_find(const char *name, enum machine *machine);

#endif /* MACHINE_H */
