/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json.h - JSON, as much of it as the program itself writes
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>

enum json_kind { JSON_OTHER, JSON_STRING, JSON_NUMBER, JSON_ARRAY, JSON_OBJECT };

/**
 * struct json - a value, and those beside and in it
 * @kind: of what kind it is
 * @key: of a member of an object its name
 * @text: of a string its characters; of what is none of the others its letters
 * @number: of a number its value, without a fraction
 * @first: of an array or an object its first value
 * @next: the value after this one
 */
struct json {
	enum json_kind kind;
	char *key;
	char *text;
	long long number;
	struct json *first;
	struct json *next;
};

/**
 * json_parse() - parse a text; what is made of it stays until the program ends
 * @text: the text
 *
 * Return: the value, or NULL if it is not JSON.
 */
const struct json *json_parse(const char *text);

/**
 * json_member() - a member of an object
 * @object: the object, or NULL
 * @key: its name
 *
 * Return: the value, or NULL.
 */
const struct json *json_member(const struct json *object, const char *key);

/**
 * json_text() - a string of an object
 * @object: the object, or NULL
 * @key: its name
 *
 * Return: its characters, none if there is no such string.
 */
const char *json_text(const struct json *object, const char *key);

/**
 * json_number() - a number of an object
 * @object: the object, or NULL
 * @key: its name
 *
 * Return: its value, 0 if there is no such number.
 */
long long json_number(const struct json *object, const char *key);

#endif /* JSON_H */
