/**
 * Makes a Node program smaller for the store, which needs neither symbols nor languages other than English: 80 MB instead of 127.
 * Plain JavaScript without packages, for any Node from 20.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { ELF, isElf, number, PROGRAM } from './elf.mjs';
import { dropLanguages } from './node-languages.mjs';

const PROBE_TIMEOUT_MS = 60_000;

/** Shrinks a Node program in its place. Returns whether it lost its languages too: only if it then answers as before. */
export function shrinkNode(file) {
  dropSymbols(file);
  const smaller = `${file}.smaller`;
  try {
    if (!dropLanguages(file, smaller)) return false;
    chmodSync(smaller, 0o755);
    const [before, after] = [answersOf(file), answersOf(smaller)];
    if (before === undefined || after !== before) return false;
    renameSync(smaller, file);
    return true;
  } finally {
    rmSync(smaller, { force: true });
  }
}

/** Cuts an ELF file behind what is loaded into memory, which takes its symbols and its table of sections. Others stay as they are. */
export function dropSymbols(file) {
  const handle = openSync(file, 'r+');
  try {
    const head = Buffer.alloc(ELF.bytes);
    readSync(handle, head, 0, ELF.bytes, 0);
    if (!isElf(head)) return;
    const size = head.readUInt16LE(ELF.programSize);
    const programs = Buffer.alloc(size * head.readUInt16LE(ELF.programCount));
    readSync(handle, programs, 0, programs.length, number(head, ELF.programs));
    let end = number(head, ELF.programs) + programs.length;
    for (let at = 0; at < programs.length; at += size)
      end = Math.max(end, number(programs, at + PROGRAM.offset) + number(programs, at + PROGRAM.fileSize));
    head.writeBigUInt64LE(0n, ELF.sections);
    // Number of sections, and which of them has their names.
    head.writeUInt32LE(0, ELF.sectionCount);
    writeSync(handle, head, 0, ELF.bytes, 0);
    ftruncateSync(handle, end);
  } finally {
    closeSync(handle);
  }
}

/** Output of a program for the checks; undefined if it does not run. */
function answersOf(program) {
  const script = `process.stdout.write(JSON.stringify((${answers})()))`;
  // Whatever the user's language is: that one may be gone.
  const options = { encoding: 'utf8', env: { LC_ALL: 'C', TZ: 'UTC' }, timeout: PROBE_TIMEOUT_MS };
  const { status, stdout } = spawnSync(program, ['--eval', script], options);
  return status === 0 && stdout !== '' ? stdout : undefined;
}

/** Runs in the program, as text: what the store takes from ICU. */
function answers() {
  const date = new Date(1_700_000_000_000);
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Sydney',
    'Asia/Kolkata',
    'Africa/Lagos',
    'Pacific/Auckland',
  ];
  const locales = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA'];
  const formats = ['short', 'long', 'longOffset'];
  const times = locales.flatMap(locale =>
    zones.flatMap(timeZone =>
      formats.map(timeZoneName => date.toLocaleString(locale, { timeZone, timeZoneName })),
    ),
  );
  const texts = [
    (1_234_567.89).toLocaleString('en-US'),
    'e\u0301'.normalize('NFC'),
    '\ufb01'.normalize('NFKD'),
    new URL('http://m\u00fcnchen.example').host,
    ['b', '\u00e4', 'a', 'Z'].sort(new Intl.Collator('en').compare),
    /^\p{Lu}\p{Script=Greek}$/u.test('\u0391\u0392'),
    new TextDecoder('utf-16le').decode(new Uint8Array([0x42, 0x30])),
    Intl.supportedValuesOf('timeZone'),
  ];
  return [process.version, times, texts];
}
