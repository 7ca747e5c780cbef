import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { labelsOf } from '../../shared/base/model/labels.ts';
import { MAX_FRAME_ENTRIES } from '../../shared/read/tail/bounds.ts';
import {
  type DroppedEntry,
  droppedOfFrame,
  encodeFrame,
  entriesOfFrame,
  MIN_MESSAGE_BYTES,
} from '../../shared/read/tail/frames.ts';
import { instantText } from '../../shared/read/tail/instant-text.ts';
import { type EntryForm, type TailEntry, tailEntry } from '../../shared/read/tail/tail-entry.ts';

const CURRENT = { form: 'current', flags: [] } as const;
const LABELS = labelsOf({ app: 'a', __proto__x: 'é' });

function entry(timeNs: bigint, line: string, form: EntryForm = 'plain'): TailEntry {
  return tailEntry({ timeNs, line, labels: LABELS }, form, '');
}

test.each<[string, () => Buffer, string]>([
  ['nothing', () => encodeFrame([], [], CURRENT), '{"streams":[]}'],
  [
    'an object for each entry, labels in order',
    () => encodeFrame([entry(1n, 'x'), entry(2n, '"\n')], [], CURRENT),
    '{"streams":[{"stream":{"__proto__x":"é","app":"a"},"values":[["1","x"]]},' +
      '{"stream":{"__proto__x":"é","app":"a"},"values":[["2","\\"\\n"]]}]}',
  ],
  [
    'what was dropped; without labels where there are none',
    () =>
      encodeFrame(
        [],
        [
          { timeNs: 5n, labels: labelsOf({ a: 'b' }) },
          { timeNs: 6n, labels: [] },
        ],
        CURRENT,
      ),
    '{"streams":[],"dropped_entries":[{"timestamp":"5","labels":{"a":"b"}},{"timestamp":"6"}]}',
  ],
  [
    'flags as they were sent',
    () => encodeFrame([], [], { form: 'current', flags: ['categorize-labels', 'x'] }),
    '{"streams":[],"encodingFlags":["categorize-labels","x"]}',
  ],
  [
    'categories, both, one, none',
    () =>
      encodeFrame(
        [
          { structuredMetadata: labelsOf({ t: '1' }), parsed: labelsOf({ p: '2' }) },
          { structuredMetadata: labelsOf({ t: '1' }) },
          {},
        ].map(more =>
          tailEntry({ timeNs: 1n, line: 'x', labels: labelsOf({ a: 'b' }), ...more }, 'categorized', ''),
        ),
        [],
        CURRENT,
      ),
    '{"streams":[{"stream":{"a":"b"},"values":[["1","x",{"structuredMetadata":{"t":"1"},"parsed":{"p":"2"}}]]},' +
      '{"stream":{"a":"b"},"values":[["1","x",{"structuredMetadata":{"t":"1"}}]]},' +
      '{"stream":{"a":"b"},"values":[["1","x",{}]]}]}',
  ],
  [
    'the older form',
    () =>
      encodeFrame([entry(1_500_000_000n, 'x', 'legacy')], [{ timeNs: 1n, labels: labelsOf({ a: 'b' }) }], {
        form: 'legacy',
        flags: ['x'],
      }),
    '{"streams":[{"labels":"{__proto__x=\\"é\\", app=\\"a\\"}","entries":[{"ts":"1970-01-01T00:00:01.5Z","line":"x"}]}],' +
      '"dropped_entries":[{"Timestamp":"1970-01-01T00:00:00.000000001Z","Labels":"{a=\\"b\\"}"}]}',
  ],
  [
    'the older form of nothing',
    () => encodeFrame([], [], { form: 'legacy', flags: [] }),
    '{"streams":[],"dropped_entries":null}',
  ],
])('%s', (_, frame, text) => {
  expect(frame().toString()).toBe(text);
});

test.each([
  [0n, '1970-01-01T00:00:00Z'],
  [1n, '1970-01-01T00:00:00.000000001Z'],
  [-1n, '1969-12-31T23:59:59.999999999Z'],
  [1_767_607_200_120_000_000n, '2026-01-05T10:00:00.12Z'],
])('%d ns is %s', (ns, text) => {
  expect(instantText(ns)).toBe(text);
});

const arbitraryLine = fc.oneof(
  fc.string({ maxLength: 40, unit: 'grapheme' }),
  fc.integer({ min: 0, max: 3 * MIN_MESSAGE_BYTES }).map(length => 'é'.repeat(length / 2)),
);

test('entries cut to frames: none over its size, in their order, each in one frame or too large for any', () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryLine, { maxLength: 250 }),
      fc.integer({ min: 1, max: 2 * MIN_MESSAGE_BYTES }),
      fc.integer({ min: MIN_MESSAGE_BYTES, max: 2 * MIN_MESSAGE_BYTES }),
      (lines, targetBytes, maxBytes) => {
        const limits = { targetBytes: Math.min(targetBytes, maxBytes), maxBytes };
        const entries = lines.map((line, i) => entry(BigInt(i), line));
        const shown: string[] = [];
        const large: string[] = [];
        for (let from = 0; from < entries.length; ) {
          const count = entriesOfFrame(entries, from, limits);
          if (count === 0) {
            const alone = encodeFrame([entries[from]], [], CURRENT);
            // No entry is dropped that would fit with the other contents of a frame.
            expect(alone.length).toBeGreaterThan(maxBytes - 600);
            large.push(lines[from++]);
            continue;
          }
          expect(count).toBeLessThanOrEqual(MAX_FRAME_ENTRIES);
          const frame = encodeFrame(entries.slice(from, from + count), [], CURRENT);
          expect(frame.length).toBeLessThanOrEqual(count === 1 ? maxBytes : limits.targetBytes);
          const { streams } = JSON.parse(frame.toString()) as { streams: { values: [string, string][] }[] };
          shown.push(...streams.map(({ values }) => values[0][1]));
          from += count;
        }
        expect([...shown, ...large].sort()).toEqual(lines.slice().sort());
        expect(shown).toEqual(lines.filter(line => !large.includes(line)));
      },
    ),
    { numRuns: 40 },
  );
});

test('reports of dropped entries never make a frame too large', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 5000 }), { maxLength: 30 }),
      fc.array(fc.integer({ min: 0, max: 1500 }), { maxLength: 2 }),
      (values, lengths) => {
        const limits = { targetBytes: MIN_MESSAGE_BYTES, maxBytes: MIN_MESSAGE_BYTES };
        const dropped = values.map(
          (value, i): DroppedEntry => ({ timeNs: BigInt(i), labels: labelsOf({ value }) }),
        );
        const entries = lengths.map(length => entry(1n, 'x'.repeat(length)));
        const style = { form: 'current', flags: ['categorize-labels'] } as const;
        const count = droppedOfFrame(dropped, entries, limits, style);
        const frame = encodeFrame(entries, dropped.slice(0, count), style);
        expect(frame.length).toBeLessThanOrEqual(limits.maxBytes);
        // A separate frame always reports some.
        if (entries.length === 0 && dropped.length > 0) expect(count).toBeGreaterThan(0);
      },
    ),
    { numRuns: 60 },
  );
});
