#!/usr/bin/env node
/** The command by its former path, for service files and links that name it. */
import { createRequire } from 'node:module';

createRequire(import.meta.url)('./logboom.cjs');
