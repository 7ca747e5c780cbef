/**
 * Events of AWS (subscriptions of CloudWatch Logs, and objects in S3) with bodies that are small when they are
 * sent and large when they are decompressed. The function ends each with an error that says why, or drops what is
 * not an entry, and its memory stays bounded.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runtimeFlags } from '../../bin/tuning.mjs';
import type { EventFunction, EventOutcome, HostileEvent } from './support/event-victim.ts';
import { GB, MIB, MOST_BYTES, NOISE, once as one, repeated, spaces } from './support/hostile/pieces.ts';
import { gzipOf } from './support/packed.ts';

/**
 * Maximum of the process, including Node.js and the program, which take 135 MB. An object is read in parts, so
 * its size does not count; an envelope is decompressed as a whole. A function for events has 1,024 MB.
 */
const MAX_RESIDENT_BYTES: Readonly<Record<EventFunction, number>> = {
  's3-objects': 350_000_000,
  'cloudwatch-logs': 600_000_000,
};
const OBJECT_BYTES = 256 * MIB;
/** Each is a line to look at. */
const LINE_FEED_BYTES = 16 * MIB;

const ENVELOPE = `{"messageType":"DATA_MESSAGE","owner":"1","logGroup":"g","${NOISE}":1,"logEvents":[`;
const event = (message: string) => `{"id":"1","timestamp":${Date.now()},"message":"${message}"}`;
const OVER_SIZE =
  'request body too large: decompressed message size too large than max (134217729 vs 134217728)';

/**
 * Description, function, body, number of stored entries, error. The last part of an endless line can be short
 * enough to be stored.
 */
const EVENTS: readonly (readonly [string, EventFunction, () => Buffer, number, string | undefined])[] = [
  ['1 GB of spaces', 'cloudwatch-logs', () => gzipOf(spaces(GB)), 0, OVER_SIZE],
  [
    'short events',
    'cloudwatch-logs',
    () => gzipOf(one(`${ENVELOPE}${event('')}`), repeated(`,${event('')}`, 100 * MIB), one(']}')),
    0,
    'request body too large: more than 1000000 entries',
  ],
  [
    'one event of escapes',
    'cloudwatch-logs',
    () =>
      gzipOf(
        one(`${ENVELOPE}{"timestamp":${Date.now()},"message":"`),
        repeated('\\u0020', 100 * MIB),
        one('"}]}'),
      ),
    0,
    undefined,
  ],
  [
    'open brackets',
    'cloudwatch-logs',
    () => gzipOf(one(`{"${NOISE}":`), repeated('[', 100 * MIB)),
    0,
    'exceeded max depth',
  ],
  ['line feeds', 's3-objects', () => gzipOf(repeated('\n'.repeat(1024), LINE_FEED_BYTES)), 0, undefined],
  ['one line of spaces', 's3-objects', () => gzipOf(spaces(OBJECT_BYTES)), 0, undefined],
  ['one line of text', 's3-objects', () => gzipOf(repeated('x'.repeat(1024), OBJECT_BYTES)), 1, undefined],
  ['one document', 's3-objects', () => gzipOf(one('{"a":"'), spaces(OBJECT_BYTES), one('"}')), 1, undefined],
  [
    'one record of CloudTrail',
    's3-objects',
    () => gzipOf(one('{"Records":[{"a":'), repeated('[', MOST_BYTES)),
    1,
    undefined,
  ],
  [
    'gzip that ends early',
    's3-objects',
    () => gzipOf(spaces(MIB)).subarray(0, -9),
    0,
    'unexpected end of file',
  ],
];

async function outcomeOf(event: HostileEvent): Promise<EventOutcome & { readonly peakBytes: number }> {
  const child = fork(join(import.meta.dirname, 'support', 'event-victim.ts'), {
    execArgv: [...runtimeFlags()],
  });
  try {
    await once(child, 'message');
    child.send(event);
    const [outcome] = (await once(child, 'message')) as [EventOutcome];
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    return { ...outcome, peakBytes: Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024 };
  } finally {
    child.kill('SIGKILL');
  }
}

test.each(EVENTS)('%s to %s', async (_, name, bodyOf, entries, error) => {
  const folder = await mkdtemp(join(tmpdir(), 'logboom-event-'));
  try {
    const file = join(folder, 'body');
    await writeFile(file, bodyOf());
    const { peakBytes, ...outcome } = await outcomeOf({ name, file });
    expect(outcome).toEqual({
      entries,
      ...(error !== undefined && { error: expect.stringContaining(error) }),
    });
    expect(peakBytes).toBeLessThan(MAX_RESIDENT_BYTES[name]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
