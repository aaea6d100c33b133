"""TypeScript: the published ways out of JavaScript sandboxes, each in the real engine, judged by canaries.

Everyday with all walls; `make verify` repeats it with each of them removed: those of the system, and the engine's own.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.sandbox import typescript
from ironcurtain.sandbox.process import LIBRARIES, PYTHON, Host
from tests.sandbox.escaping import WALLS, attempted, less, told

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = {"seconds": 1, "memory": 64 << 20, "recursion": 200, "calls": 20, "output": 10_000}
ENGINE = "the engine's own"
REMOVED = ("", *WALLS, ENGINE) if os.environ.get("HYPOTHESIS_PROFILE") == "long" else ("",)
READ = "Deno.readTextFileSync('CANARY')"
TOUCH = "new Deno.Command('/bin/touch', {args: ['CANARY.new']}).outputSync()"
PROGRAMS = {
    "JS-01 constructor chain": f"return globalThis.constructor.constructor('return Deno')() && {READ}",
    "JS-01 proto": "return (globalThis as any).__proto__.constructor.constructor('return process')().env.CANARY",
    "JS-02 caught error": "try { (null as any).x } catch (e: any) { return e.constructor.constructor('return Deno')().env.toObject() }",
    "JS-04 lookup getter": "return (({}) as any).__lookupGetter__('__proto__').call(print).constructor('return Deno')()",
    "JS-05 has instance": f"Object.defineProperty(Error, Symbol.hasInstance, {{value: () => true}}); throw {{name: {READ}}}",
    "JS-06 species": "class P extends Promise<any> { static get [Symbol.species]() { return function (f: any) { f((x: any) => x.constructor.constructor('return Deno')(), () => 0) } as any } }; return await (P as any).resolve(1).then((x: any) => x)",
    "JS-08 error name": "const e: any = new Error(); e.name = Symbol(); e.stack; throw e",
    "JS-09 prepareStackTrace": "(Error as any).prepareStackTrace = (_: any, s: any) => s.map((f: any) => String(f.getThis()) + f.getFunction() + f.getFileName()); return new Error().stack",
    "JS-09 reset": "(Error as any).prepareStackTrace = undefined; return new Error().stack",
    "JS-10 overflow": "const f = (): any => f(); try { f() } catch (e: any) { return e.constructor.constructor('return Deno')() }",
    "JS-12 proxy": "throw new Proxy({}, {getPrototypeOf() { throw () => 1 }, get() { throw () => 1 }})",
    "JS-13 async": "return (async () => 1)().constructor.constructor('return Deno')()",
    "JS-14 async generator": "async function* g(): any { try { yield* {[Symbol.asyncIterator]() { throw new Error('x') }} } catch (e: any) { return e.constructor.constructor('return process')() } } for await (const x of g()) ; return 1",
    "JS-16 wasm": "return (globalThis as any).WebAssembly.compileStreaming({})",
    "JS-17 inspect": "console.log(new Proxy({a: 1}, {get: () => 'x'})); return (globalThis as any).Deno.inspect({})",
    "JS-18 patched": f"(Array.prototype as any).map = function () {{ return [{READ}] }}; print('x'); return 1",
    "JS-18 patched JSON": "JSON.stringify = () => '{\"done\": \"x\"}'; JSON.parse = () => ({}) as any; return 1",
    "JS-20 unicode": "return (globalThis as any)['\\u0044eno']",
    "JS-20 eval": f"return eval({json.dumps(READ)})",
    "JS-20 Function": f"return new Function({json.dumps(f'return {READ}')})()",
    "JS-20 out of the wrapper": "return 1 })();\nimport secret from 'file://CANARY' with {type: 'text'};\nexport const x = (() => { return secret",
    "JS-20 out, as JSON": "return 1 })();\nimport secret from 'file:///etc/passwd';\n(() => { return secret",
    "JS-21 import a file": "return (await import('file://CANARY')).default",
    "JS-21 import as text": "return (await import('file://CANARY', {with: {type: 'text'}})).default",
    "JS-21 import as bytes": "return (await import('file://CANARY', {with: {type: 'bytes'}})).default",
    "JS-21 import from node": "return (await import('node:fs')).readFileSync('CANARY', 'utf8')",
    "JS-21 node process": "const p = await import('node:process'); return p.env.CANARY ?? p.exit(0)",
    "JS-21 node child": "(await import('node:child_process')).execSync('touch CANARY.new'); return 1",
    "JS-21 node net": "await new Promise(async (r) => (await import('node:net')).connect(PORT, '127.0.0.1', r as any)); return 1",
    "JS-21 import over http": "return await import('http://127.0.0.1:PORT/x.js')",
    "JS-21 import npm": "return await import('npm:left-pad')",
    "JS-21 import data": f"return (await import('data:text/javascript,export default {READ.replace(chr(39), '%27')}')).default",
    "JS-22 suppressed": "throw new AggregateError([new Error('a', {cause: globalThis})])",
    "JS-24 internals": "return Reflect.ownKeys(globalThis).map(String).filter((k) => /deno|intern|process|boot/i.test(k))",
    "JS-24 symbols": "return Object.getOwnPropertySymbols(globalThis).map((s) => (globalThis as any)[s]?.core?.ops)",
    "JS-25 null prototype": "throw Object.create(null)",
    "JS-26 references": "return (globalThis as any).$ivm ?? (globalThis as any)._ivm",
    "JS-28 workers": "return new (globalThis as any).Worker('data:text/javascript,Deno.readTextFileSync(1)', {type: 'module'})",
    "JS-28 node vm": "return (await import('node:vm')).runInThisContext('process.env.CANARY')",
    "JS-28 node workers": "return new (await import('node:worker_threads')).Worker('1', {eval: true})",
    "JS-29 loop": "for (;;) ;",
    "JS-29 caught loop": "for (;;) { try { for (;;) ; } catch {} }",
    "JS-29 array": "const x: any[] = []; for (;;) x.push(new Array(1e5).fill(1))",
    "JS-29 buffers": "const x: any[] = []; for (;;) x.push(new Uint8Array(1 << 28).fill(1))",
    "JS-29 string": "let x = 'a'; for (;;) x += x",
    "JS-29 regex": "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
    "JS-29 wait": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    "JS-29 never": "await new Promise(() => 0)",
    "JS-29 depth": "let x: any = []; for (let i = 0; i < 1e5; i++) x = [x]; return x",
    "JS-29 prints": "for (;;) print('x'.repeat(10_000))",
    "JS-29 rejected": "Promise.reject(new Error('x')); return 1",
    "JS-30 a result that changes": "let n = 0; return {toJSON() { return n++ ? 'b' : 'a' }, get x() { throw 1 }}",
    "files": f"return {READ}",
    "files: write": "Deno.writeTextFileSync('CANARY.new', 'x'); return 1",
    "files: list": "return [...Deno.readDirSync('/')].map((e) => e.name)",
    "files: remove": "Deno.removeSync('CANARY'); return 1",
    "files: link": "Deno.symlinkSync('CANARY', 'CANARY.new'); return 1",
    "files: storage": "localStorage.setItem('a', 'b'); return 1",
    "files: database": "const { DatabaseSync } = await import('node:sqlite'); new DatabaseSync('CANARY.new').exec('create table t (a)'); return 1",
    "environment": "return Deno.env.toObject()",
    "processes": f"{TOUCH}; return 1",
    "processes: kill": "Deno.kill(Deno.ppid, 'SIGKILL'); return 1",
    "processes: memory": "return Deno.readTextFileSync('/proc/self/environ') + Deno.readTextFileSync(`/proc/${Deno.ppid}/environ`)",
    "processes: native code": "return Deno.dlopen('libc.so.6', {system: {parameters: ['buffer'], result: 'i32'}}).symbols.system(new TextEncoder().encode('touch CANARY.new\\0'))",
    "network: connect": "await Deno.connect({port: PORT}); return 1",
    "network: fetch": "return await (await fetch('http://127.0.0.1:PORT/')).text()",
    "network: socket": "new WebSocket('ws://127.0.0.1:PORT/'); await new Promise((r) => setTimeout(r, 300)); return 1",
    "network: listen": "return Deno.listen({port: 0}).addr",
    "network: unix": "await Deno.connect({transport: 'unix', path: 'CANARY'} as any); return 1",
    "network: names": "return await Deno.resolveDns('localhost', 'A')",
    "timers": "await new Promise((r) => setTimeout(r, 1e9)); return 1",
}  # fmt: skip
"""Each in the form in which it was published; what it reaches for is always the canary."""


def command(directory: Path, without: str) -> list[str]:
    """An engine from whose walls one is missing."""
    bootstrap = typescript.BOOTSTRAP.read_text()
    file = directory / "bootstrap.js"
    arguments = typescript.arguments_of(LIMITS, file)
    if without == ENGINE:  # all permissions, everything that Deno has to give, and text that is evaluated
        assert "if (!KEPT.has(name) &&" in bootstrap
        bootstrap = bootstrap.replace("if (!KEPT.has(name) &&", "if (false &&")
        arguments = [each.replace("--disallow-code-generation-from-strings,", "") for each in arguments]
        arguments[arguments.index("--no-prompt")] = "--allow-all"
    file.write_text(bootstrap)
    wall = without if without in WALLS else ""
    start = [*PYTHON, "-c", f"{less(wall)}from ironcurtain.sandbox.engine import main; main()"]
    bounds = json.dumps({"memory": typescript.ENGINE_MEMORY + LIMITS["memory"], "processor": LIMITS["seconds"] + 1})
    readable = [str(file), *LIBRARIES, "/dev/urandom"]
    return [*start, str(typescript.engine()), bounds, *readable, "--", *arguments]


@pytest.mark.parametrize("without", REMOVED)
def test_no_program_gets_out(without: str, tmp_path: Path) -> None:
    said = attempted(command(tmp_path, without), PROGRAMS, 4, tmp_path)
    if not without:
        reached = {name: messages[-1].get("done") for name, messages in said.items() if "done" in messages[-1]}
        assert set(reached) <= HARMLESS, reached


HARMLESS = {
    "JS-01 proto", "JS-06 species", "JS-09 prepareStackTrace", "JS-09 reset", "JS-18 patched", "JS-18 patched JSON", "JS-20 unicode",
    "JS-24 internals", "JS-24 symbols", "JS-26 references", "JS-29 rejected", "JS-29 depth",
    "JS-30 a result that changes",
}  # fmt: skip
"""Those that come to an end, and gain nothing."""


@pytest.mark.parametrize(("name", "kinds"), [("JS-29 loop", ("time",)), ("JS-29 array", ("memory",)), ("JS-29 buffers", ("memory", "time"))])  # fmt: skip
def test_limits_are_named_for_what_they_are(name: str, kinds: tuple[str, ...], tmp_path: Path) -> None:
    last = asyncio.run(told(command(tmp_path, ""), PROGRAMS[name], 30))[-1]
    why = typescript.why_ended(last.get("code"))
    assert (why[0] if why else last) in kinds or "RangeError" in str(last)


def test_buffers_count_as_memory(tmp_path: Path) -> None:
    program = (
        "let n = 0; const x: any[] = []; try { for (;; n++) x.push(new Uint8Array(1 << 20).fill(1)) } catch {} return n"
    )
    last = asyncio.run(told(command(tmp_path, ""), program, 30))[-1]
    why = typescript.why_ended(last.get("code"))
    assert why == ("memory", why[1]) if why else last["done"] << 20 < typescript.ENGINE_MEMORY + LIMITS["memory"], last


def test_chance_and_the_clock_are_the_same_when_it_is_repeated(tmp_path: Path) -> None:
    program = "return [Math.random(), Date.now(), new Date().getTime(), new Date(0).getTime(), new Date().constructor === Date]"

    async def twice() -> tuple[Any, Any]:
        first = await told(command(tmp_path, ""), program)
        moments = [moment for message in first for moment in message["moments"]]
        host = await Host.of(command(tmp_path, ""))
        order = {"program": program, "data": None, "seed": 1, "state": "", "moments": moments}
        host.say(order)
        await host.hear(5)
        host.say({"modules": {}})
        await host.hear(5)
        host.say({"go": True})
        second = await host.hear(5)
        await host.end()
        return first[-1]["done"], second["done"]

    first, second = asyncio.run(twice())
    assert first == second
    assert first[3:] == [0, True]
