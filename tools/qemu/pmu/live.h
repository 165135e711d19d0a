/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Track which kinds of counts (instructions, branches and so on) generated code counts.
 */
#ifndef TOOLS_QEMU_PMU_LIVE_H
#define TOOLS_QEMU_PMU_LIVE_H

#include <stdbool.h>
#include <stdint.h>

struct qemu_plugin_tb;

/**
 * struct live_config - functions of an architecture
 * @needs: return a bitmap of the kinds that a vCPU's PMU needs now; called in the vCPU's thread,
 *	or with all vCPUs stopped
 * @translate: instrument a block
 * @changed: the live kinds have changed; called with all vCPUs stopped
 * @at_exit: called when QEMU exits
 */
struct live_config {
	uint32_t (*needs)(unsigned int vcpu);
	void (*translate)(struct qemu_plugin_tb *tb);
	void (*changed)(void);
	void (*at_exit)(void);
};

/* Number of times that the guest was instrumented because the counted kinds changed */
extern unsigned int live_instrumentations;

/* Bitmap of the kinds that generated code counts; changes only while all vCPUs are stopped */
extern uint32_t live_kinds;

/**
 * live_has() - check whether generated code counts any of some kinds
 * @kinds: bitmap of the kinds
 */
static inline bool live_has(uint32_t kinds)
{
	return live_kinds & kinds;
}

void live_init(const struct live_config *config);
void live_need(unsigned int vcpu, uint32_t kinds);
void live_tick(unsigned int vcpu);

#endif /* TOOLS_QEMU_PMU_LIVE_H */
