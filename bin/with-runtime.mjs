#!/usr/bin/env node
/** `node bin/with-runtime.mjs FILE args...`: runs a file, also TypeScript, with the pinned Node.js. */
import { ensureInstalled, say } from './installed.mjs';
import { runAndExit } from './runtime.mjs';

const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  say('usage: node bin/with-runtime.mjs FILE [argument...]');
  process.exit(2);
}
ensureInstalled();
runAndExit(file, args);
