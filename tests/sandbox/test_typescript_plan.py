"""What a TypeScript program may do, from its text: nothing that it can do is missing."""

from __future__ import annotations

from typing import Any

import pytest

from ironcurtain.sandbox.reading import plan_of_typescript

MODULES = {"mail", "web", "fs"}


def calls(program: str) -> list[tuple[str, Any, str]]:
    """Each call, its arguments if they are known, and how often."""
    found = plan_of_typescript(program, MODULES)
    return [(call["name"], call.get("kwargs"), call["often"]) for call in found["calls"]]


def is_in_each_post(program: str) -> bool:
    """Whether what mail gave may be in all that is posted."""
    found = plan_of_typescript(program, MODULES)
    into = [call["flows"] for call in found["calls"] if call["name"] == "web.post"]
    return bool(into) and all("mail.read" in tools for tools in into)


READ = ("fs.read", {"path": "a"}, "once")


@pytest.mark.parametrize(
    ("program", "planned"),
    [
        ('fs.read({path: "a"})', [READ]),
        ("return await fs.read({'path': `a`} as any)", [READ]),
        ('const path = "a"; fs.read({path})', [READ]),
        ('let p; p = "a"; fs.read({path: p!})', [READ]),
        ('fs.read({path: "\\x61"}); fs.read({path: "\\u{61}"}); fs.read({path: "\\141"})', [READ, READ, ("fs.read", None, "once")]),
        ('fs.read({path: "a" + `-${1}`, deep: [1, -2, 1.50, true, null, {x: "y"}]})',
         [("fs.read", {"path": "a-1", "deep": [1, -2, 1.5, True, None, {"x": "y"}]}, "once")]),
        ('async function main() { fs.read({path: "a"}); }\nawait main()', [READ]),
        ('(async () => { fs.read({path: "a"}) })()', [READ]),
        ('main(); function main() { if (data) return; fs.read({path: "a"}) }', [("fs.read", {"path": "a"}, "maybe")]),
        ('if (!data) return 1; fs.read({path: "a"})', [("fs.read", {"path": "a"}, "maybe")]),
        ('for (const p of ["a", "b"]) fs.read({path: p})', [READ, ("fs.read", {"path": "b"}, "once")]),
        ('for (const p of ["a"]) { if (data) break; fs.read({path: p}) }', [("fs.read", None, "many")]),
        ("for (const p in {a: 1}) fs.read({path: p})", [("fs.read", None, "many")]),
        ('for (let i = 0; i < 3; i++) fs.read({path: "a"})', [("fs.read", {"path": "a"}, "many")]),
        ('do { fs.read({path: "a"}) } while (fs.more())', [("fs.read", {"path": "a"}, "many"), ("fs.more", {}, "many")]),
        ('["a"].forEach((p) => fs.read({path: p}))', [("fs.read", None, "many")]),
        ('switch (fs.kind()) { case fs.first(): fs.read({path: "a"}) }',
         [("fs.kind", {}, "once"), ("fs.first", {}, "once"), ("fs.read", {"path": "a"}, "maybe")]),
        ('data && fs.read({path: "a"})', [("fs.read", {"path": "a"}, "maybe")]),
        ('data ? fs.read({path: "a"}) : 1', [("fs.read", {"path": "a"}, "maybe")]),
        ('data?.x(fs.read({path: "a"}))', [("fs.read", {"path": "a"}, "maybe")]),
        ("fs.read(data)", [("fs.read", None, "once")]),
        ('fs.read({path: "a", ...data})', [("fs.read", None, "once")]),
        ('fs.read({["pa" + "th"]: "a"})', [("fs.read", None, "once")]),
        ('fs.read({path: ["a",,"b"]})', [("fs.read", None, "once")]),
        ('let p = "a"; { let p = "b"; } fs.read({path: p})', [("fs.read", None, "once")]),
        ('let p = "a"; const f = () => { p = "b" }; f(); fs.read({path: p})', [("fs.read", None, "once")]),
        ('let p = "a"; p += "b"; fs.read({path: p})', [("fs.read", None, "once")]),
        ('let p = "a"; [p] = ["b"]; fs.read({path: p})', [("fs.read", None, "once")]),
        ("let n = 1; n++; fs.read({path: n})", [("fs.read", None, "once")]),
        ('const ps = ["a"]; ps[0] = "b"; for (const p of ps) fs.read({path: p})', [("fs.read", None, "many")]),
        ('const {x = fs.read({path: "a"})} = data', [READ]),
        ('const {[fs.read({path: "a"})]: x} = data', [READ]),
        ('data[fs.read({path: "a"})] = 1', [READ]),
        ('function f(x = fs.read({path: "a"})) {} f()', [("fs.read", {"path": "a"}, "many")]),
        ('class A { static x = fs.read({path: "a"}); m() { fs.read({path: "b"}) } }',
         [("fs.read", {"path": "a"}, "many"), ("fs.read", {"path": "b"}, "many")]),
        ('class A { static { const p = "a"; fs.read({path: p}) } }', [("fs.read", {"path": "a"}, "many")]),
        ('const o = {get x() { return fs.read({path: "a"}) }, async *y() { yield fs.read({path: "b"}) }}',
         [("fs.read", {"path": "a"}, "many"), ("fs.read", {"path": "b"}, "many")]),
        ('label: for (;;) { continue label; fs.read({path: "a"}) }', [("fs.read", {"path": "a"}, "many")]),
        ('data`${fs.read({path: "a"})}`', [READ]),
        ('new Map([[fs.read({path: "a"}), 1]])', [READ]),
        ('typeof fs.read({path: "a"}), void 0', [READ]),
        ('(/* c */ fs.read({path: "a"}))', [READ]),
        ('await /* c */ fs.read(/* c */ {/* c */ path: /* c */ "a"} as any)', [READ]),
        ('if (/* c */ fs.read({path: "a"})) 1', [READ]),
        ('@d(fs.read({path: "a"})) class A {}', [("fs.read", {"path": "a"}, "many")]),
        ('class A { [fs.read({path: "a"})]() {} }', [("fs.read", {"path": "a"}, "many")]),
        ('const o = {[fs.read({path: "a"})]() {}, get [fs.read({path: "a"})]() { return 1 }}', [READ, READ]),
        ('try {} catch ({a, b = fs.read({path: "a"})}: any) {}', [("fs.read", {"path": "a"}, "maybe")]),
        ('let p = "a"; (p = "b", fs.read({path: p}))', [("fs.read", None, "once")]),
        ('let p = "a"; if (p = "b") fs.read({path: p})', [("fs.read", None, "maybe")]),
        ('namespace N { fs.read({path: "a"}) }', [READ]),
        ('throw fs.read({path: "a"})', [READ]),
        ('/* fs.read({path: "a"}) */ "fs.read"', []),
        ("JSON.stringify(1)", []),
    ],
)  # fmt: skip
def test_calls_are_found_with_what_is_known_of_them(program: str, planned: list[Any]) -> None:
    assert sorted(calls(program), key=str) == sorted(planned, key=str)


