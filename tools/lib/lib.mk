# SPDX-License-Identifier: GPL-2.0-only
#
# lib.mk: how programs for guests are built; tools/testing, tools/validate and tools/bench
# include it.
#
# CROSS_COMPILE is the prefix of the compiler, and O the directory for whatever is made:
# $(O)/lib/NAME.o is made of tools/lib/NAME.c, $(O)/DIR/NAME.o of DIR/NAME.c. WERROR=1
# makes warnings errors.

lib	:= $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
CC	:= $(CROSS_COMPILE)gcc
CFLAGS	:= -O2 -g -Wall -Wextra -I$(lib) -MMD -MP $(if $(filter 1,$(WERROR)),-Werror)
O	:= build

# $(call lib-objs,NAME...): the objects of tools/lib that a program is linked with
lib-objs = $(patsubst %,$(O)/lib/%.o,$(1))

$(O)/lib/%.o: $(lib)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

# Where the including Makefile has no default goal before it
.DEFAULT_GOAL := all

# -MMD: which headers each object was made with
include $(shell find $(O) -name '*.d' 2>/dev/null)
