"""What a program may do, from its text: nothing that it can do is missing."""

from __future__ import annotations

from typing import Any

import pytest

from ironcurtain.sandbox.plan import plan_of

MODULES = {"mail", "web", "fs"}


def calls(program: str) -> list[tuple[str, Any, str]]:
    """Each call, its arguments if they are known, and how often."""
    found = plan_of(program, MODULES)
    return [
        (call["name"], [*call["args"], *call["kwargs"].values()] if "args" in call else None, call["often"])
        for call in found["calls"]
    ]


def flows(program: str) -> dict[str, list[str]]:
    return {f"{call['name']}:{call['line']}": call["flows"] for call in plan_of(program, MODULES)["calls"]}


def is_in_each_post(program: str) -> bool:
    """Whether what mail gave may be in all that is posted."""
    into = [tools for name, tools in flows(f"import mail, web\n{program}").items() if name.startswith("web.post")]
    return bool(into) and all("mail.read" in tools for tools in into)


def left_open(program: str) -> list[str]:
    found: list[str] = plan_of(program, MODULES)["open"]
    return found


@pytest.mark.parametrize(
    ("program", "planned"),
    [
        ("import fs\nfs.read(path='a')", [("fs.read", ["a"], "once")]),
        ("import fs as f\nf.read('a')", [("fs.read", ["a"], "once")]),
        ("from fs import read as r\nr('a')", [("fs.read", ["a"], "once")]),
        ("import fs\nname = 'a'\nfs.read(path=name + '.txt')", [("fs.read", ["a.txt"], "once")]),
        ("import fs\nn = 3\nfs.read(path=f'{n}-x')", [("fs.read", ["3-x"], "once")]),
        ("import fs\nfs.read(path=data)", [("fs.read", None, "once")]),
        ("import fs\nfs.read(**data)", [("fs.read", None, "once")]),
        ("import fs\nfor p in ['a', 'b']:\n    fs.read(p)", [("fs.read", ["a"], "once"), ("fs.read", ["b"], "once")]),
        ("import fs\nfor p in data:\n    fs.read('x')", [("fs.read", ["x"], "many")]),
        ("import fs\nfor p in ['a', 'b']:\n    fs.read(p)\n    if data:\n        break", [("fs.read", None, "many")]),
        ("import fs\nwhile data:\n    fs.read('x')", [("fs.read", ["x"], "many")]),
        ("import fs\nif data:\n    fs.read('x')\nelse:\n    fs.read('y')", [("fs.read", ["x"], "maybe"), ("fs.read", ["y"], "maybe")]),
        ("import fs\ndata and fs.read('x')", [("fs.read", ["x"], "maybe")]),
        ("import fs\n[fs.read(p) for p in data]", [("fs.read", None, "many")]),
        ("import fs\ndef f(p):\n    return fs.read(p)\nf('a')", [("fs.read", None, "many")]),
        ("import fs\ng = lambda p: fs.read(p)\ng('a')", [("fs.read", None, "many")]),
        ("import fs\np = 'a'\nif data:\n    p = 'b'\nfs.read(p)", [("fs.read", None, "once")]),
        ("import fs\np = 'a'\nfor p in data:\n    pass\nfs.read(p)", [("fs.read", None, "once")]),
        ("import fs\np = ['a']\np.append('b')\nfs.read(p)", [("fs.read", None, "once")]),
        ("import fs\np = 'a'\np += 'b'\nfs.read(p)", [("fs.read", None, "once")]),
        ("import fs\np = 'a'\nif (p := data):\n    pass\nfs.read(p)", [("fs.read", None, "once")]),
        ("import fs\ntry:\n    fs.read('a')\nfinally:\n    fs.read('b')", [("fs.read", ["a"], "once"), ("fs.read", ["b"], "once")]),
        ("import fs\nfs.read(fs.first())", [("fs.read", None, "once"), ("fs.first", [], "once")]),
        ("import fs\ndef main():\n    fs.read('a')\nmain()", [("fs.read", ["a"], "once")]),
        ("import fs\ndef main():\n    if data:\n        return\n    fs.read('a')\nmain()", [("fs.read", ["a"], "maybe")]),
        ("import fs\ndef main():\n    fs.read('a')\nif data:\n    main()", [("fs.read", ["a"], "maybe")]),
        ("import fs\ndef main():\n    fs.read('a')\nmain()\nmain()", [("fs.read", ["a"], "many")]),
        ("import fs\np = 'a'\ndef f():\n    global p\n    p = 'b'\nf()\nfs.read(p)", [("fs.read", None, "once")]),
        ("import fs\np = ['a']\nq = p\nq.append('b')\nfor x in p:\n    fs.read(x)", [("fs.read", None, "many")]),
        ("import fs\np = ['a']\np[0] = 'b'\nfor x in p:\n    fs.read(x)", [("fs.read", None, "many")]),
        ("import json\njson.dumps(1)", []),
        ("1 +", []),
    ],
)  # fmt: skip
def test_calls_are_found_with_what_is_known_of_them(program: str, planned: list[Any]) -> None:
    assert sorted(calls(program), key=str) == sorted(planned, key=str)


