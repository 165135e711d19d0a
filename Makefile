# SPDX-License-Identifier: GPL-2.0
#
# corepmu: `make help` lists the targets.
#
# ARCH is the architecture of the module and of the guest, KERNEL a Debian kernel series to
# fetch, and KERNELDIR the user's own built kernel tree.

ifneq ($(KERNELRELEASE),)

include $(src)/Kbuild

else

scripts	:= scripts
uname	:= $(shell uname -m)
native	:= $(if $(filter aarch64,$(uname)),arm64,$(uname))

# A guest is arm64 with the default kernel series, unless ARCH or KERNEL is given. `make run' boots
# the cloud flavour of that series, whose image has a third of the size.
guest-arch	:= $(or $(ARCH),arm64)
guest-kernel	= $(or $(KERNEL),$(if $(filter run,$(MAKECMDGOALS)),$(shell sed -n '/^\[/h; /^run *= *yes$$/{g; s/[][]//gp}' \
		  $(scripts)/tables/kernels-flavours.cfg)))
guest		= $(if $(KERNELDIR),--kerneldir '$(KERNELDIR)',--arch '$(guest-arch)' \
		  $(if $(guest-kernel),--kernel '$(guest-kernel)')) $(if $(CPU),--cpu '$(CPU)') \
		  $(if $(ACCEL),--accel '$(ACCEL)')

# A module is for Debian's KERNEL, for KERNELDIR, or for the running kernel.
running		:= /lib/modules/$(shell uname -r)/build
module		= $(if $(KERNEL),--kernel '$(or $(ARCH),$(native))' '$(KERNEL)', \
		  --kerneldir '$(or $(KERNELDIR),$(running))')
# A Debian kernel comes with its compiler.
module-deps	= $(if $(KERNEL),module,build $(if $(ARCH),--arch $(ARCH)))

# make refuses an unknown variable on its command line, one that the goal does not use, and two that exclude
# each other: otherwise it would silently ignore one of them. Variables of the environment are not
# checked, since they may be meant for other programs.
takes-KERNELDIR	:= all modules modules_install run boot-guest shell
takes-KERNEL	:= $(takes-KERNELDIR) check check-all kunit validate clients bench soak fuzz-diff update
takes-ARCH	:= $(takes-KERNEL) lint verdict
takes-BASE	:= verdict
takes-CPU	:= run boot-guest shell validate clients bench soak fuzz-diff
takes-ACCEL	:= run boot-guest shell
takes-CMD	:= run boot-guest
takes-OUTPUT	:= run boot-guest
takes-FILTER	:= kunit validate clients
takes-PMU	:= validate validate-here
takes-REPORT	:= validate
takes-OPTIONS	:= validate-here
takes-DEBUG	:= kunit
takes-DIR	:= clients kvm-unit-tests
takes-PLOT	:= bench
takes-MINUTES	:= soak
takes-SEED	:= fuzz-diff
takes-CASES	:= fuzz-diff
variables	:= KERNELDIR KERNEL ARCH BASE CPU ACCEL CMD OUTPUT FILTER PMU REPORT OPTIONS DEBUG DIR PLOT MINUTES SEED CASES
# Variables that make passes on in the environment, to the programs that it starts
settings	:= WERROR COREPMU_CACHE COREPMU_QUIET COREPMU_CHECK_SECONDS COREPMU_ARCHES COREPMU_CPUS COREPMU_KEEP \
		   COREPMU_RELEASES COREPMU_ROUNDS COREPMU_SEED CROSS_COMPILE INSTALL_MOD_PATH INSTALL_MOD_DIR \
		   INSTALL_MOD_STRIP KCFLAGS LLVM LLVM_IAS QEMU KVM TMPDIR
given		:= $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $v)),$v))
$(foreach v,$(filter-out $(variables) $(settings),$(given)),\
	$(error make knows no variable $v=; choose one of: $(variables) (make help explains them)))
given		:= $(filter $(variables),$(given))
goals		:= $(filter-out help clean build/make_exit.so,$(or $(MAKECMDGOALS),all))
$(foreach v,$(given),$(foreach goal,$(filter-out $(takes-$v),$(goals)),\
	$(error make $(goal) takes no $v=: it is for make $(filter-out boot-guest,$(takes-$v)))))
ifneq ($(KERNELDIR),)
ifneq ($(filter KERNEL,$(given)),)
$(error KERNELDIR= and KERNEL= exclude each other: name a tree of yours, or a Debian kernel)
endif
ifneq ($(filter ARCH,$(given)),)
tree-arch	:= $(shell $(scripts)/build/kerneldir arch '$(KERNELDIR)' 2>/dev/null)
$(if $(tree-arch),$(if $(filter-out $(tree-arch),$(ARCH)),\
	$(error KERNELDIR=$(KERNELDIR) is a tree of ARCH=$(tree-arch), not of $(ARCH))))