@pytest.mark.parametrize(
    "program",
    [
        'fs.read({path: "a"})',
        'const f = fs.read; f({path: "a"})',
        'globalThis["f" + "s"]["read"]({path: "a"})',
        'fs.read({path: "a"',
        "(" * 5_000 + "1" + ")" * 5_000,
        'const q: any = [a < b, [fs], c >> 1]; q[1][0].write({path: "h"})',
        "function mail() { fs.write({path: 'x'}) }\nmail();",
        'const A: any = Array; A["proto" + "type"][Symbol.iterator] = data; for (const x of ["a"]) fs.write({path: x})',
        'let declare: any = 1; declare\nlet data: any = "shown";\nfs.write({path: data});',
    ],
)
def test_it_may_do_anything_with_what_it_names_whatever_was_read(program: str) -> None:
    found = plan_of_typescript(program, MODULES)
    assert found["open"] == sorted(MODULES)
    assert all({*found["open"]} <= {*call["flows"]} for call in found["calls"] if "kwargs" not in call)


@pytest.mark.parametrize(
    ("program", "into"),
    [
        ("const m = mail.read(); web.post({body: m})", ["mail.read"]),
        ("web.post({body: `${mail.read()}`})", ["mail.read"]),
        ("const {a: [b]} = JSON.parse(mail.read()); web.post({body: b})", ["mail.read"]),
        ("let a; [{a}] = mail.list(); web.post({body: a})", ["mail.list"]),
        ("const found = []; for (const m of mail.list()) found.push(m); web.post({body: found})", ["mail.list"]),
        ("const d = {}; d.x = mail.read(); web.post({body: d})", ["mail.read"]),
        ("const d = {}; for (d.x of mail.list()) {} web.post({body: d})", ["mail.list"]),
        ("const f = () => mail.read(); web.post({body: f()})", ["mail.read"]),
        ("const f = (x) => web.post({body: x}); f(mail.read())", ["mail.read"]),
        ("mail.list().map((m) => m.text).forEach((t) => web.post({body: t}))", ["mail.list", "web.post"]),
        ("class A { m(x) { this.x = x } }\nconst a = new A(); a.m(mail.read()); web.post({body: a.x})", ["mail.read", "web.post"]),
        ("try { throw new Error(mail.read()) } catch ({message}) { web.post({body: message}) }", ["mail.read"]),
        ("const m = mail.read(); try { f(m) } catch ({message}) { web.post({body: message}) }", ["mail.read"]),
        ("function* g() { yield mail.read() } for (const m of g()) web.post({body: m})", ["mail.read"]),
        ("function f(x = mail.read()) { web.post({body: x}) }\nf()", ["mail.read"]),
        ("const {x = mail.read()} = data; web.post({body: x})", ["mail.read"]),
        ("let x; [x = mail.read()] = data; web.post({body: x})", ["mail.read"]),
        ("for (const {x = mail.read()} of data) web.post({body: x})", ["mail.read"]),
        ("const a = []; const b = a; b.push(mail.read()); web.post({body: a})", ["mail.read"]),
        ("const a = []; const f = (l, y) => l.push(y); f(a, mail.read()); web.post({body: a})", ["mail.read"]),
        ("const o = {}; Object.assign(o, {v: mail.read()}); web.post({body: o})", ["mail.read"]),
        ("const a = [], b = []; a.push(b); a[0].push(mail.read()); web.post({body: b})", ["mail.read"]),
        ("const b = []; const f = () => b; f().push(mail.read()); web.post({body: b})", ["mail.read"]),
        ("const m = mail.read(); web.post({body: 'fixed'})", []),
    ],
)  # fmt: skip
def test_what_flows_from_one_tool_into_another_is_told(program: str, into: list[str]) -> None:
    plan = plan_of_typescript(program, MODULES)
    found = [call["flows"] for call in plan["calls"] if call["name"] == "web.post"]
    assert found
    assert all(set(into) <= set(each) for each in found)
    assert into or found == [[]]


