/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json.h - a parser for the JSON that the program writes
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>

enum json_kind { JSON_OTHER, JSON_STRING, JSON_NUMBER, JSON_ARRAY, JSON_OBJECT };

/**
 * struct json - a JSON value
 * @kind: the value's type
 * @key: name, if the value is a member of an object
 * @text: characters of a string, or letters of another word (true, false, null)
 * @number: value of a number, without a fraction
 * @first: first value in an array or an object
 * @next: next value in the array or object
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
 * json_parse() - parse a text; the values stay until the program ends
 * @text: the text
 *
 * Return: the value, or NULL if it is not JSON.
 */
const struct json *json_parse(const char *text);

/**
 * json_member() - find a member of an object
 * @object: the object, or NULL
 * @key: its name
 *
 * Return: the value, or NULL.
 */
const struct json *json_member(const struct json *object, const char *key);

/**
 * json_text() - find a string in an object
 * @object: the object, or NULL
 * @key: the string's name
 *
 * Return: the characters; "" if there is no such string.
 */
const char *json_text(const struct json *object, const char *key);

/**
 * json_number() - find a number in an object
 * @object: the object, or NULL
 * @key: the number's name
 *
 * Return: the value; 0 if there is no such number.
 */
long long json_number(const struct json *object, const char *key);

#endif /* JSON_H */
