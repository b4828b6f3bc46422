# ruff: noqa: E501
"""What programs in Python 2 mean after their conversion: the same as in a real Python 2.7."""

import json
import subprocess
import types

import pytest

from pttt_ooc.other_games.extreme import python2_semantics, walls
from pttt_ooc.other_games.extreme.source_reader import changes, convert_source

PYTHON2 = walls.python2()

PROGRAMS = {
    "division": ("result = [7 / 2, -7 / 2, 7 / 2.0, True / 2]", [3, -4, 3.5, 0]),
    "division in place": ("a = [7, 9]\ni = [0]\na[i.pop()] /= 2\nx = 9.0\nx /= 2\nresult = [a, i, x]", [[3, 9], [], 4.5]),
    "the newer division": ("from __future__ import division\nresult = [7 / 2]", [3.5]),
    "division of an attribute": (
        "class A:\n    def f(self):\n        self.__x = 9\n        self.__x /= 2\n        return self.__x\nresult = A().f()",
        4,
    ),
    "a class that divides": ("class A:\n    def __div__(self, b): return b * 3\nresult = A() / 2", 6),
    "rounding": ("result = [round(2.5), round(-0.5), round(2.675, 2), round(17, -1), round(1e300)]", [3.0, -1.0, 2.67, 20.0, 1e300]),
    "the type of a rounded number": ("import math\nresult = [round(7) / 2, math.floor(7.5) / 2, math.ceil(7.5)]", [3.5, 3.5, 8.0]),
    "a variable of a list comprehension": (
        "def f(rows):\n    x = -1\n    best = [x * 2 for x in rows if x > 1]\n    return [best, x]\nresult = f([1, 2, 3])",
        [[4, 6], 3],
    ),
    "variables of list comprehensions within others": (
        "def f():\n    y = [[a + b for b in (1, 2)] for a, c in ((1, 5), (2, 6))]\n    return [y, a, b, c]\nresult = f()",
        [[[2, 3], [3, 4]], 2, 2, 6],
    ),
    "string.letters": ("import string\nresult = [string.letters[:2], string.lowercase[-1], string.join(['a', 'b'], '-')]", ['ab', 'z', 'a-b']),
    "the message of an error": (
        "try:\n    raise ValueError, 'no'\nexcept ValueError, e:\n    result = [e.message, ValueError(1, 2).message]",
        ["no", ""],
    ),
    "operator.div": ("import operator\nresult = [operator.div(7, 2), reduce(operator.div, [100, 3, 2])]", [3, 16]),
    "str.decode": ("result = ['abc'.decode('utf-8'), '6162'.decode('hex'), 'ab'.encode('hex')]", ["abc", "ab", "6162"]),
    "exec with locals": (
        "import math\nz = 5\ndef f(a):\n    b = 1\n    exec 'b = a + 1; c = b * 2'\n    return [a, b, c, z, len('xy')]\n"
        "result = f(3)",
        [3, 4, 8, 5, 2],
    ),
    "exec in a dictionary": ("d = {'x': 3}\nexec 'y = x / 2' in d\nresult = [d['y'], eval('7 / 2'), eval('x / 2', d)]", [1, 3, 1]),
    "itertools.imap": ("import itertools\nresult = [list(p) for p in itertools.imap(None, [1, 2], [3, 4, 5])]", [[1, 3], [2, 4]]),
    "names of itertools": (
        "from itertools import izip, ifilter\nresult = [map(list, izip([1], [2])), list(ifilter(None, [0, 1]))]",
        [[[1, 2]], [1]],
    ),
    "keys as a list": ("d = {3: 4}\nresult = [d.keys()[0], d.values() + d.items()[0:0], d.has_key(3), list(d.iterkeys())]", [3, [4], True, [3]]),
    "a variable called list": ("list = 3\nd = {1: 2}\nresult = [d.keys()[0], map(None, [1], [2])[0][1], list]", [1, 2, 3]),
    "keys while a dictionary changes": ("d = {1: 2, 3: 4}\nfor k in d.keys(): del d[k]\nresult = d", {}),
    "a class with a method keys": ("class A:\n    def keys(self): return 'mine'\nresult = A().keys()", "mine"),
    "cPickle": ("import cPickle\nresult = cPickle.loads(cPickle.dumps([1, 2]))", [1, 2]),
    "a renamed module used on the line of its import": (
        "import Queue; q = Queue.Queue(); q.put(3); result = [q.get()]\ntry: q.get_nowait()\nexcept Queue.Empty: result.append('empty')",
        [3, "empty"],
    ),
    "cPickle and StringIO on one line": (
        "import cPickle as p, cStringIO, StringIO; f = StringIO.StringIO('a\\nb'); result = [p.loads(p.dumps((1, 2)))[1], f.readline(), cStringIO.StringIO('x').read()]",
        [2, "a\n", "x"],
    ),
    "renamed modules within a function and in a list": (
        "def f():\n    import os, Queue, sys; return [Queue.LifoQueue().empty(), os.sep]\nresult = f()",
        [True, "/"],
    ),
    "names from renamed modules": ("from Queue import Queue as Q; from cPickle import dumps, loads; result = [Q(1).full(), loads(dumps('a'))]", [False, "a"]),
    "urllib": ("import urllib; result = [urllib.quote('a b'), urllib.unquote('%41'), urllib.urlencode([('a', 1)])]", ["a%20b", "A", "a=1"]),
    "urllib on two lines": ("import urllib\nfrom urllib import quote_plus\nresult = [urllib.quote('/ '), quote_plus('a b')]", ["/%20", "a+b"]),
    "urlparse and urllib2": (
        "import urlparse, urllib2; result = [urlparse.urlparse('http://a/b').path, urllib2.quote('?'), issubclass(urllib2.URLError, IOError)]",
        ["/b", "%3F", True],
    ),
    "__builtin__": (
        "import __builtin__; __builtin__.mine = 4; result = [__builtin__.xrange(3)[1], mine, hasattr(__builtin__, 'nothing'), __builtin__.max(None, 2)]",
        [1, 4, False, 2],
    ),
    "modules that are gone": (
        "import sets, md5, exceptions; from UserDict import UserDict; d = UserDict(); d[1] = 2; "
        "result = [len(sets.Set([1, 1])), md5.new('a').hexdigest()[:6], issubclass(exceptions.ValueError, exceptions.StandardError), d[1]]",
        [1, "0cc175", True, 2],
    ),
    "an import in a text": ("exec 'import Queue; result = [Queue.Queue().qsize()]'", [0]),
    "an import by a call": ("result = [__import__('Queue').Queue().qsize()]", [0]),
    "cElementTree": ("import xml.etree.cElementTree as E; result = [E.fromstring('<a b=\"1\"/>').get('b')]", ["1"]),
    "a map that is sorted": ("m = map(abs, [3, -1])\nm.sort()\nresult = [m, map(None, [2]), filter(None, 'ab'), zip('ab', [1])[0]]", [[1, 3], [2], "ab", ["a", 1]]),
    "None and numbers": (
        "result = [3 > None, None < -1, None >= 0, 5 < 'a', [1] < 'a', (1, None) < (1, 2), max(None, 3, -5), min([2, None])]",
        [True, True, False, True, True, True, 3, None],
    ),
    "chains of comparisons": ("x = None\nresult = [x < 3 < 'a', 0 <= 2 < 9, 9 > 3 > None, 1 < x < 5]", [True, True, True, False]),
    "sorting what differs": ("a = [3, None, 'b', 1.5, (1,)]\na.sort()\nresult = [a, sorted(['x', 2, None])]", [[None, 1.5, 3, "b", [1]], [None, 2, "x"]]),
    "sorting by a function": (
        "class A:\n    def f(self, a, b): return b - a\n    def g(self):\n        c = [1, 3, 2]\n        c.sort(self.f)\n"
        "        return [c, sorted(c, self.f)[0], sorted(c, cmp=cmp)[0]]\nresult = A().g()",
        [[3, 2, 1], 3, 1],
    ),
    "a range that is reversed": ("a = range(3)\na.reverse()\nresult = [a, range(4).reverse(), range(5)[1:3] + [9], len(xrange(7))]", [[2, 1, 0], None, [1, 2, 9], 7]),
    "a class that compares": (
        "class A:\n    def __init__(self, x): self.x = x\n    def __cmp__(self, b): return cmp(self.x, b.x)\n"
        "a = sorted([A(3), A(1), A(2)])\nresult = [[b.x for b in a], a[0] < a[1], a[0] == A(1), a[0] >= a[2], cmp(a[0], a[1])]",
        [[1, 2, 3], True, True, False, -1],
    ),
    "a class with __eq__ in a dictionary": (
        "class A(object):\n    def __eq__(self, b): return True\na = A()\nresult = {a: 1}[a]",
        1,
    ),
    "objects in a heap": (
        "import heapq\nclass N: pass\nh = []\nfor i in range(4): heapq.heappush(h, (1, N()))\nresult = len(h)",
        4,
    ),
    "random numbers": (
        "import random\nrandom.seed(7)\na = range(10)\nrandom.shuffle(a)\n"
        "result = [random.choice(range(100)), random.randint(1, 50), a, random.sample(range(50), 7), random.randrange(0, 100, 3)]\n"
        "r = random.Random(3)\nresult.append([r.choice('abcdef'), int(r.uniform(0, 1000)), r.sample(range(9), 3)])",
        [43, 4, [2, 7, 4, 6, 8, 9, 0, 5, 1, 3], [4, 20, 39, 5, 10, 28, 41], 57, ["b", 544, [3, 4, 7]]],
    ),
    "digests of texts": ("import hashlib, zlib\nh = hashlib.md5('ab')\nh.update('c')\nresult = [h.hexdigest(), zlib.crc32('abc') & 0xffffffff]", ["900150983cd24fb0d6963f7d28e17f72", 891568578]),
    "old syntax": (
        "def f((a, b), c): return `a + b` + `c`\nresult = [f((1, 2), 0777), 10L <> 3L, isinstance(3, (int, long)), ur'\\d', u'a']",
        ["3511", True, True, "\\d", "a"],
    ),
    "old names": (
        "import sys\nresult = [sys.maxint > 2 ** 31, isinstance('a', basestring), unichr(65), apply(max, (1, 2)), cmp('a', 'b')]",
        [True, True, "A", 2, -1],
    ),
    "next": ("def g():\n    yield 1\n    yield 2\na = g()\na.next()\nresult = a.next()", 2),
}  # fmt: skip