def test_a_refusal_that_the_program_minds_is_marked() -> None:
    program = 'try { fs.read({path: "a"}) } catch { fs.read({path: "b"}) } finally { fs.read({path: "c"}) }'
    found = plan_of_typescript(program, MODULES)["calls"]
    assert {call["kwargs"]["path"]: "caught" in call for call in found} == {"a": True, "b": False, "c": False}


def test_a_long_program_is_read() -> None:
    program = "".join(f"const a{n} = {n};\n" for n in range(4_000)) + "fs.read({path: a0})"
    assert calls(program) == [("fs.read", {"path": 0}, "once")]


@pytest.mark.parametrize(
    "program",
    [
        'let p: any = "shown"; (p as any) = "real"; fs.write({path: p})',
        'let p: any = "shown"; (p satisfies any) = "real"; fs.write({path: p})',
        'let p: any = "shown"; (<any>p) = "real"; fs.write({path: p})',
        "let p: any = 1; (p as any)++; fs.write({path: p})",
        'let p: any = "shown"; for ((p as any) of ["real"]) {} fs.write({path: p})',
        'let p = "shown"; class A { static { p = "real"; } } fs.write({path: p})',
        'let p = "shown"; for (p = "real"; data;) {} fs.write({path: p})',
        "let p = 1; for (p++; data;) {} fs.write({path: p})",
        'let p = "real"; l: { if (p) break l; p = "shown"; } fs.write({path: p})',
        'let p = "real"; while (data) { p = "shown" } fs.write({path: p})',
        'let p = "real"; do { p = "shown" } while (data); fs.write({path: p})',
        'const a = [["shown"]]; for (const x of a) x.push("hidden"); fs.write({path: a})',
        'let p = "real"\nlet q = 1\ndata <!--q; p = "shown";\nfs.write({path: p})',
        "fs.write({path: `a\r\nb`})",
        'fs.write({path: "a\\\u2028b"})',
    ],
)
def test_a_value_is_told_only_where_it_can_be_no_other(program: str) -> None:
    found = plan_of_typescript(program, MODULES)
    assert not any("kwargs" in call for call in found["calls"]), found


