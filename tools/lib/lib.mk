# SPDX-License-Identifier: GPL-2.0-only
#
# lib.mk: how programs for guests are built; tools/testing, tools/validate and tools/bench
# include it.
#
# CROSS_COMPILE is the prefix of the compiler, and O the directory for all results: $(O)/lib/NAME.o
# is built from tools/lib/NAME.c, $(O)/DIR/NAME.o from DIR/NAME.c. WERROR=1 makes warnings errors.

lib	:= $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
CC	:= $(CROSS_COMPILE)gcc
CFLAGS	:= -O2 -g -Wall -Wextra -Wno-missing-field-initializers
CFLAGS	+= -I$(lib) -MMD -MP $(if $(filter 1,$(WERROR)),-Werror)
O	:= build

# $(call lib-objs,NAME...): objects of tools/lib to link a program with
lib-objs = $(patsubst %,$(O)/lib/%.o,$(1))

$(O)/lib/%.o: $(lib)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

# For Makefiles that set no default goal before they include this one
.DEFAULT_GOAL := all

# -MMD writes the headers of each object
include $(shell find $(O) -name '*.d' 2>/dev/null)
