/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * loop.h - user code whose samples can be compared
 */
#ifndef LOOP_H
#define LOOP_H

#include "fuzz.h"

/**
 * loop_memory() - run a loop that loads and stores
 * @rounds: number of iterations
 */
void loop_memory(unsigned long rounds);

/**
 * loop_has() - check whether an address is in known_loop() or loop_memory()
 * @address: address of an instruction
 *
 * Return: true if it is.
 */
bool loop_has(u64 address);

#endif /* LOOP_H */
