// UTCP's code mode, measured as ours is: milliseconds for a program that does nothing, for one call from code, for the
// same call without code, and for ten calls; as one line of JSON. `node bench.mjs PYTHON ECHO_SERVER BLOCKS CALLS`

import { CodeModeUtcpClient } from "@utcp/code-mode";
import "@utcp/mcp";

const [python, server, blocks, calls] = process.argv.slice(2);
const log = console.log;
console.log = () => {};

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const timed = async (work) => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const client = await CodeModeUtcpClient.create();
const config = { mcpServers: { echo: { transport: "stdio", command: python, args: [server] } } };
await client.registerManual({ name: "bench", call_template_type: "mcp", config });
const run = async (program) => {
  const { result } = await client.callToolChain(program);
  if (result === null) throw new Error("the program failed");
};
const loop = `for (let n = 0; n < ${calls}; n++) bench.echo_echo({text: "hello"}); return 1`;

await run("return 1");
log(JSON.stringify({ ready: true }));
const [empty, coded, native] = [[], [], []];
for (let block = 0; block < Number(blocks); block++) {
  for (let n = 0; n < Number(calls); n++) {
    native.push(await timed(() => client.callTool("bench.echo.echo", { text: "hello" })));
  }
  empty.push(await timed(() => run("return 1")));
  coded.push(((await timed(() => run(loop))) - empty.at(-1)) / Number(calls));
}
const ten = await timed(() => run(`for (let n = 0; n < 10; n++) bench.echo_echo({text: "hello"}); return 1`));
log(JSON.stringify({ warm: median(empty), coded: median(coded), native: median(native), ten }));
process.exit(0);