@pytest.mark.parametrize(
    ("program", "named"),
    [
        ("import fs\nf = fs.read\nf('a')", ["fs.read"]),
        ("import fs\nfor f in [fs.read, fs.write]:\n    f('a')", ["fs.read", "fs.write"]),
        ("import fs\ngetattr(fs, 'read')('a')", ["fs"]),
        ("import fs\nlist(map(fs.read, data))", ["fs.read"]),
        ("import fs\nx = {'f': fs.write}\nx['f']('a')", ["fs.write"]),
        ("from fs import read\nimport web as read\nread('a')", ["fs", "mail", "web"]),
        ("import fs\nfs = data\nfs.read('a')", ["fs", "mail", "web"]),
        ("import fs\ndef g(fs):\n    fs.read('a')\ng(data)", ["fs", "mail", "web"]),
        ("import fs\nfs.read.__call__('a')", ["fs.read"]),
        ("import fs\nhelp(fs.read)", []),
        ("import fs\nfs.read('a')", []),
    ],
)  # fmt: skip
def test_what_is_used_otherwise_than_by_calling_it_is_open(program: str, named: list[str]) -> None:
    assert left_open(program) == named


@pytest.mark.parametrize(
    ("program", "into"),
    [
        ("import mail, web\nm = mail.read()\nweb.post(body=m)", ["mail.read"]),
        ("import mail, web\nweb.post(body=mail.read())", ["mail.read"]),
        ("import mail, web\nm = mail.read()\nn = m['text'].upper()\nweb.post(body='x' + n)", ["mail.read"]),
        ("import mail, web\nfound = []\nfor m in mail.list():\n    found.append(m)\nweb.post(body=found)", ["mail.list"]),
        ("import mail, web\nd = {}\nd['x'] = mail.read()\nweb.post(body=d)", ["mail.read"]),
        ("import mail, web\ndef f():\n    return mail.read()\nweb.post(body=f())", ["mail.read"]),
        ("import mail, web\ndef f(x):\n    return x\nweb.post(body=f(mail.read()))", ["mail.read"]),
        ("import mail, web\na, b = 1, mail.read()\nweb.post(body=a)", ["mail.read"]),
        ("import mail, web\nif (m := mail.read()):\n    web.post(body=m)", ["mail.read"]),
        ("import mail, web\nx = [m for m in mail.list()]\nweb.post(body=x)", ["mail.list"]),
        ("import mail, web\nm = mail.read()\ntry:\n    int(m)\nexcept Exception as e:\n    web.post(body=str(e))", ["mail.read"]),
        ("import mail, web\nm = 1\nwhile data:\n    web.post(body=m)\n    m = mail.read()", ["mail.read"]),
        ("import mail, web\ndef f(x):\n    web.post(body=x)\nf(mail.read())", ["mail.read"]),
        ("import mail, web\nlist(map(lambda m: web.post(body=m), mail.list()))", ["mail.list", "web.post"]),
        ("import mail, web\nf = lambda m: web.post(body=m)\nf(mail.read())", ["mail.read"]),
        ("import mail, web\ndef f(x):\n    web.post(body=x)\ng = f\ng(mail.read())", ["mail.read", "web.post"]),
        ("import mail, web\n" + "".join(f"a{n} = a{n - 1}\n" for n in range(3, 0, -1)) + "a0 = mail.read()\nweb.post(body=a3)", ["mail.read"]),
        ("import mail, web\n" + "".join(f"a{n} = a{n - 1}\n" for n in range(99, 0, -1)) + "a0 = mail.read()\nweb.post(body=a99)", ["mail.read", "web.post"]),
        ("import mail, web\ndef f(x=mail.read()):\n    web.post(body=x)\nf()", ["mail.read"]),
        ("import mail, web\nmatch mail.read():\n    case x:\n        web.post(body=x)", ["mail.read"]),
        ("import mail, web\na = []\nb = a\nb.append(mail.read())\nweb.post(body=a)", ["mail.read"]),
        ("import mail, web\nl = []\ndef f(a, y):\n    a.append(y)\nf(l, mail.read())\nweb.post(body=l)", ["mail.read"]),
        ("import mail, web\nx = ''\ndef f(y):\n    global x\n    x = y\nf(mail.read())\nweb.post(body=x)", ["mail.read"]),
        ("import mail, web\nb = []\na: list = b\na.append(mail.read())\nweb.post(body=b)", ["mail.read"]),
        ("import mail, web\na, b = [], []\na += [b]\na[0].append(mail.read())\nweb.post(body=b)", ["mail.read"]),
        ("import mail, web\na, b = [], []\na.append(b)\na[0].append(mail.read())\nweb.post(body=b)", ["mail.read"]),
        ("import mail, web, bisect\nb = []\nbisect.insort(b, mail.read())\nweb.post(body=b)", ["mail.read"]),
        ("import mail, web\nb = []\ndef f():\n    return b\nf().append(mail.read())\nweb.post(body=b)", ["mail.read"]),
        ("import mail, web\ntry:\n    mail.read()\nexcept Exception as e:\n    web.post(body=str(e))", ["mail.read"]),
        ("import mail, web\nm = mail.read()\nweb.post(body='fixed')", []),
        ("import mail, fs, web\nm = mail.read()\nf = fs.read()\nweb.post(body=m + f)", ["fs.read", "mail.read"]),
    ],
)  # fmt: skip
def test_what_flows_from_one_tool_into_another_is_told(program: str, into: list[str]) -> None:
    (found,) = (tools for name, tools in flows(program).items() if name.startswith("web.post"))
    assert set(into) <= set(found)
    assert into or not found


