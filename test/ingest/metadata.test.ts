import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { atOnce } from '../../shared/base/model/steps.ts';
import { decodeJsonPush } from '../../shared/write/ingest/json-push.ts';
import { sanitizeMetadata } from '../../shared/write/ingest/metadata.ts';
import { sanitizeMetadataName } from '../../shared/write/ingest/metadata-name.ts';
import { PushColumns } from '../../shared/write/ingest/push-columns.ts';
import { entriesOf, refusal } from './entries.ts';

describe('sanitizeMetadataName', () => {
  // [name, want]
  const rows: [string, string][] = [
    ['abc', 'abc'],
    ['a_b', 'a_b'],
    ['_a_', '_a_'],
    ['a__b', 'a_b'],
    ['a.b-c', 'a_b_c'],
    ['a .. b', 'a_b'],
    ['trace.id', 'trace_id'],
    ['1a', 'key_1a'],
    ['9', 'key_9'],
    ['.a', '_a'],
    ['__a', '_a'],
    ['a__', 'a_'],
    ['__a__', '__a__'],
    ['__a.b__c__', '__a_b_c__'],
    ['__1__', '__1__'],
    ['日本a', '_a'],
    ['a\ufffd', 'a_'],
  ];
  test.each(rows)('%j', (name, want) => {
    expect(sanitizeMetadataName(name)).toBe(want);
    expect(sanitizeMetadataName(name)).toBe(want);
  });

  // [name, message]
  const refused: [string, string][] = [
    ['', 'label name is empty'],
    ['_', 'normalization for label name "_" resulted in invalid name "_"'],
    ['é.', 'normalization for label name "é." resulted in invalid name "_"'],
    ['____', 'normalization for label name "____" resulted in invalid name "_"'],
    ['__.__', 'normalization for label name "__.__" resulted in invalid name "_____"'],
  ];
  test.each(refused)('refuses %j', (name, message) => {
    expect(refusal(() => sanitizeMetadataName(name))).toEqual([400, message]);
  });

  test('does not overflow the stack on names of many megabytes', () => {
    const n = 8_000_000;
    expect(sanitizeMetadataName('a_'.repeat(n / 2))).toHaveLength(n);
    expect(sanitizeMetadataName('a.'.repeat(n / 8))).toHaveLength(n / 4);
    const [status, message] = refusal(() => sanitizeMetadataName('.'.repeat(n)));
    expect([status, message.length < 2000]).toEqual([400, true]);
  });

  test('leaves a sanitized name unchanged, also for more names than it caches', () => {
    for (let i = 0; i < 5000; i++) expect(sanitizeMetadataName(`a.${i}`)).toBe(`a_${i}`);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), name => {
        fc.pre(/[A-Za-z0-9]/.test(name));
        const clean = sanitizeMetadataName(name);
        expect(clean).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
        expect(sanitizeMetadataName(clean)).toBe(clean);
      }),
    );
  });
});

