/**
 * `npm run test:differential`: random queries against the product and the oracle.
 *
 *     --queries 20000    how many
 *     --seed N           the first one's; by default another each time
 *     --corpus N         seed of the corpus, 1 by default
 */
import { parseArgs } from 'node:util';
import { newSeeds } from '../simulation/seeds.ts';
import { Differential, formatDisagreement } from './differential.ts';

const { values } = parseArgs({
  options: {
    queries: { type: 'string', default: '20000' },
    seed: { type: 'string' },
    corpus: { type: 'string', default: '1' },
  },
});
const count = wholeNumber('queries', values.queries);
const first = values.seed === undefined ? newSeeds(count)[0] : wholeNumber('seed', values.seed);
const corpus = wholeNumber('corpus', values.corpus);
process.stdout.write(`queries of the seeds ${first} to ${first + count - 1}, corpus ${corpus}\n`);
const differential = await Differential.of(corpus);
const onProgress = (done: number) => {
  if (done > 0 && done % 1000 === 0) process.stdout.write(`${done} queries\n`);
};
const outcome = await differential.run(first, count, { onProgress });
for (const one of outcome.disagreements) process.stdout.write(`\n${formatDisagreement(one)}\n`);
const { compared, undecided, failed, empty, disagreements } = outcome;
process.stdout.write(
  `\n${compared} compared (${failed} fail in both, ${empty} are empty), ${undecided} undecided, ${disagreements.length} disagreements\n`,
);
process.exitCode = disagreements.length > 0 ? 1 : 0;

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  process.stderr.write(`--${name} takes a whole number, not ${text}\n`);
  process.exit(2);
}
