/** What the study measures: a name, what sort of log it is, and its lines. Nothing of it is kept: each run collects anew. */

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

/** More of a sample is not read: enough for 8 pages. */
export const MAX_SAMPLE_BYTES = 8 * 1024 * 1024;
/** Less says nothing about pages. */
const MIN_SAMPLE_BYTES = 16 * 1024;

export interface Collected {
  readonly samples: readonly Sample[];
  /** Names of those that this machine does not have, or too little of. */
  readonly absent: readonly string[];
}

/** @param corpusFile a module like the driver's corpus.mjs; without it the project's own corpus stands in */
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

/** Lines of a text without their ends; empty ones left out, as a push leaves them out in practice. */
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

/** Entries of several lines: a new one begins where `begins` matches. */
export function entriesOf(text: Buffer, begins: RegExp): Buffer[] {
  const entries: Buffer[][] = [];
  for (const line of linesOf(text)) {
    const last = entries.at(-1);
    if (last === undefined || begins.test(line.latin1Slice())) entries.push([line]);
    else last.push(Buffer.from('\n'), line);
  }
  return entries.map(parts => Buffer.concat(parts));
}
