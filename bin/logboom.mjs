#!/usr/bin/env node
/**
 * Command `logboom` and `npm start`. In a checkout it installs missing packages and runs a bundle of the
 * sources. In an installed package it runs the included bundle. It runs in this process if its Node.js is new
 * enough for the command, else in a child process of another Node.js.
 */
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cacheFolder, ensureInstalled, ROOT } from './installed.mjs';
import { isNewEnough, runsClient } from './needed-node.mjs';

const isCheckout = existsSync(join(ROOT, 'bin', 'logboom.ts'));
const asksForHelp = process.argv.some(argument => argument === '--help' || argument === '-h');
/** Starts a store. Its help needs no second process with the store's flags. */
const isStart = process.argv[2] === 'start' && !asksForHelp;
if (isCheckout) ensureInstalled();
if (isNewEnough(process.version)) await runHere();
else if (runsClient(process.version, process.argv.slice(2))) await runClientHere();
else await runInNewerNode();

async function runInNewerNode() {
  const { runAndExit } = await import('./runtime.mjs');
  runAndExit(fileURLToPath(import.meta.url), process.argv.slice(2), { ipc: isStart });
}

async function runHere() {
  // Threads inherit it from the environment. The module is loaded dynamically, because an older Node.js,
  // which stops before this line, does not export the name.
  process.env.NODE_COMPILE_CACHE ??= cacheFolder();
  // Must run first: code that was compiled with other flags is not reused.
  if (isStart) {
    const { becomeTuned } = await import('./tuning.mjs');
    becomeTuned(fileURLToPath(import.meta.url), process.argv.slice(2));
  }
  nodeModule.enableCompileCache();
  silenceExperimental();
  if (isStart) {
    const { stopWithNpm } = await import('./runtime.mjs');
    stopWithNpm(() => process.kill(process.pid, 'SIGTERM'));
  }
  const file = await programFile();
  if (file.endsWith('.cjs')) load(file);
  // Runs from the sources.
  else await import(pathToFileURL(file).href);
}

/**
 * Runs a command that talks to a store, in a Node.js that is too old for the others. Modules for other runtimes are loaded on first use,
 * because they take a tenth of its time.
 */
async function runClientHere() {
  process.env.NODE_COMPILE_CACHE ??= cacheFolder();
  // Used by bin/cli/newer-node.ts.
  const path = async () => (await import('./runtime.mjs')).findRuntimes()[0];
  globalThis[Symbol.for('logboom.newerNode')] = { path, run: runInNewerNode };
  const file = await programFile();
  if (file.endsWith('.cjs')) load(file);
  // An older Node.js cannot run the sources.
  else await runInNewerNode();
}

async function programFile() {
  return isCheckout
    ? (await import('./checkout.mjs')).programOfCheckout({ stays: isStart })
    : join(ROOT, 'dist', 'server', 'logboom.cjs');
}

function load(file) {
  nodeModule.createRequire(import.meta.url)(file);
}

/** Suppresses warnings about experimental features of Node.js, which do not concern users. */
function silenceExperimental() {
  const [shown] = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', warning => {
    if (warning.name !== 'ExperimentalWarning') shown?.call(process, warning);
  });
}