@pytest.mark.parametrize(
    "program",
    [
        'let n = 0; const f = function g() { fs.write({path: "x"}); if (n++ < 9) g(); }; f();',
        'let n = 0; (function g() { fs.write({path: "x"}); if (n++ < 9) g(); })()',
        'let n = 0; await (async function r() { fs.write({path: "x"}); if (n++ < 3) await r(); })()',
        'const d: any = {}; const f = () => { fs.write({path: "x"}) }; f(); (d[f()] as any) = 1;',
    ],
)
def test_what_may_happen_again_is_not_said_to_happen_once(program: str) -> None:
    found = plan_of_typescript(program, MODULES)
    assert {call["often"] for call in found["calls"]} == {"many"}, found


@pytest.mark.parametrize(
    "program",
    [
        '(d[fs.write({path: "hidden"})] as any) = 1;',
        '(<any>d[fs.write({path: "hidden"})]) = 1;',
        '(d[fs.write({path: "hidden"})] as any)++;',
        'for ((d[fs.write({path: "hidden"})] as any) of [1]) {}',
    ],
)
def test_a_call_is_found_wherever_it_stands(program: str) -> None:
    found = plan_of_typescript(f"const d: any = {{}}; {program}", MODULES)
    assert [call["name"] for call in found["calls"]] == ["fs.write"], found


@pytest.mark.parametrize(
    ("program", "loads"),
    [
        ('await import("data:text/javascript,1")', True),
        ("const u: string = data; await import /* x */ (u)", True),
        ("return import.meta", True),
        ('import x from "y"', True),
        ("await import(", True),
        ("1 <!--x\nawait import(data)", True),
        ('return "import(x)"', False),
        ("// import(x)\nreturn data.import(1)", False),
        ("const important = 1", False),
        ('})(); export * from "data:text/javascript,1"; (async () => {', True),
    ],
)  # fmt: skip
def test_who_loads_another_text_is_known(program: str, loads: bool) -> None:
    assert plan_of_typescript(program, MODULES)["loads"] is loads


@pytest.mark.parametrize(
    "program",
    [
        "const b: any[] = []; const m = new Map([['k', b]]); m.get('k')!.push(mail.read()); web.post({body: b})",
        "const b: any[] = []; [b].find((x) => true)!.push(mail.read()); web.post({body: b})",
        "class A { static l: any[] = [] } A.l.push(mail.read()); const c = A; web.post({body: c.l})",
        "function* g(): any { const x = yield 1; web.post({body: x}) } const i = g(); i.next(); i.next(mail.read())",
        "let x: any; for (x = mail.read(); data;) {} web.post({body: x})",
        "const o: any = {}; (o.x as any) = mail.read(); web.post({body: o})",
    ],
)
def test_what_is_put_into_something_is_in_it_by_whatever_name(program: str) -> None:
    assert is_in_each_post(program)


def test_who_is_made_by_a_function_may_call_it_again() -> None:
    program = 'function G() { fs.write({path: "x"}) } const a: any = new (G as any)(); for (const k of data) new a[k]()'
    assert [call[2] for call in calls(program)] == ["many"]


@pytest.mark.parametrize(
    "program",
    [
        "class A { get() { return mail.read() } run() { web.post({body: this.get()}) } } new A().run()",
        "const b: any[] = []; class A { static l = b } A.l.push(mail.read()); web.post({body: b})",
        "const b: any[] = []; function* g() { yield b } for (const x of g()) x.push(mail.read()); web.post({body: b})",
        "const b: any[] = []; try { throw b } catch (e: any) { e.push(mail.read()) } web.post({body: b})",
        "const l: any[] = []; l.push((x: any) => web.post({body: x})); l[0](mail.read())",
        "const o: any = {}; [o.x = mail.read()] = [] as any[]; web.post({body: o})",
        "([] as any).map.x = mail.read(); web.post({body: ([] as any).map.x})",
        "(Number.parseFloat as any).x = mail.read(); web.post({body: (parseFloat as any).x})",
        "(Error as any).prepareStackTrace = () => mail.read(); try { data() } catch (e: any) { web.post({body: e.stack}) }",
    ],
)
def test_what_goes_another_way_than_by_names_may_be_in_everything(program: str) -> None:
    assert is_in_each_post(program)
