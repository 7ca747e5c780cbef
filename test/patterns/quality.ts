/**
 * Quality of the patterns of a corpus: how few they are, how many lines they cover, and whether each matches
 * one kind of event.
 */

import { compilePatternFilter } from '../../shared/execution/pipeline/pattern-filter.ts';
import { type FoundPattern, PatternTotals } from '../../shared/read/patterns/pattern-totals.ts';
import { LEVELS } from '../../shared/upkeep/pattern-mining/levels.ts';
import { PatternBuilder } from '../../shared/upkeep/pattern-mining/pattern-builder.ts';
import { readCounts } from '../../shared/upkeep/pattern-mining/section-codec.ts';
import type { Corpus } from './corpora.ts';
import { ReferenceDrain } from './reference-drain.ts';

interface Quality {
  readonly patterns: number;
  /** Share of the lines that a pattern counts. */
  readonly coverage: number;
  /** Share of the counted lines that are of the event that most lines of their pattern are of. */
  readonly purity: number;
}

/** Patterns of lines that are one stream, a second apart, in pages of `pageLines`. */
export function mine(lines: Corpus, { pageLines = 2000, builders = 1 } = {}): FoundPattern[] {
  const totals = new PatternTotals(3600);
  const perBuilder = Math.ceil(lines.length / builders);
  for (let from = 0; from < lines.length; from += perBuilder) {
    const builder = new PatternBuilder();
    for (let at = from; at < Math.min(from + perBuilder, lines.length); at += pageLines) {
      const some = lines.slice(at, Math.min(at + pageLines, from + perBuilder));
      builder.addPage(pageOf(some, at));
    }
    const section = builder.section()!;
    const numbers = section.templates.map(key => totals.numberOf(key));
    for (const part of section.pages) {
      const all = () => true;
      readCounts(part, all, (template, level, second, count) =>
        totals.add(numbers[template], level, second, count),
      );
    }
  }
  return totals.finish();
}

export function pageOf(some: readonly { readonly line: string; readonly level?: string }[], firstSecond = 0) {
  const buffers = some.map(({ line }) => Buffer.from(line));
  const lineOffsets = new Uint32Array(some.length + 1);
  for (const [i, buffer] of buffers.entries()) lineOffsets[i + 1] = lineOffsets[i] + buffer.length;
  return {
    lines: Buffer.concat(buffers),
    lineOffsets,
    runs: [{ firstRow: 0, rows: some.length }],
    times: Float64Array.from(some, (_, i) => i * 1e9),
    base: firstSecond * 1e9,
    levels: Uint8Array.from(some, ({ level }) => Math.max(0, LEVELS.indexOf(level as 'info'))),
  };
}

export function linesOf({ samples }: FoundPattern): number {
  return samples.reduce((sum, [, lines]) => sum + lines, 0);
}

export function qualityOf(lines: Corpus, found: readonly FoundPattern[]): Quality {
  const counted = found.reduce((sum, one) => sum + linesOf(one), 0);
  const tests = [...new Set(found.map(({ pattern }) => pattern))].map(compilePatternFilter);
  const events = tests.map(() => new Map<string, number>());
  for (const { line, event } of lines) {
    const bytes = Buffer.from(line);
    const i = tests.findIndex(one => one.test(bytes, 0, bytes.length));
    if (i >= 0) events[i].set(event, (events[i].get(event) ?? 0) + 1);
  }
  return { patterns: found.length, coverage: counted / lines.length, purity: purityOf(events) };
}

export function referenceQuality(lines: Corpus): Quality {
  const trees = new Map<string, { readonly tree: ReferenceDrain; readonly level: string }>();
  const events = new Map<object, Map<string, number>>();
  for (const { line, level, event, stream = '' } of lines) {
    const key = `${level} ${stream}`;
    const { tree } = trees.get(key) ?? { tree: new ReferenceDrain() };
    trees.set(key, { tree, level });
    const cluster = tree.add(line);
    if (cluster === undefined) continue;
    const ofCluster = events.get(cluster) ?? new Map<string, number>();
    events.set(cluster, ofCluster);
    ofCluster.set(event, (ofCluster.get(event) ?? 0) + 1);
  }
  const shown = new Map<string, number>();
  for (const { tree, level } of trees.values()) {
    for (const one of tree.patterns(1)) {
      const key = `${level} ${one.pattern}`;
      shown.set(key, (shown.get(key) ?? 0) + one.lines);
    }
  }
  const most = [...shown.values()]
    .filter(count => count >= 30)
    .sort((a, b) => b - a)
    .slice(0, 300);
  const covered = most.reduce((sum, count) => sum + count, 0);
  const purity = purityOf([...events.values()]);
  return { patterns: most.length, coverage: covered / lines.length, purity };
}

function purityOf(events: readonly ReadonlyMap<string, number>[]): number {
  let all = 0;
  let most = 0;
  for (const counts of events) {
    for (const lines of counts.values()) all += lines;
    most += Math.max(0, ...counts.values());
  }
  return all === 0 ? 1 : most / all;
}