endif
else ifneq ($(filter all modules modules_install,$(goals)),)
ifneq ($(filter-out $(native),$(ARCH)),)
$(if $(KERNEL),,$(error ARCH=$(ARCH) is not this machine's: name a Debian kernel by KERNEL=, or a built tree by KERNELDIR=))
endif
endif

# CMD reaches the scripts as it was given, whatever quotes it holds.
export COREPMU_CMD := $(value CMD)
unexport CMD

# Arguments of install-deps, which the scripts call when they have checked their options
both		:= --arch arm64 --arch x86_64
all modules modules_install: export COREPMU_DEPS = $(module-deps)
record: export COREPMU_DEPS = guest $(both) $(shell sed -n 's/^\[\(.*\)\]$$/--arch \1/p' $(scripts)/tables/arches-stock.cfg)
boot-guest shell validate update: export COREPMU_DEPS = guest --arch $(guest-arch)
bench: export COREPMU_DEPS = $(if $(PLOT),plot,guest) --arch $(guest-arch)
check check-all: export COREPMU_DEPS = $@ $(if $(ARCH),--arch $(ARCH),$(both))
verdict: export COREPMU_DEPS = check $(if $(ARCH),--arch $(ARCH),$(both))
kunit: export COREPMU_DEPS = kunit --arch $(or $(ARCH),$(native))
validate-here: export COREPMU_DEPS = build
clients: export COREPMU_DEPS = clients --arch $(or $(ARCH),x86_64)
kvm-unit-tests: export COREPMU_DEPS = guest $(both)
soak fuzz-diff: export COREPMU_DEPS = soak --arch $(guest-arch)
docs: export COREPMU_DEPS = docs
lint: export COREPMU_DEPS = lint $(if $(ARCH),--arch $(ARCH),$(both))
intel-counters: export COREPMU_DEPS = kunit

# build/corepmu.ko is the module of the last build, whatever kernel that was for.
all modules:
	@out=$$($(scripts)/build/build-module $(module)) && ln -sfn "$$out/drivers/corepmu/corepmu.ko" build/corepmu.ko
	@echo 'the module is build/corepmu.ko'

modules_install:
	@$(scripts)/install-module $(module)

# After a failed command make's own exit status is always 2; make-exit.so makes it the command's status. With
# options that run-guest refuses, make-exit.so is not built.
ifneq ($(filter run,$(MAKECMDGOALS)),)
-load build/make_exit.so
build/make_exit.so: scripts/build/make-exit.c
	@COREPMU_DEPS=none $(scripts)/run-guest $(guest) -- true 2>/dev/null || exit 0; \
	$(scripts)/install-deps run --arch '$(guest-arch)' && mkdir -p $(@D) && \
	$(CC) -shared -fPIC -O2 -Wall -o $@ $<
run-status := build/.status-$(shell echo $$PPID)
endif

run: boot-guest
	$(if $(.LOADED),$(exit-with $(shell cat $(run-status); rm $(run-status))),\
		@status=$$(cat $(run-status)); rm $(run-status); exit $$status)

boot-guest:
	@mkdir -p build
	@$(scripts)/run-guest $(guest) $(if $(OUTPUT),--output '$(OUTPUT)') -- "$${COREPMU_CMD:-demo}"; echo $$? >$(run-status)

shell:
	@$(scripts)/run-guest $(guest) --shell

check check-all:
	@$(scripts)/check $(if $(filter check-all,$@),--all) $(if $(ARCH),--arch '$(ARCH)') \
		$(if $(KERNEL),--kernel '$(KERNEL)')

verdict:
	@$(scripts)/verdict $(if $(ARCH),--arch '$(ARCH)') $(if $(BASE),--base '$(BASE)')

kunit:
	@$(scripts)/kunit --arch '$(or $(ARCH),$(native))' $(if $(KERNEL),--kernel '$(KERNEL)') \
		$(if $(DEBUG),--debug) $(if $(FILTER),'$(FILTER)')

validate:
	@$(scripts)/validate --arch '$(guest-arch)' $(if $(KERNEL),--kernel '$(KERNEL)') \
		$(if $(CPU),--cpu '$(CPU)') $(if $(PMU),--pmu '$(PMU)') $(if $(FILTER),--filter '$(FILTER)') \
		$(if $(REPORT),--report '$(REPORT)')

record:
	@$(scripts)/testing/record

# Judge this machine's PMU as the present user; OPTIONS are those of pmu-validate.
validate-here:
	@$(scripts)/testing/validate-here $(if $(PMU),--pmu '$(PMU)') $(OPTIONS)

# Clients run on x86 by default, as most of their users do.
clients:
	@$(scripts)/clients --arch '$(or $(ARCH),x86_64)' $(if $(KERNEL),--kernel '$(KERNEL)') \
		$(if $(CPU),--cpu '$(CPU)') $(if $(FILTER),--filter '$(FILTER)') \
		$(if $(DIR),--checkouts '$(DIR)')

kvm-unit-tests:
	@$(scripts)/testing/kvm-unit-tests $(if $(DIR),'$(DIR)')

bench:
	@$(scripts)/bench --arch '$(guest-arch)' $(if $(KERNEL),--kernel '$(KERNEL)') \
		$(if $(CPU),--cpu '$(CPU)') $(if $(PLOT),--plot '$(PLOT)')

soak:
	@$(scripts)/soak --arch '$(guest-arch)' $(if $(KERNEL),--kernel '$(KERNEL)') $(if $(CPU),--cpu '$(CPU)') \
		$(if $(MINUTES),--minutes '$(MINUTES)')

fuzz-diff:
	@$(scripts)/fuzz-diff --arch '$(guest-arch)' $(if $(KERNEL),--kernel '$(KERNEL)') \
		$(if $(CPU),--cpu '$(CPU)') $(if $(SEED),--seed '$(SEED)') $(if $(CASES),--cases '$(CASES)')

lint:
	@$(scripts)/lint $(ARCH)

docs:
	@$(scripts)/generate/docs

intel-counters:
	@$(scripts)/generate/intel-counters

update:
	@$(scripts)/fetch/update '$(guest-arch)' $(KERNEL)

clean:
	rm -rf build
	@[ ! -e tools/qemu/Makefile ] || $(MAKE) -s -C tools/qemu clean

help:
	@echo 'make                              the module for the running kernel'
	@echo 'make KERNELDIR=dir                ... for a built kernel tree or headers'
	@echo 'make ARCH=arm64 KERNEL=6.12       ... for a Debian kernel, which is fetched'
	@echo 'make modules_install              install what was built (same variables)'
	@echo 'make run [CMD="..."]              boot a guest, load the module, show it or run CMD'
	@echo 'make run CMD="..." OUTPUT=DIR     ... and copy files of /corepmu/output into DIR'
	@echo 'make shell                        an interactive guest with the module loaded'
	@echo 'make check                        all tests, the shared figures on all kernels'
	@echo 'make check-all                    all tests on all kernels'
	@echo 'make verdict [BASE=HEAD]          the tests that know what differs from a commit'
	@echo 'make kunit [DEBUG=1] [FILTER=..]  the sources on register models, in a kernel of their own'
	@echo 'make validate [PMU=cpu]           judge a perf PMU: ours, the built-in one, or both'
	@echo 'make record                       judge each driver on each kernel, and draw the table'
	@echo 'make validate-here [PMU=cpu]      judge the PMU of this machine, and write a report'
	@echo 'make clients [FILTER=..] [DIR=..] rr, PAPI, bpftrace and others, ours and the built-in driver'
	@echo 'make kvm-unit-tests DIR=...       judge the virtual PMUs with a checkout of kvm-unit-tests'
	@echo 'make bench                        what operations cost, ours and the built-in driver'
	@echo 'make soak [MINUTES=3]             everything at once, on a kernel that checks itself'
	@echo 'make fuzz-diff [SEED=1] [CASES=]  the same cases under the built-in driver and ours, compared'
	@echo 'make lint                         checkpatch, sparse, W=1, kernel-doc, shellcheck'
	@echo 'make docs                         HTML of the documentation'
	@echo 'make intel-counters               make the table of Intel counters, compare it with the kernel'
	@echo 'make update                       look for newer Debian kernels and QEMU'
	@echo 'make clean                        remove what was built'
	@echo
	@echo 'ARCH=   $(shell sed -n 's/^\[\(.*\)\]/\1/p' scripts/tables/arches.cfg | xargs)'
	@echo '        and for make validate: $(shell sed -n 's/^\[\(.*\)\]/\1/p' scripts/tables/arches-stock.cfg | xargs)'
	@echo 'CPU=    $(shell sed -n 's/^\[\(.*\)\]/\1/p' scripts/tables/cpus.cfg | xargs), or a CPU model of QEMU'
	@echo 'KERNEL= $(shell sed -n 's/^\[\(.*\)\]/\1/p' scripts/tables/kernels.cfg scripts/tables/kernels-flavours.cfg | xargs)'
	@echo 'ACCEL=  kvm: guests have the CPU and the PMU of this machine, if they can'
	@echo 'WERROR= 1: warnings of the compiler are errors in tools/ and KUnit (0: nowhere)'
	@echo 'Downloads are kept in COREPMU_CACHE (by default ~/.cache/corepmu).'

.PHONY: all modules modules_install run boot-guest shell check check-all verdict kunit validate record validate-here clients kvm-unit-tests \
	bench soak fuzz-diff lint docs intel-counters update clean help

endif
