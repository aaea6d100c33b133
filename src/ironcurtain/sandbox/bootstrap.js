// What the JavaScript engine starts with: takes away everything that is not the language, then runs one program.
//
// It speaks to the daemon as the Python host does, a line of JSON for each message. The program is never the main module,
// which may read any file that it imports: it is loaded from its own text, where no permission is left. Nothing here is
// trusted: a program that gets hold of these pipes can say no more through them than by calling a function.

const { stdin, stdout } = Deno;
const { parse, stringify } = JSON;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const clock = Date.now;
const toBase64 = btoa;
const leave = Deno.exit;
const { addEventListener } = globalThis;

const KEPT = new Set(
  `globalThis Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise
  RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError JSON Math Intl
  ArrayBuffer Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array
  Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set Iterator WeakMap WeakSet Proxy Reflect
  decodeURI decodeURIComponent encodeURI encodeURIComponent isFinite isNaN structuredClone atob btoa TextEncoder
  TextDecoder URL URLSearchParams`.split(/\s+/),
);

const limits = parse(Deno.args[0]);
let unread = "";
let printed = "";
let left = limits.output;
let moments = [];

function say(message) {
  const bytes = encoder.encode(stringify({ ...message, printed, moments, cut: left < 0 }) + "\n");
  printed = "";
  moments = [];
  for (let done = 0; done < bytes.length; ) done += stdout.writeSync(bytes.subarray(done));
}

function hear() {
  const chunk = new Uint8Array(65536);
  for (;;) {
    const end = unread.indexOf("\n");
    if (end >= 0) {
      const line = unread.slice(0, end);
      unread = unread.slice(end + 1);
      return parse(line);
    }
    const size = stdin.readSync(chunk);
    if (size === null) throw new Error("nobody is there any more");
    unread += decoder.decode(chunk.subarray(0, size), { stream: true });
  }
}

class PermissionError extends Error {
  name = "PermissionError";
}
class LookupError extends Error {
  name = "LookupError";
}
const KINDS = { PermissionError, LookupError, TypeError, RuntimeError: Error };

function call(name, args, kwargs) {
  say({ call: { name, args, kwargs } });
  const answer = hear();
  if (answer.keep) {
    say({ state: "" });
    hear(); // nothing comes: the daemon ends this process, and another one does again what was done so far
  }
  if (answer.raise) throw new KINDS[answer.raise[0]](answer.raise[1]);
  return answer.value;
}

function tool(name) {
  return (given = {}) => {
    if (given === null || typeof given !== "object" || Array.isArray(given)) {
      throw new TypeError(`${name} takes one object of named arguments`);
    }
    return call(name, [], given);
  };
}

function shown(value) {
  if (typeof value === "string") return value;
  try {
    return stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

function print(...values) {
  const line = values.map(shown).join(" ") + "\n";
  if (left > 0) printed += line.slice(0, left);
  left -= line.length;
}

// A program must do the same again when it is repeated: so chance has a seed, and the clock is written down.

function random(seed) {
  const mask = (1n << 64n) - 1n;
  let state = BigInt(seed);
  return () => {
    state = (state + 0x9e3779b97f4a7c15n) & mask;
    let mixed = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & mask;
    return Number((mixed ^ (mixed >> 31n)) >> 11n) / 2 ** 53;
  };
}

function recorded(known) {
  return () => {
    const moment = known.length ? known.shift() : clock() / 1000;
    moments.push(moment);
    return Math.round(moment * 1000);
  };
}

function clocked(now) {
  const Real = Date;
  const { construct } = Reflect;
  function Recorded(...given) {
    if (new.target === undefined) return new Real(now()).toString();
    return construct(Real, given.length ? given : [now()], new.target);
  }
  const own = { name: "Date", prototype: Real.prototype, now, UTC: Real.UTC, parse: Real.parse };
  for (const [name, value] of Object.entries(own)) Object.defineProperty(Recorded, name, { value });
  Object.defineProperty(Real.prototype, "constructor", { value: Recorded });
  return Recorded;
}

function clockedFormats(now) {
  const own = Intl.DateTimeFormat.prototype;
  const { get } = Object.getOwnPropertyDescriptor(own, "format");
  const { formatToParts } = own;
  Object.defineProperty(own, "format", {
    get() {
      const format = get.call(this);
      return (date) => format(date === undefined ? now() : date);
    },
  });
  Object.defineProperty(own, "formatToParts", {
    value(date) {
      return formatToParts.call(this, date === undefined ? now() : date);
    },
  });
}

// What a program sends is what its text says: nothing that it gives to these can turn a message into another.
function steady() {
  for (const kind of [Object, Array, String, Number, Boolean, Function, Symbol, BigInt]) {
    Object.defineProperty(kind.prototype, "toJSON", { value: undefined });
  }
}

function furnish(order, modules) {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!KEPT.has(name) && !Reflect.deleteProperty(globalThis, name)) {
      Object.defineProperty(globalThis, name, { value: undefined });
    }
  }
  const now = recorded([...order.moments]);
  const console = Object.freeze({ log: print, info: print, warn: print, error: print, debug: print });
  clockedFormats(now);
  const own = { PermissionError, LookupError, Date: clocked(now), data: order.data, console, print: Object.freeze(print) };
  own.help = Object.freeze((what) => call("help", [String(what)], {}));
  for (const [name, module] of Object.entries(modules)) {
    const ours = name === "tools";
    const functions = module.functions.map((each) => [
      each,
      Object.freeze(ours ? (...args) => call(`tools.${each}`, args, {}) : tool(`${name}.${each}`)),
    ]);
    own[name] = Object.freeze(Object.fromEntries(functions));
  }
  for (const [name, value] of Object.entries(own)) Object.defineProperty(globalThis, name, { value });
  Object.defineProperty(Math, "random", { value: random(order.seed) });
}

function address(program) {
  const bytes = encoder.encode(`export default await (async () => {${program}\n})();`);
  return `data:application/typescript;base64,${toBase64(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

function fail(error) {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${shown(error)}`;
  say({ failed: { kind: error instanceof SyntaxError ? "syntax" : "error", message } });
}

say({ ready: true });
const order = hear();
say({ wants: [] });
const { modules } = hear();
say({ plan: {} }); // both are known to the daemon, from the text
if (hear().go) {
  const program = address(order.program);
  furnish(order, modules);
  steady();
  addEventListener("unhandledrejection", ({ reason }) => {
    fail(reason);
    leave(0);
  });
  try {
    const { default: value } = await import(program);
    const text = stringify(value ?? null);
    if (text === undefined) throw new TypeError("what the program returns is not JSON");
    say({ done: parse(text) });
  } catch (error) {
    fail(error);
  }
}
