#!/usr/bin/env node
/**
 * The command `logboom` and `npm start`. In a checkout it installs what is missing and runs a bundle of the sources; in an installed
 * package it runs the bundle that is in it. It runs in this process where its Node is new enough, else in one of another Node, which
 * this process waits for.
 */
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, ROOT } from './installed.mjs';
import { isNewEnough } from './needed-node.mjs';
import { becomeTuned, cacheFolder, runAndExit, stopWithNpm } from './runtime.mjs';

const isCheckout = existsSync(join(ROOT, 'bin', 'logboom.ts'));
const isStart = process.argv[2] === 'start';
if (isCheckout) ensureInstalled();
if (isNewEnough(process.version)) await runHere();
else runAndExit(fileURLToPath(import.meta.url), process.argv.slice(2), { ipc: isStart });

async function runHere() {
  // Threads have it from the environment. By the module: an older Node, which comes no further than the lines above, has no such name.
  process.env.NODE_COMPILE_CACHE ??= cacheFolder();
  // Before: what was compiled with other flags is not taken.
  if (isStart) becomeTuned(fileURLToPath(import.meta.url), process.argv.slice(2));
  nodeModule.enableCompileCache();
  silenceExperimental();
  if (isStart) stopWithNpm(() => process.kill(process.pid, 'SIGTERM'));
  const file = isCheckout
    ? await (await import('./checkout.mjs')).programOfCheckout({ stays: isStart })
    : join(ROOT, 'dist', 'server', 'logboom.cjs');
  if (file.endsWith('.cjs')) nodeModule.createRequire(import.meta.url)(file);
  // Sources.
  else await import(pathToFileURL(file).href);
}

/** What of Node is experimental is no news for whoever asks for logs. */
function silenceExperimental() {
  const [shown] = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', warning => {
    if (warning.name !== 'ExperimentalWarning') shown?.call(process, warning);
  });
}
