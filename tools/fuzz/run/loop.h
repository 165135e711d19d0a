/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * loop.h - places in user space that a sample can be said to be of
 */
#ifndef LOOP_H
#define LOOP_H

#include "fuzz.h"

/**
 * loop_memory() - a loop that loads and stores
 * @rounds: how often
 */
void loop_memory(unsigned long rounds);

/**
 * loop_has() - is an address in known_loop() or loop_memory()?
 * @address: of an instruction
 *
 * Return: whether it is.
 */
bool loop_has(u64 address);

#endif /* LOOP_H */
