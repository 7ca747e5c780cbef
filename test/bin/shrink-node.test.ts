/** Shrinking the Node that a machine with an older one gets (bin/shrink-node.mjs). */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { shrinkNode } from '../../bin/shrink-node.mjs';

/** The package installed has 15 MB, and 100 together are the goal. */
const MAX_BYTES = 85_000_000;
const PROGRAM = `
const { zstdCompressSync, zstdDecompressSync } = require('node:zlib');
const { DatabaseSync } = require('node:sqlite');
const text = zstdDecompressSync(zstdCompressSync('text')).toString();
const { sum } = new DatabaseSync(':memory:').prepare('select 1 + 1 as sum').get();
const zone = new Date(0).toLocaleString('en-GB', { timeZone: 'Europe/Berlin', timeZoneName: 'short' });
let caught;
try { null.x } catch (error) { caught = error.name }
console.log([text, sum, zone, caught].join());
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'logboom-shrink-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a shrunk Node.js and the package need less than 100 MB, and it runs as before', () => {
  const file = join(folder, 'node');
  copyFileSync(process.execPath, file);
  expect(shrinkNode(file)).toBe(true);
  expect(statSync(file).size).toBeLessThan(MAX_BYTES);
  expect(readdirSync(folder)).toEqual(['node']);
  const options = { encoding: 'utf8', env: { NODE_NO_WARNINGS: '1' } } as const;
  const { stdout, stderr } = spawnSync(file, ['--eval', PROGRAM], options);
  expect({ stdout, stderr }).toEqual({ stdout: 'text,2,01/01/1970, 1:00:00 CET,TypeError\n', stderr: '' });
});

test('shrinking a second time changes nothing', () => {
  const file = join(folder, 'node');
  copyFileSync(process.execPath, file);
  shrinkNode(file);
  const { size } = statSync(file);
  expect(shrinkNode(file)).toBe(false);
  expect(statSync(file).size).toBe(size);
});

test('a program that does not run keeps its languages', () => {
  const file = join(folder, 'node');
  const bytes = readFileSync(process.execPath);
  // The loader that the kernel starts for it: there is none of that name.
  bytes.write('/no', bytes.indexOf('/lib'));
  writeFileSync(file, bytes);
  expect(shrinkNode(file)).toBe(false);
  expect(statSync(file).size).toBeGreaterThan(MAX_BYTES);
  expect(readdirSync(folder)).toEqual(['node']);
});

test.each(['', '#!/bin/sh\necho v24.0.0\n', `\x7fELF${'\0'.repeat(20)}`])('%j stays as it is', text => {
  const file = join(folder, 'node');
  writeFileSync(file, text);
  expect(shrinkNode(file)).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe(text);
});
