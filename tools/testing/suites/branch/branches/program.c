// SPDX-License-Identifier: GPL-2.0-only
/*
 * program.c - branches of the assembly programs that are the same on all architectures
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"

static void step(struct course *c, u64 from, u64 to, enum kind kind, unsigned int insns,
		 unsigned int branches)
{
	c->steps[c->nr++] = (struct step) { from, to, kind, insns + branches };
}

void go(const struct mover *m, const char *from, const char *to, enum kind kind,
	unsigned int insns, unsigned int branches)
{
	step(m->c, (u64)from + m->moved, (u64)to + m->moved, kind, insns, branches);
}

void course_plain(struct course *c, u64 moved)
{
	const struct mover m = { c, moved };

	c->nr = 0;
	for (int i = 0; i < 2; i++) {
		go_round(&m, 0, i);
		go(&m, b_round, t_round, KIND_COND, program.again, 1);
	}
}

static void go_once(struct course *c, const char *call, const char *back, u64 moved)
{
	const struct mover m = { c, moved };

	step(c, (u64)call, (u64)plain_code + moved, KIND_IND_CALL, 2, 1);
	go_round(&m, program.before, false);
	step(c, (u64)b_ret + moved, (u64)back, KIND_RETURN, 5, 2);
}

void course_both(struct course *c, u64 here, u64 there)
{
	c->nr = 0;
	go_once(c, xb_here, xa_here, here);
	go_once(c, xb_there, xa_there, there);
	step(c, (u64)xb_round, (u64)x_round, KIND_COND, 2, 1);
}

void course_kernel(struct course *c)
{
	c->nr = 0;
	step(c, (u64)kb_loop, (u64)k_loop, KIND_COND, 3, 1);
	step(c, (u64)kb_loop, (u64)k_loop, KIND_COND, 2, 1);
	step(c, (u64)kb_loop, (u64)k_loop, KIND_COND, 2, 1);
	step(c, (u64)program.sys, 0, KIND_ENTER, 0, 0);
	step(c, 0, (u64)ka_sys, KIND_LEAVE, 0, 0);
	step(c, (u64)kb_call, (u64)f_leaf, KIND_CALL, 0, 0);
	step(c, (u64)r_leaf, (u64)ka_call, KIND_RETURN, 0, 0);
	step(c, (u64)kb_trap, 0, KIND_ENTER, 0, 0);
	step(c, 0, (u64)k_handler, KIND_LEAVE, 0, 0);
	step(c, (u64)kb_handled, (u64)k_restore, KIND_RETURN, 0, 0);
	step(c, (u64)program.restore, 0, KIND_ENTER, 0, 0);
	step(c, 0, (u64)ka_trap, KIND_LEAVE, 0, 0);
	step(c, (u64)kb_round, (u64)k_round, KIND_COND, 0, 0);
}

/* The kernel's structure: with the C library's, the library would set its own restorer. */
struct kernel_sigaction {
	const char *handler;
	unsigned long flags;
	const char *restorer;
	unsigned long mask;
};

#ifndef SA_RESTORER
#define SA_RESTORER	0x04000000
#endif

bool kernel_prepare(void)
{
	const struct kernel_sigaction action = {
		.handler = k_handler, .flags = SA_RESTORER | program.flags, .restorer = k_restore,
	};

	return expect_or_say(!syscall(SYS_rt_sigaction, program.trap, &action, NULL,
				      sizeof(action.mask)),
			     "a handler for signal %d: got %s", program.trap, strerror(errno));
}
