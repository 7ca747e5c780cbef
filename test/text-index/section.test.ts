/** Bytes of a section: which are refused, which a probe reads, and how many pages remain for absent needles. */
import { describe, expect, test } from '@jest/globals';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import {
  decodeHeader,
  maxHeaderBytes,
  rangeOfUnit,
} from '../../shared/execution/text-index/filter-layout.ts';
import { probePages, unitsOf } from '../../shared/execution/text-index/filter-reader.ts';
import {
  ANYTHING,
  containing,
  type PruningPredicate,
} from '../../shared/execution/text-index/pruning-predicate.ts';
import { ask, buildSection } from './support.ts';

/** Whole numbers below `below`, the same ones every time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function textOf(random: (below: number) => number, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[random(alphabet.length)]).join('');
}

const HEX = '0123456789abcdef';
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const verbs = ['request completed', 'cache miss', 'session refreshed', 'upstream timeout', 'order changed'];

/** JSON with two ids a line, as services write it: 300 KB a page. */
function jsonPage(random: (below: number) => number): string[] {
  return Array.from({ length: 1_000 }, () => {
    const second = String(random(60)).padStart(2, '0');
    return `{"ts":"2026-11-21T15:31:${second}.${100_000 + random(900_000)}Z","level":"info","msg":"${
      verbs[random(verbs.length)]
    }","path":"/api/v1/orders/${10_000 + random(900_000)}/items","status":${random(2) === 0 ? 200 : 404},"trace_id":"${textOf(
      random,
      HEX,
      32,
    )}","span_id":"${textOf(random, HEX, 16)}","client":"10.${random(256)}.${random(256)}.7","bytes":${random(20_000)}}`;
  });
}

const random = numbers(7);
const PAGE_COUNT = 24;
const corpus = Array.from({ length: PAGE_COUNT }, () => jsonPage(random));
const rawBytes = corpus.flat().reduce((total, line) => total + line.length, 0);
/** 11% of what zstd makes of such a page: a third of these lines is random, and they pack to a sixth. */
const PAGE_BYTES = 5_500;
const section = buildSection(corpus, PAGE_BYTES);

describe('absent needles leave few pages', () => {
  const asUuid = (id: string) =>
    [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20)].join('-');
  const cases: [string, () => string, number][] = [
    ['a trace id', () => textOf(random, HEX, 32), 0.02],
    ['half of one', () => textOf(random, HEX, 16), 0.15],
    ['half of one behind a dash', () => `ref-${textOf(random, HEX, 16)}`, 0.04],
    ['a UUID in upper case', () => asUuid(textOf(random, HEX, 32)).toUpperCase(), 0.02],
    ['a word', () => textOf(random, LETTERS, 8), 0.05],
    ['two words', () => `${textOf(random, LETTERS, 6)} ${textOf(random, LETTERS, 6)}`, 0.02],
    ['a number between separators', () => `/${1_000_000 + random(8_000_000)}/`, 0.15],
    ['an address', () => `192.${random(256)}.${random(256)}.${random(256)}`, 0.2],
  ];
  test.each(cases)('%s', (_, make, atMost) => {
    let kept = 0;
    const needles = 100;
    for (let i = 0; i < needles; i++) {
      kept += ask(section, PAGE_COUNT, containing(Buffer.from(make()))).filter(Boolean).length;
    }
    expect(kept / (needles * PAGE_COUNT)).toBeLessThan(atMost);
  });

  test('a needle of one page leaves that page', () => {
    const id = /"trace_id":"(\w+)"/.exec(corpus[5][17])![1];
    const kept = ask(section, PAGE_COUNT, containing(Buffer.from(id)));
    expect(kept[5]).toBe(true);
    expect(kept.filter(Boolean).length).toBeLessThanOrEqual(3);
  });

  test('a section stays within its maximum size', () => {
    expect(section.length).toBeLessThan(PAGE_COUNT * PAGE_BYTES + maxHeaderBytes(PAGE_COUNT));
    expect(buildSection(corpus).length).toBeLessThan(rawBytes / 50);
    const small = buildSection(corpus, 2_000);
    expect(small.length).toBeLessThan(PAGE_COUNT * 2_000 + maxHeaderBytes(PAGE_COUNT));
    // A smaller budget lets more pages pass and loses none.
    const id = /"span_id":"(\w+)"/.exec(corpus[9][3])![1];
    expect(ask(small, PAGE_COUNT, containing(Buffer.from(id)))[9]).toBe(true);
  });
});

describe('reading', () => {
  const requirement: PruningPredicate = containing(Buffer.from('connection refused by 0123456789abcdef0'));
  const index = decodeHeader(section, PAGE_COUNT);

  test('a probe reads a few units, each a small part of the section', () => {
    const units = unitsOf(index, requirement);
    expect(units.length).toBeGreaterThan(0);
    expect(units.length).toBeLessThanOrEqual(8);
    for (const unit of units) expect(rangeOfUnit(index, unit).bytes).toBeLessThan(section.length / 4);
    expect(unitsOf(index, ANYTHING)).toEqual([]);
    const last = rangeOfUnit(index, index.units - 1);
    expect(last.offset + last.bytes).toBe(section.length);
  });

  test('every broken byte that is read is noticed', () => {
    const units = unitsOf(index, requirement);
    const load = (from: Buffer) =>
      new Map(
        units.map(unit => {
          const { offset, bytes } = rangeOfUnit(index, unit);
          return [unit, from.subarray(offset, offset + bytes)];
        }),
      );
    expect(() => probePages(index, requirement, load(section))).not.toThrow();
    for (const unit of units) {
      const broken = Buffer.from(section);
      broken[rangeOfUnit(index, unit).offset + 1] ^= 4;
      expect(() => probePages(index, requirement, load(broken))).toThrow(CorruptionError);
    }
    for (let at = 0; at < index.headerBytes; at++) {
      const broken = Buffer.from(section.subarray(0, index.headerBytes));
      broken[at] ^= 1;
      expect(() => decodeHeader(broken, PAGE_COUNT)).toThrow(CorruptionError);
    }
  });

  test.each<[string, Buffer, number]>([
    ['nothing', Buffer.alloc(0), PAGE_COUNT],
    ['a cut header', section.subarray(0, 40), PAGE_COUNT],
    ['another number of pages', section, PAGE_COUNT + 1],
  ])('%s is not a header', (_, bytes, pages) => {
    expect(() => decodeHeader(bytes, pages)).toThrow(CorruptionError);
  });

  test('a short unit is refused', () => {
    const units = new Map(unitsOf(index, requirement).map(unit => [unit, Buffer.alloc(3)]));
    expect(() => probePages(index, requirement, units)).toThrow(CorruptionError);
  });

  test('a section can have no pages, empty pages and empty lines', () => {
    expect(ask(buildSection([]), 0, requirement)).toEqual([]);
    expect(ask(buildSection([[], ['', '']]), 2, requirement)).toEqual([false, false]);
    expect(ask(buildSection([[], ['', '']]), 2, ANYTHING)).toEqual([true, true]);
  });
});
