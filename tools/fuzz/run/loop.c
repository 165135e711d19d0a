// SPDX-License-Identifier: GPL-2.0-only
/*
 * loop.c - user code whose samples can be compared
 */
#include "arch.h"
#include "loop.h"

#define WORDS		4096
#define LOAD_STRIDE	5
#define STORE_STRIDE	9

static volatile u64 memory[WORDS];
extern const char __start_fuzz_loops[], __stop_fuzz_loops[];

__attribute__((noinline, section("fuzz_loops"))) void loop_memory(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		memory[i * STORE_STRIDE % WORDS] = memory[i * LOAD_STRIDE % WORDS] + 1;
}

static bool is_between(u64 address, const void *start, const void *end)
{
	return address >= (uintptr_t)start && address < (uintptr_t)end;
}

bool loop_has(u64 address)
{
	return is_between(address, known_loop_start, known_loop_end) ||
	       is_between(address, __start_fuzz_loops, __stop_fuzz_loops);
}
