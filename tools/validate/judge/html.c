// SPDX-License-Identifier: GPL-2.0-only
/*
 * html.c - results as a self-contained HTML page
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "report.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>pmu-validate</title>\n<style>\n"
	":root { color-scheme: light dark; --line: #8884; --pass: #1a7f37; --fail: #cf222e;\n"
	"  --skip: #888; }\n"
	"body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto;\n"
	"  padding: 0 1rem; }\n"
	"table { border-collapse: collapse; width: 100%; margin: .6rem 0 1.6rem; }\n"
	"th, td { text-align: left; vertical-align: top; padding: .3rem .6rem;\n"
	"  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }\n"
	"th { font-weight: 600; white-space: nowrap; }\n"
	"td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }\n"
	".pass { color: var(--pass); } .fail { color: var(--fail); font-weight: 700; }\n"
	".skip, .none { color: var(--skip); }\n"
	"td.k { white-space: nowrap; }\n"
	"td.r { white-space: nowrap; width: 1%; }\n"
	"summary { cursor: pointer; } details table { font-size: 13px; }\n"
	".rule { font-style: italic; } ul { margin: .3rem 0; }\n"
	"a { color: inherit; }\n"
	"</style></head><body>\n";

static void put(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			putc(*text, out);
		}
	}
}

static void put_cell(FILE *out, const char *class, const char *text)
{
	fprintf(out, "<td%s%s%s>", class ? " class=\"" : "", class ?: "", class ? "\"" : "");
	put(out, text);
	fputs("</td>", out);
}

static const struct json *first_of(const struct json *object, const char *key)
{
	const struct json *list = json_member(object, key);

	return list ? list->first : NULL;
}

static const struct json *find_check(const struct json *report, const struct json *like)
{
	const struct json *check;

	for (check = first_of(report, "checks"); check; check = check->next)
		if (!strcmp(json_text(check, "area"), json_text(like, "area")) &&
		    !strcmp(json_text(check, "name"), json_text(like, "name")))
			return check;
	return NULL;
}

static void title(FILE *out, const struct json *report)
{
	put(out, json_text(report, "pmu"));
	fputs(" on Linux ", out);
	put(out, json_text(report, "kernel"));
}

/* Write the facts of one or two reports. */
static void about(FILE *out, const struct json *report, const struct json *other)
{
	const struct json *ours = json_member(report, "about");
	const struct json *theirs = json_member(other, "about"), *fact;

	fputs("<h2>Machine, kernel and PMU</h2>\n<table>\n", out);
	for (fact = ours ? ours->first : NULL; fact; fact = fact->next) {
		fputs("<tr>", out);
		put_cell(out, "k", fact->key);
		put_cell(out, NULL, json_text(ours, fact->key));
		if (other)
			put_cell(out, NULL, json_text(theirs, fact->key));
		fputs("</tr>\n", out);
	}
	for (fact = theirs ? theirs->first : NULL; fact; fact = fact->next) {
		if (json_member(ours, fact->key))
			continue;
		fputs("<tr>", out);
		put_cell(out, "k", fact->key);
		put_cell(out, NULL, "");
		put_cell(out, NULL, json_text(theirs, fact->key));
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

static unsigned int count(const struct json *report, const char *area, const char *result)
{
	const struct json *check;
	unsigned int nr = 0;

	for (check = first_of(report, "checks"); check; check = check->next)
		nr += (!area || !strcmp(json_text(check, "area"), area)) &&
		      !strcmp(json_text(check, "result"), result);
	return nr;
}

static void counts(FILE *out, const struct json *report, const char *area)
{
	static const char *const results[] = { "pass", "fail", "skip" };
	unsigned int i, nr;

	for (i = 0; i < 3; i++) {
		nr = count(report, area, results[i]);
		fprintf(out, "<td class=\"n %s\">%u</td>", nr ? results[i] : "none", nr);
	}
}

/* Check whether a check is the first of its area. */
static bool begins_area(const struct json *report, const struct json *check)
{
	const struct json *before;

	for (before = first_of(report, "checks"); before != check; before = before->next)
		if (!strcmp(json_text(before, "area"), json_text(check, "area")))
			return false;
	return true;
}

static void areas(FILE *out, const struct json *report, const struct json *other)
{
	const struct json *check;
	const char *heads =
		"<th class=\"n\">passes</th><th class=\"n\">fails</th><th class=\"n\">skipped</th>";

	fputs("<h2>Areas</h2>\n<table>\n<tr><th></th><th colspan=\"3\">", out);
	title(out, report);
	if (other) {
		fputs("</th><th colspan=\"3\">", out);
		title(out, other);
	}
	fprintf(out, "</th></tr>\n<tr><th>area</th>%s%s</tr>\n", heads, other ? heads : "");
	for (check = first_of(report, "checks"); check; check = check->next) {
		const char *area = json_text(check, "area");

		if (!begins_area(report, check))
			continue;
		fputs("<tr><td><a href=\"#", out);
		put(out, area);
		fputs("\">", out);
		put(out, area);
		fputs("</a></td>", out);
		counts(out, report, area);
		if (other)
			counts(out, other, area);
		fputs("</tr>\n", out);
	}
	fputs("<tr><th>all</th>", out);
	counts(out, report, NULL);
	if (other)
		counts(out, other, NULL);
	fputs("</tr>\n</table>\n", out);
}

static void expected(FILE *out, const struct json *seen)
{
	long long low = json_number(seen, "low"), high = json_number(seen, "high");

	if (low == high)
		fprintf(out, "%lld", low);
	else
		fprintf(out, "%lld..%lld", low, high);
}

/* Write the details of a check in one report. */
static void detail(FILE *out, const struct json *check)
{
	const struct json *seen, *line;

	if (json_text(check, "reason")[0]) {
		fputs("<p>skipped: ", out);
		put(out, json_text(check, "reason"));
		fputs("</p>", out);
	}
	if (first_of(check, "seen"))
		fputs("<table><tr><th></th><th class=\"n\">expected</th><th class=\"n\">seen</th><th class=\"n\">times</th></tr>",
		      out);
	for (seen = first_of(check, "seen"); seen; seen = seen->next) {
		long long got = json_number(seen, "got");
		bool bad = got < json_number(seen, "low") || got > json_number(seen, "high");

		fputs("<tr>", out);
		put_cell(out, bad ? "fail" : NULL, json_text(seen, "what"));
		fputs("<td class=\"n\">", out);
		expected(out, seen);
		fprintf(out, "</td><td class=\"n%s\">%lld</td><td class=\"n\">%lld</td></tr>\n",
			bad ? " fail" : "", got, json_number(seen, "times"));
	}
	if (first_of(check, "seen"))
		fputs("</table>", out);
	if (first_of(check, "lines"))
		fputs("<ul>", out);
	for (line = first_of(check, "lines"); line; line = line->next) {
		fputs("<li>", out);
		put(out, line->text ?: "");
		fputs("</li>", out);
	}
	if (first_of(check, "lines"))
		fputs("</ul>", out);
}

static void row(FILE *out, const struct json *check, const struct json *theirs, bool both)
{
	const char *result = json_text(check, "result");
	const char *other = theirs ? json_text(theirs, "result") : "none";

	fputs("<tr><td class=\"r\"><span class=\"", out);
	fprintf(out, "%s\">%s</span></td>", result, result);
	if (both)
		fprintf(out, "<td class=\"r\"><span class=\"%s\">%s</span></td>", other,
			theirs ? other : "not run");
	fprintf(out, "<td><details%s><summary>",
		!strcmp(result, "fail") || !strcmp(other, "fail") ? " open" : "");
	put(out, json_text(check, "name"));
	fputs("</summary><p class=\"rule\">", out);
	put(out, json_text(check, "rule"));
	fputs("</p>", out);
	detail(out, check);
	if (theirs && strcmp(result, other)) {
		fputs("<p>The other:</p>", out);
		detail(out, theirs);
	}
	fputs("</details></td></tr>\n", out);
}

static void checks(FILE *out, const struct json *report, const struct json *other)
{
	const struct json *begin, *check;

	for (begin = first_of(report, "checks"); begin; begin = begin->next) {
		const char *area = json_text(begin, "area");

		if (!begins_area(report, begin))
			continue;
		fputs("<h2 id=\"", out);
		put(out, area);
		fputs("\">", out);
		put(out, area);
		fputs("</h2>\n<table><tr><th>", out);
		put(out, json_text(report, "pmu"));
		if (other) {
			fputs("</th><th>", out);
			put(out, json_text(other, "pmu"));
		}
		fputs("</th><th>check</th></tr>\n", out);
		for (check = begin; check; check = check->next)
			if (!strcmp(json_text(check, "area"), area))
				row(out, check, find_check(other, check), other);
		fputs("</table>\n", out);
	}
}

static void remarks(FILE *out, const struct json *report)
{
	const struct json *note;

	if (json_text(report, "incomplete")[0]) {
		fputs("<p class=\"fail\">", out);
		title(out, report);
		fputs(": not all checks were run: ", out);
		put(out, json_text(report, "incomplete"));
		fputs("</p>\n", out);
	}
	for (note = first_of(report, "notes"); note; note = note->next) {
		fputs("<p>", out);
		title(out, report);
		fputs(": ", out);
		put(out, note->text ?: "");
		fputs("</p>\n", out);
	}
}

void html_report(FILE *out, const struct json *report, const struct json *other)
{
	fputs(head, out);
	fputs("<h1>pmu-validate: ", out);
	title(out, report);
	if (other) {
		fputs(", compared with ", out);
		title(out, other);
	}
	fputs("</h1>\n<p>Does a PMU of perf follow perf_event_open(2)? ", out);
	fputs("Each check quotes a sentence that the driver has to follow, ", out);
	fputs("and has its expected and measured values below its name.</p>\n", out);
	remarks(out, report);
	if (other)
		remarks(out, other);
	areas(out, report, other);
	about(out, report, other);
	checks(out, report, other);
	fputs("</body></html>\n", out);
}
