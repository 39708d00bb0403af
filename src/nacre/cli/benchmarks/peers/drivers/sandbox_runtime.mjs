// sandbox-runtime: the workspace writable and no network. `srt` starts the program for each call; `api` keeps
// its manager open, and starts what that makes of a script. Either starts a fresh shell. ./wire.py says what is
// said on the wire.
import { execFile, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [how, folder] = process.argv.slice(2);
const home = join(folder, "node_modules/@anthropic-ai/sandbox-runtime");
const settings = {
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: [], allowRead: [], allowWrite: ["."], denyWrite: [] },
};

async function command() {
  const file = join(process.env.HOME, "settings.json");
  writeFileSync(file, JSON.stringify(settings));
  const words = [join(home, "dist/cli.js"), "--settings", file, "-c"];
  const call = (script) =>
    new Promise((resolve, reject) =>
      execFile(process.execPath, [...words, script], (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      ),
    );
  return { call, close: async () => {} };
}

async function manager() {
  const { SandboxManager } = await import(pathToFileURL(join(home, "dist/index.js")));
  await SandboxManager.initialize(settings);
  const call = async (script) => {
    const line = await SandboxManager.wrapWithSandbox(script);
    const output = await new Promise((resolve, reject) => {
      const child = spawn(line, { shell: true, stdio: ["ignore", "pipe", "pipe"] });
      const parts = { stdout: "", stderr: "" };
      for (const stream of ["stdout", "stderr"]) {
        child[stream].on("data", (data) => (parts[stream] += data));
      }
      child.on("error", reject);
      child.on("close", (code) => (code ? reject(new Error(parts.stderr)) : resolve(parts.stdout)));
    });
    SandboxManager.cleanupAfterCommand();
    return output;
  };
  return { call, close: () => SandboxManager.reset() };
}

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const { call, close } = await (how === "srt" ? command() : manager());
say({ version: JSON.parse(readFileSync(join(home, "package.json"), "utf8")).version });
for await (const line of createInterface({ input: process.stdin })) {
  const began = performance.now();
  const output = await call(JSON.parse(line));
  say({ seconds: (performance.now() - began) / 1e3, output });
}
await close();
process.exit(0);
