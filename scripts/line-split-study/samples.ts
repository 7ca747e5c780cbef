/** Samples of the study: a name, the kind of log, and its lines. Nothing is kept; each run collects again. */

import { corpusSamples } from './corpus-samples.ts';
import { junkSamples } from './junk-samples.ts';
import { machineSamples } from './machine-samples.ts';
import { programSamples } from './program-samples.ts';
import { serviceSample } from './service-sample.ts';

export interface Sample {
  readonly name: string;
  readonly sort: 'benchmark' | 'structured' | 'system' | 'tool' | 'trace' | 'junk';
  readonly lines: readonly Buffer[];
}

/** Maximum bytes per sample: enough for 8 pages. */
export const MAX_SAMPLE_BYTES = 8 * 1024 * 1024;
/** Minimum bytes per sample; less is not representative of pages. */
const MIN_SAMPLE_BYTES = 16 * 1024;

interface Collected {
  readonly samples: readonly Sample[];
  /** Names of samples that are missing or too small on this machine. */
  readonly absent: readonly string[];
}

/** @param corpusFile module like the driver's corpus.mjs; defaults to the project's own corpus */
export async function collectSamples(corpusFile: string | undefined): Promise<Collected> {
  const all = [
    ...(await corpusSamples(corpusFile)),
    await serviceSample(),
    ...machineSamples(),
    ...programSamples(),
    ...junkSamples(),
  ];
  const isEnough = ({ lines }: Sample) =>
    lines.reduce((sum, line) => sum + line.length, 0) >= MIN_SAMPLE_BYTES;
  return {
    samples: all.filter(isEnough),
    absent: all.filter(sample => !isEnough(sample)).map(sample => sample.name),
  };
}

/** Lines of a text without line breaks. Empty lines are omitted, as pushes do in practice. */
export function linesOf(text: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  const end = Math.min(text.length, MAX_SAMPLE_BYTES);
  let from = 0;
  while (from < end) {
    const newline = text.indexOf(10, from);
    const to = newline === -1 ? text.length : newline;
    if (to > from) lines.push(text.subarray(from, to));
    from = to + 1;
  }
  return lines;
}

/** Multi-line entries: a new one starts with each match of `begins`. */
export function entriesOf(text: Buffer, begins: RegExp): Buffer[] {
  const entries: Buffer[][] = [];
  for (const line of linesOf(text)) {
    const last = entries.at(-1);
    if (last === undefined || begins.test(line.latin1Slice())) entries.push([line]);
    else last.push(Buffer.from('\n'), line);
  }
  return entries.map(parts => Buffer.concat(parts));
}
