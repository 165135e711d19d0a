# SPDX-License-Identifier: GPL-2.0
"""Mutants of C sources: the rules, and sources in which a switch makes each of the mutants.

The sources are in the kernel's coding style: the braces of a function are in the first column.
Macros' bodies and loops' conditions stay as they are. The compiler refuses some mutants.
"""

import bisect
import collections
import itertools
import random
import re

# lines: (first, last); edits: [(position, order, replaced characters, text)]; the word MUTANT in text
# stands for the condition that selects this mutant
Mutant = collections.namedtuple("Mutant", "file lines function rule change edits")

HIDDEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|'
                    r"^[ \t]*#(?:\\\n|[^\n])*", flags=re.S | re.M)
TOKEN = re.compile(r"\w+|->|\+\+|--|<<=|>>=|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||[^\w\s]")
FUNCTION = re.compile(r"^([A-Za-z][^;{}#]*?\b(\w+)\([^;{}]*\))\n\{\n(.*?)^\}", flags=re.S | re.M)
# A comparison -> its variant that is off by one, its negation
COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
ENDS_TERM = {"&&", "||", "?", ":", ";", ",", "return"} | ASSIGNS
ENDS_OPERAND = ENDS_TERM | set(COMPARED) | {"&", "|", "^"}
LOOP = re.compile(r"(for|while)$|\w*for_each")
# Calls whose removal changes nothing
NO_CALL = re.compile(r"BUILD_BUG|static_assert|lockdep_|might_|pr_|dev_")
# Words that no call begins with; "void (*f)(int a);" declares a pointer.
KEYWORD = re.compile(r"(if|for|while|switch|return|goto|do|else|case|void)$|\w*for_each")
# read_sysreg() and the like pass the text of their arguments to the assembler.
FIXED = re.compile(r"[A-Z][A-Z0-9_]*$|sizeof|typeof|offsetof|static_call|static_assert|\w+_sysreg")
NO_CONSTANT = re.compile(r"NULL|THIS_MODULE|GFP_\w+|HZ")

HEADER = """\
#ifdef COREPMU_KUNIT
extern int corepmu_mutant;
extern _Bool corepmu_mutant_hits[];
#define COREPMU_MUTANT(nr) (corepmu_mutant_hits[nr] = 1, corepmu_mutant == (nr))
#else
#define COREPMU_MUTANT(nr) 0
#endif
#define COREPMU_COMPARE(mutant, a, op, other, b) ((mutant) ? (a) other (b) : (a) op (b))
"""


