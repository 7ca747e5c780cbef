#!/usr/bin/env node
/**
 * The command `logboom` and `npm start`. In a checkout it installs what is missing and runs the sources; in an installed package it
 * runs what was compiled. The store runs in a process of its own, with flags of V8; other commands run in this one where it is
 * new enough, which saves the start of a second.
 */
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, ROOT } from './installed.mjs';
import { cacheFolder, isNewEnough, runAndExit } from './runtime.mjs';

const source = join(ROOT, 'bin', 'logboom.ts');
const isCheckout = existsSync(source);
if (isCheckout) ensureInstalled();
const file = isCheckout ? source : join(ROOT, 'dist', 'bin', 'logboom.js');
if (process.argv[2] !== 'start' && isNewEnough(process.version)) {
  // By the module: an older Node, which comes no further than the line above, has no such name to import.
  nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE ?? cacheFolder());
  silenceExperimental();
  await import(pathToFileURL(file).href);
} else {
  runAndExit(file, process.argv.slice(2), { ipc: true });
}

/** What of Node is experimental is no news for whoever asks for logs. */
function silenceExperimental() {
  const [shown] = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', warning => {
    if (warning.name !== 'ExperimentalWarning') shown?.call(process, warning);
  });
}