describe('sanitizeMetadata', () => {
  const name = fc.constantFrom('a', 'a.b', 'a-b', 'a_b', '1', 'key_1', 'c', '__c');
  const value = fc
    .array(fc.constantFrom('x', 'é', '日', '\ufffd', '🚀', ''), { maxLength: 5 })
    .map(parts => parts.join(''));
  const pairs = fc.array(fc.tuple(name, value), { maxLength: 7 });

  /** Metadata that the reference keeps of an entry, in its terms: pairs as sent, names deleted, pairs added. */
  function stored(sent: readonly (readonly [string, string])[]): Map<string, string> {
    const base = new Map(sent.filter(([key]) => sanitizeMetadataName(key) === key));
    const deleted = new Set(sent.filter(([, text]) => text === '').map(([key]) => sanitizeMetadataName(key)));
    const added = new Map<string, string>();
    for (const [key, text] of sent) {
      const clean = sanitizeMetadataName(key);
      if (clean === key) continue;
      if (text === '') added.delete(clean);
      else added.set(clean, text);
    }
    const left = [...base].filter(([key]) => !deleted.has(key));
    const all = new Map([...left, ...added]);
    return new Map([...all].map(([key, text]) => [key, text.replaceAll('\ufffd', ' ')]));
  }

  test.each<[string, [string, string][], Record<string, string>]>([
    [
      'an empty value is none',
      [
        ['a', ''],
        ['b', 'x'],
      ],
      { b: 'x' },
    ],
    [
      'only empty values',
      [
        ['a', ''],
        ['b', ''],
      ],
      {},
    ],
    [
      'a name with and without a value',
      [
        ['a', 'x'],
        ['a', ''],
      ],
      {},
    ],
    [
      'the same the other way round',
      [
        ['a', ''],
        ['a', 'x'],
      ],
      {},
    ],
    [
      'an empty value under a name that is renamed',
      [
        ['a_b', 'x'],
        ['a.b', ''],
      ],
      {},
    ],
    [
      'a value under a name that is renamed',
      [
        ['a.b', 'x'],
        ['a_b', ''],
      ],
      { a_b: 'x' },
    ],
    [
      'renamed pairs win',
      [
        ['a.b', 'x'],
        ['a_b', 'y'],
      ],
      { a_b: 'x' },
    ],
    [
      'of renamed pairs the last counts',
      [
        ['a.b', 'x'],
        ['a-b', ''],
      ],
      {},
    ],
    [
      'of renamed pairs the last counts, again',
      [
        ['a.b', ''],
        ['a-b', 'x'],
      ],
      { a_b: 'x' },
    ],
    ['a space is a value', [['a', ' ']], { a: ' ' }],
    ['a broken byte is a space, and so a value', [['a', '\ufffd']], { a: ' ' }],
  ])('%s', (_, sent, want) => {
    const columns = new PushColumns(Buffer.from(sent.map(([, text]) => text).join('')));
    columns.streams.push({ labels: [], text: '{}' });
    columns.addEntry(0, 0, 0, 0, 0);
    let at = 0;
    for (const [key, text] of sent) {
      columns.addPair(columns.nameId(key), at, at + Buffer.byteLength(text));
      at += Buffer.byteLength(text);
    }
    atOnce(sanitizeMetadata(columns));
    expect(Object.fromEntries(entriesOf(columns)[0].metadata)).toEqual(want);
    expect(Object.fromEntries(stored(sent))).toEqual(want);
  });

  test('stores each name once per entry, cleaned, like the reference', () => {
    fc.assert(
      fc.property(fc.array(pairs, { maxLength: 8 }), entries => {
        const rows = entries.map((metadata, i) => {
          const object = metadata.map(([key, text]) => `${JSON.stringify(key)}:${JSON.stringify(text)}`);
          return `["${i}","line ${i}",{${object.join(',')}}]`;
        });
        const columns = atOnce(
          decodeJsonPush(Buffer.from(`{"streams":[{"stream":{},"values":[${rows.join(',')}]}]}`)),
        );
        atOnce(sanitizeMetadata(columns));
        const got = entriesOf(columns);
        for (let i = 0; i < entries.length; i++) {
          const want = stored(entries[i]);
          expect(got[i].metadata).toHaveLength(want.size);
          expect(new Map(got[i].metadata)).toEqual(want);
          expect(got[i].line).toBe(`line ${i}`);
        }
      }),
    );
  });

  test('replaces invalid bytes with spaces, and cleans a shared value once', () => {
    const columns = new PushColumns(Buffer.from([0x61, 0xff, 0xe6, 0x97, 0xc3, 0xa9, 0x62]));
    columns.streams.push({ labels: [], text: '{}' });
    for (let i = 0; i < 1000; i++) {
      columns.addEntry(0, 0, i, 0, 0);
      columns.addPair(columns.nameId('a'), 0, 7);
    }
    // The same start with another end is another value.
    columns.addPair(columns.nameId('b'), 0, 2);
    atOnce(sanitizeMetadata(columns));
    const got = entriesOf(columns);
    expect(got[0].metadata).toEqual([['a', 'a   éb']]);
    expect(got[999].metadata).toEqual([
      ['a', 'a   éb'],
      ['b', 'a '],
    ]);
    expect(columns.bytes.length).toBe(7 + 7 + 2);
  });
});
