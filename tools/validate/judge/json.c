// SPDX-License-Identifier: GPL-2.0-only
/*
 * json.c - a parser for the JSON that the program writes
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

/* Maximum depth of values in values: more than any report has, and safe for the stack */
#define MAX_DEPTH	32

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Write a character as UTF-8; '?' for characters from U+0800 on, which the program never writes. */
static char *put_character(char *to, unsigned long code)
{
	if (code < 0x80) {
		*to++ = code;
	} else if (code < 0x800) {
		*to++ = 0xc0 | code >> 6;
		*to++ = 0x80 | (code & 0x3f);
	} else {
		*to++ = '?';
	}
	return to;
}

/* Parse a string after its first quote. Return its end, or NULL if there is no second quote. */
static const char *parse_string(const char *at, char **text)
{
	char *to = malloc(strlen(at) + 1), digits[5];

	*text = to;
	for (; to && *at && *at != '"'; at++) {
		if (*at != '\\') {
			*to++ = *at;
			continue;
		}
		switch (*++at) {
		case 'n':
			*to++ = '\n';
			break;
		case 't':
			*to++ = '\t';
			break;
		case 'u':
			snprintf(digits, sizeof(digits), "%.4s", at + 1);
			if (strspn(digits, "0123456789abcdefABCDEF") != 4)
				return NULL;
			to = put_character(to, strtoul(digits, NULL, 16));
			at += 4;
			break;
		case '\0':
			return NULL;
		default:
			*to++ = *at;
		}
	}
	if (!to || !*at)
		return NULL;
	*to = '\0';
	return at + 1;
}

static const char *parse_value(const char *at, struct json *value, int depth);

static const char *parse_members(const char *at, struct json *value, int depth)
{
	const char end = value->kind == JSON_OBJECT ? '}' : ']';
	struct json **link = &value->first, *member;

	at = skip_space(at);
	if (*at == end)
		return at + 1;
	for (;;) {
		member = calloc(1, sizeof(*member));
		if (!member)
			return NULL;
		*link = member;
		link = &member->next;
		if (value->kind == JSON_OBJECT) {
			at = skip_space(at);
			if (*at != '"')
				return NULL;
			at = parse_string(at + 1, &member->key);
			if (!at)
				return NULL;
			at = skip_space(at);
			if (*at++ != ':')
				return NULL;
		}
		at = parse_value(at, member, depth + 1);
		if (!at)
			return NULL;
		at = skip_space(at);
		if (*at == end)
			return at + 1;
		if (*at++ != ',')
			return NULL;
	}
}

static const char *parse_value(const char *at, struct json *value, int depth)
{
	size_t len;
	char *end;

	at = skip_space(at);
	if (depth > MAX_DEPTH)
		return NULL;
	if (*at == '{' || *at == '[') {
		value->kind = *at == '{' ? JSON_OBJECT : JSON_ARRAY;
		return parse_members(at + 1, value, depth);
	}
	if (*at == '"') {
		value->kind = JSON_STRING;
		return parse_string(at + 1, &value->text);
	}
	if (*at == '-' || isdigit((unsigned char)*at)) {
		value->kind = JSON_NUMBER;
		value->number = strtoll(at, &end, 10);
		return end + strspn(end, "0123456789.eE+-");
	}
	len = strspn(at, "abcdefghijklmnopqrstuvwxyz");
	value->text = strndup(at, len);
	return len ? at + len : NULL;
}

const struct json *json_parse(const char *text)
{
	struct json *value = calloc(1, sizeof(*value));
	const char *end = value ? parse_value(text, value, 0) : NULL;

	return end && !*skip_space(end) ? value : NULL;
}

const struct json *json_member(const struct json *object, const char *key)
{
	const struct json *member;

	if (!object || object->kind != JSON_OBJECT)
		return NULL;
	for (member = object->first; member; member = member->next)
		if (!strcmp(member->key, key))
			return member;
	return NULL;
}

const char *json_text(const struct json *object, const char *key)
{
	const struct json *member = json_member(object, key);

	return member && member->kind == JSON_STRING ? member->text : "";
}

long long json_number(const struct json *object, const char *key)
{
	const struct json *member = json_member(object, key);

	return member && member->kind == JSON_NUMBER ? member->number : 0;
}
