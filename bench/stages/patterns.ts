/** Mines patterns of 1 MB pages like a merge, and combines those of a month of chunks. */

import { PatternTotals } from '../../shared/read/patterns/pattern-totals.ts';
import { LEVELS } from '../../shared/upkeep/pattern-mining/levels.ts';
import { PatternBuilder } from '../../shared/upkeep/pattern-mining/pattern-builder.ts';
import { decodeSection, readCounts } from '../../shared/upkeep/pattern-mining/section-codec.ts';
import { CORPORA, type Corpus, makeCorpus } from '../../test/patterns/corpora.ts';
import { pageOf } from '../../test/patterns/quality.ts';
import { generateBatches } from '../corpus.ts';

const PAGE_LINES = 6000;
const PAGES = 4;
const CHUNKS = 100;

function pagesOf(lines: readonly { readonly line: string; readonly level?: string }[]) {
  return Array.from({ length: PAGES }, (_, i) =>
    pageOf(lines.slice(i * PAGE_LINES, (i + 1) * PAGE_LINES), i * PAGE_LINES),
  );
}

/** Corpus of the other benchmarks: forty streams of three kinds. */
function mixed(): Corpus {
  const lines = [...generateBatches(8)].flatMap(({ streams }) =>
    streams.flatMap(({ entries }) => entries.map(({ line }) => ({ line, event: '', level: 'info' }))),
  );
  return lines.slice(0, PAGES * PAGE_LINES);
}

function mine(pages: ReturnType<typeof pagesOf>): Buffer {
  const builder = new PatternBuilder();
  for (const page of pages) builder.addPage(page);
  return builder.finish()!;
}

const corpora = [
  ...Object.keys(CORPORA).map(name => [name, makeCorpus(name, PAGES * PAGE_LINES)] as const),
  ['mixed', mixed()] as const,
];

const mining = corpora.map(([name, lines]) => {
  const pages = pagesOf(lines);
  const bytes = pages.reduce((sum, page) => sum + page.lines.length, 0);
  return { name: `mine, ${name}`, bytes, lines: lines.length, run: () => mine(pages) };
});

const sections = corpora.map(([, lines]) => decodeSection(mine(pagesOf(lines)), 'bench')!);

function putTogether() {
  const totals = new PatternTotals(60);
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    const { templates, pages } = sections[chunk % sections.length];
    const numbers = templates.map(key => totals.numberOf(key));
    for (const part of pages) {
      readCounts(
        part,
        () => true,
        (template, level, second, lines) => {
          totals.add(numbers[template], level % LEVELS.length, chunk * 3600 + second, lines);
        },
      );
    }
  }
  return totals.finish();
}

export const cases = [...mining, { name: `put together, ${CHUNKS} chunks`, run: putTogether }];
