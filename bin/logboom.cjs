#!/usr/bin/env node
/**
 * Command `logboom` and `npm start`. In a checkout it installs missing packages and runs a bundle of the
 * sources. In an installed package it runs the included bundle. It runs in this process if its Node.js is new
 * enough for the command, else in a child process of another Node.js.
 *
 * CommonJS, and other modules are loaded on first use: Node's loader of ES modules and what they import took a
 * tenth of the time of a command that talks to a store.
 */
const { existsSync } = require('node:fs');
const nodeModule = require('node:module');
const { join } = require('node:path');
const { cacheFolder, ROOT } = require('./folders.cjs');
const { CLIENT_COMMANDS, isNewEnough, runsClient } = require('./needed-node.cjs');

const isCheckout = existsSync(join(ROOT, 'bin', 'logboom.ts'));
const asksForHelp = process.argv.some(argument => argument === '--help' || argument === '-h');
/** Starts a store. Its help needs no second process with the store's flags. */
const isStart = process.argv[2] === 'start' && !asksForHelp;

// Used by bin/load-bundle.cjs.
if (CLIENT_COMMANDS.includes(process.argv[2]))
  globalThis[Symbol.for('logboom.command')] = `.${process.argv[2]}`;
void main();

async function main() {
  const bundle = isCheckout ? await bundleOfCheckout() : join(ROOT, 'dist', 'server');
  if (isNewEnough(process.version)) await runHere(bundle);
  else if (runsClient(process.version, process.argv.slice(2))) await runClientHere(bundle);
  else await runInNewerNode();
}

/** Folder of a bundle of the sources as they are. Without one, installs missing packages. */
async function bundleOfCheckout() {
  const folder = require('./fresh-bundle.cjs').freshBundle();
  if (folder === undefined) (await import('./installed.mjs')).ensureInstalled();
  return folder;
}

async function runInNewerNode() {
  const { runAndExit } = await import('./runtime.mjs');
  runAndExit(__filename, process.argv.slice(2), { ipc: isStart });
}

async function runHere(bundle) {
  // Threads inherit it from the environment.
  process.env.NODE_COMPILE_CACHE ??= cacheFolder();
  // Must run first: code that was compiled with other flags is not reused.
  if (isStart) {
    const { becomeTuned } = await import('./tuning.mjs');
    becomeTuned(__filename, process.argv.slice(2));
  }
  nodeModule.enableCompileCache();
  silenceExperimental();
  if (isStart) {
    const { stopWithNpm } = await import('./runtime.mjs');
    stopWithNpm(() => process.kill(process.pid, 'SIGTERM'));
  }
  const file = await programFile(bundle);
  if (file.endsWith('.cjs')) require(file);
  // Runs from the sources.
  else await import(require('node:url').pathToFileURL(file).href);
}

/** Runs a command that talks to a store, in a Node.js that is too old for the others. */
async function runClientHere(bundle) {
  process.env.NODE_COMPILE_CACHE ??= cacheFolder();
  // Used by bin/cli/newer-node.ts.
  const path = async () => (await import('./runtime.mjs')).findRuntimes()[0];
  globalThis[Symbol.for('logboom.newerNode')] = { path, run: runInNewerNode };
  const file = await programFile(bundle);
  if (file.endsWith('.cjs')) require(file);
  // An older Node.js cannot run the sources.
  else await runInNewerNode();
}

async function programFile(bundle) {
  const stays = isCheckout && isStart;
  if (bundle !== undefined && !stays) return join(bundle, 'logboom.cjs');
  return (await import('./checkout.mjs')).programOfCheckout({ stays });
}

/** Suppresses warnings about experimental features of Node.js, which do not concern users. */
function silenceExperimental() {
  const [shown] = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', warning => {
    if (warning.name !== 'ExperimentalWarning') shown?.call(process, warning);
  });
}