class Source:
    """The text of a file, and the tokens of its code."""

    def __init__(self, file, text):
        self.file, self.text = file, text
        # Replace the text of each literal by a word of the same length.
        code = HIDDEN.sub(lambda match: "l".ljust(len(match[0]), "_") if match[0][0] in "\"'" else
                          re.sub(r"[^\n]", " ", match[0]), text)
        self.newlines = [match.start() for match in re.finditer("\n", text)]
        # partner: the position of each bracket's other bracket
        self.at, self.token, self.partner = [], [], {}
        opened = []
        for match in TOKEN.finditer(code):
            if match[0] in "([{":
                opened.append(len(self.at))
            elif match[0] in ")]}" and opened:
                self.partner[len(self.at)] = opened.pop()
                self.partner[self.partner[len(self.at)]] = len(self.at)
            self.at.append(match.start())
            self.token.append(match[0])
        self.functions = [(match[2], bool(re.search(rf"\bvoid\s+(\w+\s+)*{match[2]}\(", match[1])),
                           bisect.bisect_left(self.at, match.start(3)),
                           bisect.bisect_left(self.at, match.end(3)))
                          for match in FUNCTION.finditer(code)]

    def end(self, i):
        return self.at[i] + len(self.token[i])

    def line(self, i):
        return bisect.bisect_left(self.newlines, self.at[i]) + 1

    def words(self, first, last):
        return " ".join(self.text[self.at[first]:self.end(last)].split())

    def reach(self, i, step, ends):
        """Return the last token of the operand that begins beside token i, in direction step."""
        i += step
        while self.token[i] not in ends and (self.partner.get(i, i) - i) * step >= 0:
            i = self.partner.get(i, i) + step
        return i - step

    def enclosing(self, i):
        """Return the innermost bracket that is open at token i."""
        i -= 1
        while i >= 0 and self.partner.get(i, i) <= i:
            i = self.partner.get(i, i) - 1
        return i

    def is_fixed(self, i):
        """Check whether token i is in a macro's arguments, which may have to be constant."""
        while i >= 0 and self.token[i] != "{":
            if FIXED.match(self.token[i - 1]):
                return True
            i = self.enclosing(i)
        return False

    def begins(self, i):
        """Check whether a statement begins at token i, and another may be inserted before it."""
        opened = self.enclosing(i)
        return self.token[i - 1] in ("{", ";", "}") and self.token[i] not in ("while", "else") and \
            self.token[opened] == "{" and self.token[opened - 1] in (")", "else", "do")

    def depends(self, i):
        """Check whether token i begins the statement that depends on an if or a loop."""
        before = self.token[i - 1]
        return before == "else" or before == ")" and bool(
            re.match(rf"if$|{LOOP.pattern}", self.token[self.partner[i - 1] - 1]))

    def mutant(self, function, rule, change, first, last, before, after, *more):
        """Return a mutant with texts before the first and after the last token, and more edits."""
        span = self.end(last) - self.at[first]
        # COREPMU_COMPARE() goes inside other mutants' brackets: brackets around its arguments would
        # hide the commas between them.
        inner = int(before.startswith("COREPMU_COMPARE"))
        return Mutant(self.file, (self.line(first), self.line(last)), function, rule, change,
                      [(self.at[first], (1, -span, inner), 0, before),
                       (self.end(last), (0, span, -inner), 0, after), *more])

    def mutants(self):
        """Yield the mutants of each function."""
        for function, is_void, start, stop in self.functions:
            for i in range(start, stop):
                token = self.token[i]
                if self.is_fixed(self.enclosing(i)):
                    continue
                if token == "if" and self.token[i + 1] == "(":
                    last = self.partner[i + 1]
                    yield self.mutant(function, "condition", f"{self.words(i + 1, last)} is negated",
                                      i + 1, last, "(MUTANT ^ !!", ")")
                elif token in COMPARED:
                    yield from self.compared(function, i)
                elif token in ("&&", "||"):
                    last = self.reach(i, 1, ENDS_TERM)
                    before = "(MUTANT || (" if token == "&&" else "(!MUTANT && ("
                    yield self.mutant(function, "condition", f"{self.words(i, last)} is left out",
                                      i + 1, last, before, "))")
                elif re.fullmatch(r"\d\w*|[A-Z][A-Z0-9_]+", token):
                    yield from self.constant(function, i)
                if self.begins(i) or self.depends(i):
                    yield from self.left_out(function, i)
                if self.begins(i) and self.partner[self.enclosing(i)] == stop:
                    yield from self.early_return(function, is_void, i)

    def compared(self, function, i):
        first, last = self.reach(i, -1, ENDS_OPERAND), self.reach(i, 1, ENDS_OPERAND)
        operator, opened = self.token[i], self.enclosing(i)
        # Negate the condition of an if, not that of a loop.
        if first == i or last == i or LOOP.match(self.token[opened - 1]) or (
                operator in ("==", "!=") and self.token[opened - 1] == "if" and
                (opened, self.partner[opened]) == (first - 1, last + 1)):
            return
        yield self.mutant(function, "comparison" if operator in ("==", "!=") else "bound",
                          f"{self.words(first, last)}: {operator} is {COMPARED[operator]}",
                          first, last, "COREPMU_COMPARE(MUTANT, ", ")",
                          (self.at[i], (2, 0, 0), len(operator), f", {operator}, {COMPARED[operator]}, "))

    def constant(self, function, i):
        token, opened = self.token[i], i
        while self.token[self.enclosing(opened)] == "{" and \
                self.token[self.enclosing(opened) - 1] in ("=", "{", ","):
            opened = self.enclosing(opened)
        # Skip a static initializer, a label of a case, a part of a string.
        if self.token[self.around(opened)[0]] in ("static", "case") or \
                any(re.fullmatch("l_+", self.token[at]) for at in (i - 1, i + 1)) or \
                self.token[i - 1] in ("case", ".", "->", "[") or self.token[i + 1] in ("(", ":") or \
                NO_CONSTANT.fullmatch(token):
            return
        new, before = ("1 more", "(MUTANT + ") if token[0].isdigit() else ("0", "(MUTANT ? 0 : ")
        yield self.mutant(function, "constant",
                          f"{token} is {new} in {self.words(*self.around(i))}", i, i, before, ")")

    def around(self, i):
        """Return the first and the last token of the line with token i."""
        first = last = i
        while self.line(first - 1) == self.line(i):
            first -= 1
        while self.line(last + 1) == self.line(i):
            last += 1
        return first, last

    def left_out(self, function, i):
        last = i
        while self.token[last] not in (";", "{") and self.partner.get(last, last) >= last:
            last = self.partner.get(last, last) + 1
        words = self.token[i:last]
        target = list(itertools.takewhile(lambda word: word not in ASSIGNS, words))
        if self.token[last] != ";" or not words or KEYWORD.match(words[0]):
            return
        if re.match(r"[A-Za-z_]", words[0]) and words[1:2] == ["("] and words[-1] == ")" and \
                len(target) == len(words) and not NO_CALL.match(words[0]):
            rule = "call"
        elif len(target) < len(words) and re.search(r"->|\.|\[|^\*", "".join(target)) and \
                not re.search(r"\w \w", " ".join(target)):
            rule = "assignment"
        else:
            return
        yield self.mutant(function, rule, f"{self.words(i, last)} is left out", i, last,
                          "({ if (!MUTANT) { ", " } });")

    def early_return(self, function, is_void, i):
        if self.token[i] not in ("return", "goto") and self.token[i][0].isalpha() and \
                (self.token[i + 1] in ASSIGNS or self.token[i + 1] in ("(", "->", ".", "[")):
            value = "" if is_void else " 0"
            yield self.mutant(function, "return", f"returns before {self.words(*self.around(i))}",
                              i, i, f"if (MUTANT) {{ return{value}; }} ", "")