def test_what_is_not_followed_may_be_in_everything_but_in_what_is_known() -> None:
    program = "import mail, web\nclass A:\n    x = 1\nmail.read()\nweb.post(body=data)\nweb.post(body='fixed')"
    assert flows(program) == {"mail.read:4": [], "web.post:5": ["mail.read", "web.post"], "web.post:6": []}
    plain = "import mail, web\nm = mail.read()\nn = web.get()\nweb.post(body=m)\nweb.post(body=[n])"
    assert [*flows(plain).values()][2:] == [["mail.read"], ["web.get"]]


HIDDEN = {
    "help that is another": "def help(t):\n    return t('hidden')\nhelp(fs.read)",
    "help that is a variable": "for help in [data]:\n    help(fs.read)",
    "a default": "def f(x=fs.read('hidden')):\n    return x",
    "a method's default": "class A:\n    def f(self, x=fs.read('hidden')):\n        return x",
    "a decorator": "@w(fs.read('hidden'))\ndef g():\n    pass",
    "the kind of an error": "try:\n    1 / 0\nexcept (ValueError if fs.read('hidden') else ValueError):\n    pass",
    "another name for a list": "a = ['shown']\nb = a\nb.append('hidden')\nfor p in a:\n    fs.read(p)",
    "what an append gives": "a = ['shown']\nb = a.append('hidden')\nfor p in a:\n    fs.read(p)",
    "a list that grows": "a = ['shown']\nfor p in a:\n    fs.read(p)\n    if p == 'shown':\n        a.append('hidden')",
    "a slice": "a = ['shown']\na[:] = ['hidden']\nfor p in a:\n    fs.read(p)",
    "a list in a dictionary": "a = ['shown']\nd = {'k': a}\nd['k'].append('hidden')\nfor p in a:\n    fs.read(p)",
    "a function that changes it": "a = ['shown']\ndef f(l):\n    l.append('hidden')\nf(a)\nfor p in a:\n    fs.read(p)",
    "an assignment in another": "x = 'shown'\ny = (x := 'hidden')\nfs.read(x)",
    "a pattern": "x = 'shown'\nmatch 'hidden':\n    case x:\n        pass\nfs.read(x)",
    "help that is imported": "from functools import partial as help\nf = help(fs.read, 'hidden')\nf()",
    "an assignment in a list": "p = 'shown'\n[(p := 'hidden'), fs.read(p)]",
    "an assignment in a test": "p = 'shown'\nif (p := 'hidden'):\n    fs.read(p)",
    "a function in a function": "p = 'hidden'\ndef inner():\n    fs.read(p)\ndef outer():\n    p = 'shown'\n    inner()\nouter()",
    "everything imported": "from fs import *\nread('hidden')",
    "all names": "globals()['fs'].read('hidden')",
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_no_call_is_hidden(name: str) -> None:
    found = plan_of(f"import fs\n{HIDDEN[name]}", MODULES)
    assert found["open"] or any("args" not in call or "hidden" in str(call) for call in found["calls"]), found


def test_a_refusal_that_the_program_minds_is_marked() -> None:
    program = "import fs\ntry:\n    fs.read('a')\nexcept PermissionError:\n    fs.read('b')\ntry:\n    fs.read('c')\nexcept ValueError:\n    pass"
    found = plan_of(program, MODULES)["calls"]
    assert {call["args"][0]: "caught" in call for call in found} == {"a": True, "b": False, "c": False}


@pytest.mark.parametrize(
    "program",
    [
        "(" * 3_000 + ")" * 3_000,
        "x = " + "-" * 50_000 + "1",
        "import fs\n" + "fs.read('a')\n" * 500,
        "import fs\nx = 'a'\n" + "x = x + x\n" * 100 + "fs.read(x)",
        "import fs\n" + "".join(f"{' ' * n}for x{n} in {[*range(50)]}:\n" for n in range(8)) + f"{' ' * 8}fs.read('a')",
        "\0",
    ],
)
def test_no_text_is_too_much(program: str) -> None:
    found = plan_of(program, MODULES)
    assert len(found["calls"]) <= 200
    if program.count("fs.read") > 200:
        assert found["open"] == ["fs.read"]


@pytest.mark.parametrize(
    "program",
    [
        "p = 'real'\nwhile p == 'never':\n    p = 'shown'\nfs.write(path=p)",
        "p = 'real'\nfor (a, b) in []:\n    p = 'shown'\nfs.write(path=p)",
        "p = 'real'\nfor a in []:\n    p = 'shown'\nfs.write(path=p)",
        "p = 'real'\nwhile p == 'x':\n    pass\nelse:\n    p = 'other'\nfs.write(path=p)",
        "p = 'real'\nmatch 2:\n    case 1:\n        p = 'shown'\n    case _:\n        fs.write(path=p)",
        "p = 'shown'\nfrom math import pi as p\nfs.write(path=p)",
        "e = 'shown'\nfrom math import *\nfs.write(path=e)",
        "p = 'shown'\ntry:\n    import math as p\nexcept ImportError:\n    pass\nfs.write(path=p)",
        "a = [['shown']]\nfor x in a:\n    x.append('hidden')\nfs.write(path=a)",
        "a = [{'to': 'bob'}]\nfor x in a:\n    x['to'] = 'eve'\nfor q in a:\n    fs.write(path=q)",
        "a = [['shown']]\n[x.append('hidden') for x in a]\nfs.write(path=a)",
        "p = 'shown'\nclass A:\n    global p\n    p = 'real'\nfs.write(path=p)",
    ],
)
def test_a_value_is_told_only_where_it_can_be_no_other(program: str) -> None:
    found = plan_of(f"import fs\n{program}", {"fs"})["calls"]
    assert found
    assert not any("kwargs" in call for call in found), found


def test_what_happens_in_a_loop_happens_often_whatever_stands_around_it() -> None:
    program = "import fs\nfor i in range(5):\n    for j in [1]:\n        pass\n    else:\n        fs.write(path='x')"
    assert [call["often"] for call in plan_of(program, {"fs"})["calls"]] == ["many"]
    program = (
        "import fs\nfor p in ['a']:\n    while data:\n        pass\n    else:\n        break\n    fs.write(path=p)"
    )
    assert [call["often"] for call in plan_of(program, {"fs"})["calls"]] == ["many"]
    program = "import fs\nmatch data:\n    case 1:\n        fs.write(path='x')"
    assert [call["often"] for call in plan_of(program, {"fs"})["calls"]] == ["maybe"]


@pytest.mark.parametrize(
    "program",
    [
        "b = []\ndef get():\n    return b\nx = get()\nx.append(mail.read())\nweb.post(body=b)",
        "a = []\nd = {'a': a}\nfor x in d.values():\n    x.append(mail.read())\nweb.post(body=a)",
        "a = []\nfor x in list([a]):\n    x.append(mail.read())\nweb.post(body=a)",
        "a = []\nfor x, y in zip([a], [1]):\n    x.append(mail.read())\nweb.post(body=a)",
        "b = []\nx = [b] + []\nx[0].append(mail.read())\nweb.post(body=b)",
        "b = [[]]\nx = [e for e in b]\nx[0].append(mail.read())\nweb.post(body=b)",
        "b = []\nf = lambda: b\nf().append(mail.read())\nweb.post(body=b)",
        "b = []\ndef f(x=b):\n    x.append(mail.read())\nf()\nweb.post(body=b)",
        "b = []\nmatch [b]:\n    case [x]:\n        x.append(mail.read())\nweb.post(body=b)",
        "class A:\n    l = []\na = A()\nb = A()\na.l.append(mail.read())\nweb.post(body=b.l)",
    ],
)
def test_what_is_put_into_something_is_in_it_by_whatever_name(program: str) -> None:
    assert is_in_each_post(program)


@pytest.mark.parametrize(
    "program",
    [
        "d = {'f': lambda x: web.post(body=x)}\nd['f'](mail.read())",
        "def mk():\n    return lambda x: web.post(body=x)\nmk()(mail.read())",
        "l = []\ndef f(x):\n    web.post(body=x)\nl.append(f)\nl[0](mail.read())",
        "def f(x):\n    web.post(body=x)\ng = f\ng(mail.read())",
        "def deco(g):\n    return mail.read()\n@deco\ndef f():\n    pass\nweb.post(body=f)",
        "b = []\nclass A:\n    l = b\nA.l.append(mail.read())\nweb.post(body=b)",
        "b = []\ntry:\n    raise ValueError(b)\nexcept ValueError as e:\n    e.args[0].append(mail.read())\nweb.post(body=b)",
    ],
)
def test_what_goes_another_way_than_by_names_may_be_in_everything(program: str) -> None:
    assert is_in_each_post(program)


def test_what_is_used_otherwise_than_by_calling_it_may_be_in_whatever_is_not_known() -> None:
    program = "import mail, web\nf = mail.read\nx = f()\nweb.post(body=x)\nweb.post(body='fixed')"
    assert flows(program) == {"web.post:4": ["mail.read"], "web.post:5": []}
    assert flows("import mail, web\nm = mail\nweb.post(body=m.read())") == {"web.post:3": ["mail"]}


SHADOWS = [
    "from mail import read as main\ndef main():\n    fs.write(path='x')\nmain()",
    "from mail import read as change\ndef change(l):\n    l.append('hidden')\na = ['shown']\nchange(a)\nfs.write(path=a)",
    "import mail\nl = []\ndef f():\n    mail = l\n    mail.append(fs.read())\nf()\nfs.write(path=l)",
    "import mail as a\nimport fs as a\nfs.write(path=a.read())",
]


@pytest.mark.parametrize("program", SHADOWS)
def test_where_a_name_stands_for_two_things_everything_is_open(program: str) -> None:
    found = plan_of(f"import fs\n{program}", {"fs", "mail"})
    assert found["open"] == ["fs", "mail"]
    assert all({"fs", "mail"} <= {*call["flows"]} for call in found["calls"] if "args" not in call)


def test_what_cannot_be_sent_as_it_is_is_not_told() -> None:
    for number in ("1e999", "-1e999", "0x" + "f" * 5_000, "[1e400]", r"'\ud83d\ude00'"):
        (call,) = plan_of(f"import fs\nfs.write(path={number})", {"fs"})["calls"]
        assert "kwargs" not in call
