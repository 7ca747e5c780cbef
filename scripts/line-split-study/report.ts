/**
 * Tables of the study, in Markdown. Sizes are compression ratios of the lines; times are CPU seconds per GB
 * of lines, the minimum of several runs.
 */

import { TYPES } from './column-types.ts';
import type { PageFigures } from './measure.ts';
import type { Sample } from './samples.ts';

export interface Measured {
  readonly sample: Sample;
  readonly pages: readonly PageFigures[];
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
const rawOf = (pages: readonly PageFigures[]) => sum(pages.map(page => page.rawBytes));
const sizeOf = (pages: readonly PageFigures[], form: string) => sum(pages.map(page => page.sizes[form]));
const ratio = (pages: readonly PageFigures[], form: string) =>
  (rawOf(pages) / sizeOf(pages, form)).toFixed(2);
const percent = (part: number, whole: number) =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)}%`;

const FORMS = [
  'plain 1',
  'plain merge',
  'plain 9',
  'text 1',
  'typed 1',
  'typed merge',
  'blocks 1',
  'blocks merge',
];
const TIMES = [
  'plain 1',
  'plain 3',
  'plain 6',
  'plain 9',
  'plain merge',
  'split',
  'types',
  'text 1',
  'typed 1',
  'blocks 1',
  'typed 3',
  'typed merge',
  'blocks merge',
  'plain merge unpacked',
  'blocks merge unpacked',
  'types undone',
  'types laid',
  'types undone, kernel',
  'join',
  'join laid',
  'join kernel',
  'join kernel 1%',
];

export function sizeTable(all: readonly Measured[]): string {
  const head = ['sample', 'KB', 'rows', 'templates', 'plain rows', ...FORMS, 'smaller of both'];
  const rows = all.map(({ sample, pages }) => sizeRow(sample.name, pages));
  for (const sort of new Set(all.map(({ sample }) => sample.sort))) {
    rows.push(
      sizeRow(
        `**${sort}**`,
        all.filter(one => one.sample.sort === sort).flatMap(one => one.pages),
      ),
    );
  }
  const logs = all.filter(({ sample }) => sample.sort !== 'junk' && sample.sort !== 'benchmark');
  rows.push(
    sizeRow(
      '**all but benchmark and junk**',
      logs.flatMap(one => one.pages),
    ),
  );
  rows.push(
    sizeRow(
      '**all**',
      all.flatMap(one => one.pages),
    ),
  );
  return table(head, rows);
}

function sizeRow(name: string, pages: readonly PageFigures[]): string[] {
  const best = sum(pages.map(page => Math.min(page.sizes['plain merge'], page.sizes['blocks merge'])));
  return [
    name,
    String(Math.round(rawOf(pages) / 1000)),
    String(sum(pages.map(page => page.rows))),
    String(sum(pages.map(page => page.templates))),
    String(sum(pages.map(page => page.plainRows))),
    ...FORMS.map(form => ratio(pages, form)),
    (rawOf(pages) / best).toFixed(2),
  ];
}

export function timeTable(all: readonly Measured[]): string {
  const groups = new Map<string, PageFigures[]>();
  for (const { sample, pages } of all) {
    const name = sample.sort === 'benchmark' ? sample.name : sample.sort;
    groups.set(name, [...(groups.get(name) ?? []), ...pages]);
  }
  const corpus = all.filter(one => one.sample.sort === 'benchmark').flatMap(one => one.pages);
  groups.set('**corpus**', corpus);
  groups.set(
    '**all**',
    all.flatMap(one => one.pages),
  );
  // Milliseconds per byte, times 10^6, are seconds per GB.
  const cell = (pages: readonly PageFigures[], name: string) =>
    ((1e6 * sum(pages.map(page => page.times[name]))) / rawOf(pages)).toFixed(2);
  return table(
    ['s/GB', ...groups.keys()],
    TIMES.map(name => [name, ...[...groups.values()].map(pages => cell(pages, name))]),
  );
}

export function typeTable(all: readonly Measured[]): string {
  const rows = (['benchmark', 'others'] as const).flatMap(group => {
    const pages = all
      .filter(({ sample }) => (sample.sort === 'benchmark') === (group === 'benchmark'))
      .flatMap(one => one.pages);
    return TYPES.map(type => {
      const mine = pages.flatMap(page => page.types).filter(one => one.type === type);
      const of = (key: 'values' | 'rawBytes' | 'text1' | 'typed1' | 'textMerge' | 'typedMerge') =>
        sum(mine.map(one => one[key]));
      const stored = sum(pages.map(page => page.sizes['blocks merge']));
      return [
        group,
        type,
        String(of('values')),
        percent(of('rawBytes'), rawOf(pages)),
        percent(of('typedMerge'), stored),
        percent(of('typed1'), of('text1')),
        percent(of('typedMerge'), of('textMerge')),
      ];
    });
  });
  return table(
    [
      'samples',
      'type',
      'values',
      'of the lines',
      'of the stored bytes',
      'typed beside text, level 1',
      'merge',
    ],
    rows,
  );
}

/** Overhead of each rule over the smaller form of each page. */
export function ruleTable(all: readonly Measured[]): string {
  const pages = all.flatMap(one => one.pages);
  const plain = (page: PageFigures) => page.sizes['plain merge'];
  const split = (page: PageFigures) => page.sizes['blocks merge'];
  const best = sum(pages.map(page => Math.min(plain(page), split(page))));
  const rules: [string, (page: PageFigures) => boolean][] = [
    ['never split', () => false],
    ['always split', () => true],
    [
      'split where level 1 of it is smaller than level 1 of the lines',
      page => page.sizes['blocks 1'] < page.sizes['plain 1'],
    ],
    [
      'split where level 1 of it is smaller than 90% of level 1 of the lines',
      page => page.sizes['blocks 1'] < 0.9 * page.sizes['plain 1'],
    ],
    ...[0.8, 0.9, 1].map((factor): [string, (page: PageFigures) => boolean] => [
      `split where it is under ${100 * factor}% of the lines, both of the first 128 KiB at level 1`,
      ({ trial }) => trial[1] < factor * trial[0],
    ]),
    ...[0.4, 0.6, 0.7, 0.8].map((share): [string, (page: PageFigures) => boolean] => [
      `split where it is under ${100 * share}% of the lines, both before zstd`,
      page => page.splitBytes < share * page.rawBytes,
    ]),
    ...[0.02, 0.05, 0.1, 0.2, 0.4].map((share): [string, (page: PageFigures) => boolean] => [
      `split where templates are under ${100 * share}% of the lines, and plain rows under 10% of the rows`,
      page => page.templateBytes < share * page.rawBytes && page.plainRows < 0.1 * page.rows,
    ]),
  ];
  const rows = rules.map(([name, splits]) => {
    const bytes = sum(pages.map(page => (splits(page) ? split(page) : plain(page))));
    return [
      name,
      `${pages.filter(splits).length} of ${pages.length}`,
      String(Math.round(bytes / 1000)),
      `${((100 * bytes) / best - 100).toFixed(1)}%`,
    ];
  });
  return table(['rule', 'pages split', 'KB', 'above the best'], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n');
}