def sample(mutants, size, seed):
    """Return size mutants, of each rule as many where they are, in the order of the sources."""
    rules = collections.defaultdict(list)
    for mutant in mutants:
        rules[mutant.rule].append(mutant)
    rng = random.Random(seed)
    for rule in sorted(rules):
        rng.shuffle(rules[rule])
    rows = itertools.zip_longest(*(rules[rule] for rule in sorted(rules)))
    chosen = [mutant for mutant in itertools.chain.from_iterable(rows) if mutant][:size]
    return sorted(chosen, key=lambda mutant: (mutant.file, mutant.lines, mutant.change))


def edited(text, edits):
    """Return the text with edits, (position, order, replaced characters, new text) each."""
    out, done = [], 0
    for at, _, replaced, new in sorted(edits):
        out += [text[done:at], new]
        done = at + replaced
    return "".join(out) + text[done:]


def switched(text, numbered):
    """Return a file's text with a switch for each of its mutants, a dictionary by number."""
    # If two mutants have the same extent, the one that begins first must end last.
    return "#include <corepmu/mutant.h>\n#line 1\n" + edited(text, [
        (at, (*order, nr if order[0] else -nr), replaced,
         re.sub(r"\bMUTANT\b", f"COREPMU_MUTANT({nr})", new))
        for nr, mutant in numbered.items() for at, order, replaced, new in mutant.edits])


def mutated(text, mutant):
    """Return a file's text as the mutant has it. No line is added."""
    def plain(new):
        new = new.replace("COREPMU_COMPARE(MUTANT, ", "(").replace("MUTANT", "1")
        return re.sub(r", \S+, (\S+), ", r"\1", new)

    return edited(text, [(*edit, plain(new)) for *edit, new in mutant.edits])
