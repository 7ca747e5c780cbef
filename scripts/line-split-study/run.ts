/**
 * node bin/with-runtime.mjs scripts/line-split-study/run.ts [--corpus FILE] [--pages 6] [--runs 3] [--only
 * TEXT]
 *
 * Prints the savings and costs of templates and columns on logs of this machine (README.md).
 */
import { parseArgs } from 'node:util';
import { compileColumnText } from './column-text-kernel.ts';
import { compileJoin } from './join-kernel.ts';
import { measurePage } from './measure.ts';
import { cutPages } from './pages.ts';
import { type Measured, ruleTable, sizeTable, timeTable, typeTable } from './report.ts';
import { collectSamples } from './samples.ts';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    pages: { type: 'string', default: '6' },
    runs: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
});

const kernels = { join: await compileJoin(), columnText: await compileColumnText() };
const { samples, absent } = await collectSamples(values.corpus);
const measured: Measured[] = [];
for (const sample of samples.filter(({ name }) => name.includes(values.only))) {
  process.stderr.write(`${sample.name}\n`);
  const pages = cutPages(sample.lines, Number(values.pages));
  measured.push({ sample, pages: pages.map(page => measurePage(page, kernels, Number(values.runs))) });
}
const parts = [
  '## Sizes',
  sizeTable(measured),
  '## Times',
  timeTable(measured),
  '## Types',
  typeTable(measured),
  '## Rules',
  ruleTable(measured),
];
process.stdout.write(`${parts.join('\n\n')}\n\nAbsent or too small: ${absent.join(', ') || 'none'}.\n`);
