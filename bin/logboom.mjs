#!/usr/bin/env node
/**
 * Command `logboom` and `npm start`. In a checkout it installs missing packages and runs a bundle of the
 * sources. In an installed package it runs the included bundle. It runs in this process if its Node.js is new
 * enough, else in a child process of another Node.js.
 */
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, ROOT } from './installed.mjs';
import { isNewEnough } from './needed-node.mjs';
import { cacheFolder, runAndExit, stopWithNpm } from './runtime.mjs';
import { becomeTuned } from './tuning.mjs';

const isCheckout = existsSync(join(ROOT, 'bin', 'logboom.ts'));
const asksForHelp = process.argv.some(argument => argument === '--help' || argument === '-h');
/** Starts a store. Its help needs no second process with the store's flags. */
const isStart = process.argv[2] === 'start' && !asksForHelp;
if (isCheckout) ensureInstalled();
if (isNewEnough(process.version)) await runHere();
else runAndExit(fileURLToPath(import.meta.url), process.argv.slice(2), { ipc: isStart });

async function runHere() {
  // Threads inherit it from the environment. The module is loaded dynamically, because an older Node.js,
  // which stops before this line, does not export the name.
  process.env.NODE_COMPILE_CACHE ??= cacheFolder();
  // Must run first: code that was compiled with other flags is not reused.
  if (isStart) becomeTuned(fileURLToPath(import.meta.url), process.argv.slice(2));
  nodeModule.enableCompileCache();
  silenceExperimental();
  if (isStart) stopWithNpm(() => process.kill(process.pid, 'SIGTERM'));
  const file = isCheckout
    ? await (await import('./checkout.mjs')).programOfCheckout({ stays: isStart })
    : join(ROOT, 'dist', 'server', 'logboom.cjs');
  if (file.endsWith('.cjs')) nodeModule.createRequire(import.meta.url)(file);
  // Runs from the sources.
  else await import(pathToFileURL(file).href);
}

/** Suppresses warnings about experimental features of Node.js, which do not concern users. */
function silenceExperimental() {
  const [shown] = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', warning => {
    if (warning.name !== 'ExperimentalWarning') shown?.call(process, warning);
  });
}
