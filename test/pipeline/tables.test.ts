/** The tables that keep names, keys and values as numbers, and the readers of text beneath the parsers. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { textOfBytes } from '../../shared/base/model/byte-text.ts';
import { LabelNameTable, MAX_NAMES } from '../../shared/base/text/names.ts';
import { decodeClean, sanitizeName, unescapeJson, unquoteLogfmt } from '../../shared/base/text/text.ts';
import { JSON_FRAME, KeyTable } from '../../shared/execution/pipeline/key-table.ts';
import { LabelTrie } from '../../shared/execution/pipeline/label-trie.ts';
import { KIND_CLEAN, PARSED, RowLabels, STREAM } from '../../shared/execution/pipeline/row-labels.ts';
import { ValueIds } from '../../shared/execution/pipeline/value-ids.ts';
import { makePage } from './support.ts';

describe('NameTable', () => {
  test('forgets names of lines, never those of the query', () => {
    const names = new LabelNameTable();
    const a = names.idOf('a');
    names.pin();
    const pinned = names.count;
    expect(names.texts[names.suffixedIdOf(a)]).toBe('a_extracted');
    for (let i = 0; i <= MAX_NAMES; i++) names.suffixedIdOf(names.idOf(`n${i}`));
    expect(names.trim()).toBe(true);
    expect([names.count, names.generation, names.trim()]).toEqual([pinned, 1, false]);
    expect(names.idOf('a')).toBe(a);
    expect(names.texts[names.suffixedIdOf(names.idOf('n1'))]).toBe('n1_extracted');
  });
});

describe('LabelTrie and ValueIds', () => {
  test('gives one number to one path', () => {
    const step = fc.tuple(fc.integer({ min: -2, max: 5 }), fc.nat(6));
    const trie = new LabelTrie();
    const known = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 4 }), path => {
        const node = path.reduce((at, [label, value]) => trie.next(at, label, value), 0);
        const text = JSON.stringify(path);
        expect(known.get(text) ?? node).toBe(node);
        known.set(text, node);
        expect(new Set(known.values()).size).toBe(known.size);
      }),
      { numRuns: 2000 },
    );
    trie.clear();
    expect(trie.next(0, 1, 1)).toBe(1);
  });

  test('gives one number to one value, from bytes or text', () => {
    const ids = new ValueIds();
    const texts = Array.from({ length: 3000 }, (_, i) => `${i % 1500}é${'x'.repeat(i % 300)}`);
    const fromText = texts.map(text => ids.idOfText(text));
    const fromBytes = texts.map(text => {
      const bytes = Buffer.from(`--${text}--`);
      return ids.idOfBytes(bytes, 2, bytes.length - 2, true);
    });
    expect(fromBytes).toEqual(fromText);
    const broken = Buffer.from([0x61, 0xff]);
    expect(ids.idOfBytes(broken, 0, 2, true)).toBe(ids.idOfText('a '));
    expect(ids.idOfBytes(broken, 0, 2, false)).toBe(ids.idOfText('a\udcff'));
    expect(ids.idOfBytes(Buffer.from('a\ufffd'), 0, 4, false)).toBe(ids.idOfText('a\ufffd'));
    ids.clear();
    expect(ids.idOfText('new')).toBe(1);
  });
});

describe('KeyTable', () => {
  test('has one entry for one key under one parent', () => {
    const labels = new RowLabels();
    const keys = new KeyTable(labels, JSON_FRAME);
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(fc.string(), fc.nat(2), (key, parent) => {
        while (seen.size < 2) seen.set(`${seen.size}`, keys.findText(`p${seen.size}`, 0));
        const entry = keys.findText(key, parent);
        const text = JSON.stringify([key, parent]);
        expect(seen.get(text) ?? entry).toBe(entry);
        seen.set(text, entry);
      }),
      { numRuns: 2000 },
    );
  });

  test('a key with an escape is not taken for one whose bytes look alike', () => {
    const labels = new RowLabels();
    const keys = new KeyTable(labels, JSON_FRAME);
    const line = Buffer.from('a\\\\bXa\\b');
    const backslash = keys.findJson(line, 0, 4, 0);
    const backspace = keys.findJson(line, 5, 8, 0);
    expect(backslash).not.toBe(backspace);
  });
});

describe('RowLabels', () => {
  test('a rollback leaves the row as it was', () => {
    const labels = new RowLabels({ names: ['b', 'app_extracted'], preserveErrors: false });
    const page = makePage([{ line: 'value', metadata: { app: 'meta', b: 'B' } }]);
    labels.enterPage(page);
    labels.enterRun(page.runs[0].stream);
    labels.enterRow(0);
    const suffixed = labels.suffixed(labels.intern('app'));
    const b = labels.intern('b');
    labels.setText(labels.intern('first'), '1');
    const mark = labels.valueCount;
    labels.setBytes(suffixed, KIND_CLEAN, page.lines, 0, 5);
    labels.setBytes(b, KIND_CLEAN, page.lines, 0, 1);
    expect([labels.get(suffixed), labels.get(b), labels.allFound]).toEqual(['value', 'v', true]);
    labels.rollback(mark);
    expect([labels.get(suffixed), labels.get(b), labels.allFound]).toEqual(['meta', 'B', false]);
    expect(labels.isExtracted(b)).toBe(false);
    expect(labels.get(labels.intern('first'))).toBe('1');
  });

  test('deleting hides all categories until a parser sets the name again', () => {
    const labels = new RowLabels();
    const page = makePage([{ line: 'l' }, { line: 'l' }]);
    labels.enterPage(page);
    labels.enterRun(page.runs[0].stream);
    labels.enterRow(0);
    const app = labels.intern('app');
    expect(labels.lookup(app)).toBe(STREAM);
    labels.delete(app);
    expect(labels.get(app)).toBeUndefined();
    expect(labels.collides(app)).toBe(true);
    labels.setText(app, 'y');
    expect([labels.lookup(app), labels.get(app)]).toEqual([PARSED, 'y']);
    labels.enterRow(1);
    expect(labels.get(app)).toBe('x');
  });
});

describe('text', () => {
  test.each<[string, string, string]>([
    ['', 'a', 'a'],
    ['', '9a', '_9a'],
    ['p', '9a', 'p_9a'],
    ['', ' \t\u00a0a b\u3000', 'a_b'],
    ['', '\ufeffa', '_a'],
    ['', '😀', '_'],
    ['p', '  ', 'p'],
    ['', '', ''],
  ])('sanitizeName(%j, %j)', (path, key, want) => {
    expect(sanitizeName(path, key)).toBe(want);
  });

  test('a key of many spaces costs one pass', () => {
    expect(sanitizeName('', `a${' '.repeat(300_000)}b`)).toBe(`a${'_'.repeat(300_000)}b`);
  });

  test('bytes as Go decodes them', () => {
    const bytes = Buffer.from([0x61, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0x80, 0xc0, 0xe2, 0x82]);
    expect(textOfBytes(bytes, 0, bytes.length)).toBe('a😀\udced\udca0\udc80\udcc0\udce2\udc82');
    expect(decodeClean(bytes, 0, bytes.length)).toBe(`a😀${' '.repeat(6)}`);
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter(text => text.isWellFormed()),
        text => {
          const encoded = Buffer.from(text);
          expect(textOfBytes(encoded, 0, encoded.length)).toBe(text);
        },
      ),
    );
  });

  test('escapes agree with JSON.parse', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter(text => text.isWellFormed()),
        text => {
          const inside = Buffer.from(JSON.stringify(text).slice(1, -1));
          expect(unescapeJson(inside, 0, inside.length)).toBe(text);
          expect(unquoteLogfmt(inside, 0, inside.length)).toBe(text);
        },
      ),
    );
    const bad = Buffer.from('\\u12');
    expect([unescapeJson(bad, 0, 4), unquoteLogfmt(bad, 0, 4)]).toEqual([undefined, undefined]);
    const trailing = Buffer.from('a\\');
    expect([unescapeJson(trailing, 0, 2), unquoteLogfmt(trailing, 0, 2)]).toEqual([undefined, undefined]);
  });
});
