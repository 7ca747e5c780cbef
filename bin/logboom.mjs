#!/usr/bin/env node
/** The command `logboom` and `npm start`: installs what is missing, then runs logboom.ts under the pinned Node. */
import { join } from 'node:path';
import { ensureInstalled, ROOT } from './installed.mjs';
import { runAndExit } from './runtime.mjs';

ensureInstalled();
runAndExit(join(ROOT, 'bin', 'logboom.ts'), process.argv.slice(2), { ipc: true });
