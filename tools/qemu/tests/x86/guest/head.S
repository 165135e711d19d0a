/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The start of pmu.c: QEMU loads it as a multiboot kernel, in 32-bit protected mode without
 * paging. Exceptions call handle(); run_user() calls a function in ring 3.
 */
#define KERNEL_CS	0x08
#define KERNEL_DS	0x10
#define USER_CS		0x1b
#define USER_DS		0x23
#define TSS		0x28

#define NR_VECTORS	0x42
#define VECTOR_RETURN	0x41	/* from ring 3, by its own will */

	/* Within the first 8 KiB of the file */
	.text
	.align 4
	.long 0x1badb002
	.long 0
	.long -0x1badb002

	.globl _start
_start:
	cli
	mov $stack_end, %esp

	/* The base of the TSS is known only to the linker. */
	mov $tss, %eax
	mov %ax, gdt_tss + 2
	shr $16, %eax
	mov %al, gdt_tss + 4
	mov %ah, gdt_tss + 7
	lgdt gdt_pointer
	ljmp $KERNEL_CS, $1f
1:	mov $KERNEL_DS, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov $TSS, %eax
	ltr %ax

	mov $idt, %edi
	mov $stubs, %esi
	mov $NR_VECTORS, %ecx
2:	mov %esi, %eax
	mov %ax, (%edi)
	movw $KERNEL_CS, 2(%edi)
	movw $0xee00, 4(%edi)
	shr $16, %eax
	mov %ax, 6(%edi)
	add $8, %edi
	add $16, %esi
	loop 2b
	lidt idt_pointer

	call main
	mov $0x501, %edx	/* isa-debug-exit */
	out %eax, %dx
3:	hlt
	jmp 3b

	/* One for each vector, 16 bytes each; those without an error code push 0. */
	.align 16
stubs:
	.set vector, 0
	.rept NR_VECTORS
	.align 16
	.if !(vector == 8 || (vector >= 10 && vector <= 14) || vector == 17)
	push $0
	.endif
	push $vector
	jmp common
	.set vector, vector + 1
	.endr

common:
	cmpl $VECTOR_RETURN, (%esp)
	je 1f
	pusha
	push %esp
	call handle
	add $4, %esp
	popa
	add $8, %esp
	iret
1:	mov kernel_esp, %esp
	mov $KERNEL_DS, %eax
	mov %eax, %ds
	mov %eax, %es
	popa
	ret

	/* void run_user(void (*fn)(void)) */
	.globl run_user
run_user:
	mov 4(%esp), %ecx
	pusha
	mov %esp, kernel_esp
	mov $USER_DS, %eax
	mov %eax, %ds
	mov %eax, %es
	push $USER_DS
	push $user_stack_end - 4
	movl $user_return, user_stack_end - 4
	pushf
	push $USER_CS
	push %ecx
	iret
user_return:
	int $VECTOR_RETURN

	/*
	 * void counted_*(uint32_t msr, uint32_t value): start a counter by writing value to msr, do
	 * something, and stop the counter by writing 0. The code at the end adds five instructions,
	 * the first of them a load.
	 */
	.macro COUNTED name
	.globl \name
\name:
	push %edi
	mov 8(%esp), %ecx
	mov 12(%esp), %eax
	xor %edx, %edx
	wrmsr
	.endm

	.macro END_COUNTED
	mov 8(%esp), %ecx
	xor %eax, %eax
	xor %edx, %edx
	nop
	wrmsr
	pop %edi
	ret
	.endm

	/* 1 + 2 * 1000000 instructions */
	COUNTED counted_loop
	mov $1000000, %edi
1:	dec %edi
	jnz 1b
	END_COUNTED

	/* 1 + 4 * 1000, of which a call and a return */
	COUNTED counted_calls
	mov $1000, %edi
1:	call 2f
	dec %edi
	jnz 1b
	END_COUNTED
2:	ret

	/* 7, two of them with 8192 iterations, the second at the start of a block */
	COUNTED counted_rep
	mov $buffer, %edi
	mov $8192, %ecx
	rep stosb
	mov $buffer, %edi
	mov $8192, %ecx
	jmp 1f
1:	rep stosb
	END_COUNTED

	/* 100 stores next to this code: QEMU writes them aside */
	COUNTED counted_near
	mov $100, %edi
1:	mov %edi, 2f
	dec %edi
	jnz 1b
	END_COUNTED
	.align 4
2:	.long 0

	/* 300 instructions that load and store; the comparisons fail */
	COUNTED counted_locked
	mov $100, %edi
1:	lock incl buffer
	xor %eax, %eax
	lock cmpxchg %edi, buffer
	mov %edi, %edx
	xchg %edx, buffer
	dec %edi
	jnz 1b
	END_COUNTED

	/* 100 loads and stores each of 64 and of 128 bits */
	COUNTED counted_vectors
	mov $100, %edi
1:	movq buffer, %xmm0
	movq %xmm0, buffer
	movups buffer, %xmm0
	movups %xmm0, buffer
	dec %edi
	jnz 1b
	END_COUNTED

	/* 6 + 8 * 512, one access to each of 128 lines in turn */
	COUNTED counted_lines
	mov $4, %edi
1:	mov $buffer, %ecx
	mov $128, %edx
2:	incb (%ecx)
	add $64, %ecx
	dec %edx
	jnz 2b
	dec %edi
	jnz 1b
	END_COUNTED

	/* Loops for run_user(): 3 + 3 * 100 and 3 + 2 * 100000 instructions, with RET and INT */
	.globl user_ud2
user_ud2:
	mov $100, %edi
1:	ud2
	dec %edi
	jnz 1b
	ret

	.globl user_int3
user_int3:
	mov $100, %edi
1:	int3
	dec %edi
	jnz 1b
	ret

	.globl user_loop
user_loop:
	mov $100000, %edi
1:	dec %edi
	jnz 1b
	ret

	.data
	.align 8
gdt:
	.quad 0
	.quad 0x00cf9a000000ffff
	.quad 0x00cf92000000ffff
	.quad 0x00cffa000000ffff
	.quad 0x00cff2000000ffff
gdt_tss:
	.quad 0x0000890000000067
gdt_pointer:
	.word gdt_pointer - gdt - 1
	.long gdt
idt_pointer:
	.word NR_VECTORS * 8 - 1
	.long idt

	.align 8
tss:
	.long 0
	.long trap_stack_end
	.long KERNEL_DS
	.fill 23, 4, 0

	.bss
	.align 16
idt:	.skip NR_VECTORS * 8
kernel_esp:
	.skip 4
	.align 64
buffer:	.skip 8192
	.align 16
	.skip 16384
stack_end:
	.skip 16384
trap_stack_end:
	.skip 16384
user_stack_end:

	.section .note.GNU-stack, "", @progbits
