/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's executable as the dynamic loader mapped it: find functions, tell code from data, and
 * change constant data.
 */
#ifndef TOOLS_QEMU_COMMON_IMAGE_H
#define TOOLS_QEMU_COMMON_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct image_code - the bytes of one function
 * @start: its first byte
 * @len: number of bytes that may be read
 */
struct image_code {
	const uint8_t *start;
	size_t len;
};

bool image_is_text(const void *p, size_t len);
bool image_is_data(const void *p, size_t len);
bool image_function(const char *name, struct image_code *code);
struct image_code image_code_at(const uint8_t *start, size_t max);
bool image_patch(void *dst, const void *src, size_t len);
void **image_find_pointer(const void *value, bool (*matches)(void **place));

/**
 * image_disp32() - return a number of four bytes, which may be unaligned
 * @p: the first byte
 */
static inline int32_t image_disp32(const void *p)
{
	int32_t value;

	__builtin_memcpy(&value, p, sizeof(value));
	return value;
}

/**
 * image_rel32() - return the target of a PC-relative operand
 * @operand: the operand's four bytes, the last of the instruction
 */
static inline const uint8_t *image_rel32(const uint8_t *operand)
{
	return operand + sizeof(int32_t) + image_disp32(operand);
}

#endif /* TOOLS_QEMU_COMMON_IMAGE_H */