def run_converted(program):
    module = types.ModuleType("team1")
    module.__file__ = "team1.py"
    python2_semantics.prepare(module)
    exec(python2_semantics.compile_source(convert_source(program), "team1.py"), module.__dict__)
    return json.loads(json.dumps(module.result))


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_in_python_2_means_the_same_converted(name):
    program, wanted = PROGRAMS[name]
    assert json.dumps(run_converted(program)) == json.dumps(wanted)


@pytest.mark.skipif(PYTHON2 is None, reason="no Python 2.7 is installed")
def test_python_2_says_so_too():
    script = (
        "import json, sys\nfound = {}\n"
        "for name, text in json.load(sys.stdin).items():\n    d = {}\n    exec text.encode('utf-8') in d\n"
        "    found[name] = d['result']\nprint json.dumps(found)"
    )
    told = json.dumps({name: program for name, (program, _) in PROGRAMS.items()})
    done = subprocess.run([*PYTHON2.command, "-c", script], input=told, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {name: wanted for name, (_, wanted) in PROGRAMS.items()}


def test_numpy_divides_whole_numbers_as_in_python_2():
    program = """
import numpy
a = numpy.array([7, -7, 9])
b = a
b /= 2
result = [(a / 2).tolist(), (a / 2.0).tolist(), (a / numpy.array([2, 2, 4])).tolist(), a.tolist(), int(numpy.int64(7) / 2)]
c = numpy.int64(9)
c /= 2
d = numpy.array([1.0, 2.0])
d /= 4
result += [int(c), d.tolist(), (numpy.ones(2) / 2).tolist(), (3 / numpy.array([2])).tolist()]
"""
    wanted = [[1, -2, 2], [1.5, -2.0, 2.0], [1, -2, 1], [3, -4, 4], 3, 4, [0.25, 0.5], [0.5, 0.5], [1]]
    assert run_converted(program) == wanted


def test_libraries_keep_their_own_names():
    run_converted("import random, math, string\nresult = round(2.5)")
    import math
    import random
    import string

    assert type(math.floor(2.5)) is int and not hasattr(string, "letters") and round(2.5) == 2
    assert not isinstance(random.Random(), python2_semantics.OldRandom) and not hasattr(__builtins__, "cmp")


def test_an_error_of_the_program_stays_an_error():
    for text in ("{1} < 'a' and undefined", "class A:\n    def __lt__(self, b): return None + 1\nA() < 3", "x = 1 / 0"):
        with pytest.raises((NameError, TypeError, ZeroDivisionError)):
            run_converted(f"{text}\nresult = 1")


@pytest.mark.slow
def test_only_syntax_is_changed_in_the_text():
    source = "from __future__ import division\nfrom itertools import imap\nd = {}\nfor k in d.keys():\n\tx = map(None, xrange(3))\n\n"
    assert changes(source, convert_source(source)) == ""
    assert changes("print 1\n\n", convert_source("print 1\n\n")).splitlines()[-2:] == ["-print 1", "+print(1)"]
