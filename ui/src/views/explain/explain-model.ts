/** Steps of an explained query, from everything in its range to what was read: considered, pruned, read. */
import type { Explained, ExplainFigures } from '../../api/types.ts';
import { asksForLines, tokensOf } from '../../logql/tokens.ts';

export type StepId =
  | 'considered'
  | 'labels'
  | 'streams'
  | 'text'
  | 'values'
  | 'footers'
  | 'left'
  | 'memory'
  | 'read';

export interface ExplainStep {
  readonly id: StepId;
  readonly title: string;
  readonly about: string;
  /** Undefined if the step does not count chunks. */
  readonly chunks: number | undefined;
  readonly pages: number | undefined;
  /** Stored bytes. */
  readonly bytes: number | undefined;
}

interface StepText {
  readonly id: StepId;
  readonly title: string;
  readonly about: string;
  /** Names of the figures in the response. */
  readonly chunks?: string;
  readonly pages?: string;
}

const STEPS: readonly StepText[] = [
  {
    id: 'considered',
    title: 'In the time range',
    about: 'chunks that overlap the range, and the pages of all footers that were read',
    chunks: 'considered',
    pages: 'considered',
  },
  {
    id: 'labels',
    title: 'Pruned by labels',
    about: 'the catalog has no stream with these labels',
    chunks: 'prunedByLabels',
  },
  {
    id: 'streams',
    title: 'Pruned by streams',
    about: 'the footer has no matching stream in the range',
    chunks: 'prunedByStreams',
    pages: 'prunedByStreams',
  },
  {
    id: 'text',
    title: 'Pruned by text',
    about: 'the text index shows that no line contains the text',
    pages: 'prunedByText',
  },
  {
    id: 'values',
    title: 'Pruned by values',
    about: 'no entry has the value of a label filter',
    pages: 'prunedByValues',
  },
  {
    id: 'footers',
    title: 'Counted from footers',
    about: 'counts in the footer suffice, no line is read',
    pages: 'answeredByFooters',
  },
  {
    id: 'read',
    title: 'Read',
    about: 'decompressed and searched; bytes are those read from storage',
    chunks: 'read',
    pages: 'read',
  },
];

export function explainSteps({ chunks = {}, pages = {}, bytes = {} }: Explained): readonly ExplainStep[] {
  const steps = STEPS.map(({ id, title, about, chunks: ofChunks, pages: ofPages }) => ({
    id,
    title,
    about,
    chunks: figure(chunks, ofChunks),
    pages: figure(pages, ofPages),
    bytes: figure(bytes, ofPages),
  }));
  return [...steps.slice(0, -1), ...restOf(steps), steps[steps.length - 1]];
}

/** Steps for what is neither pruned nor read: pages that were not needed, or cached bytes. */
function restOf(steps: readonly ExplainStep[]): readonly ExplainStep[] {
  const [all, ...others] = steps;
  const rest = (of: 'pages' | 'bytes') => others.reduce((left, step) => left - (step[of] ?? 0), all[of] ?? 0);
  const [pages, bytes] = [rest('pages'), rest('bytes')];
  if (pages > 0) {
    const about = 'enough lines were found in other pages';
    return [{ id: 'left', title: 'Not needed', about, chunks: undefined, pages, bytes: undefined }];
  }
  if (bytes <= 0) return [];
  const about = 'bytes of read pages that earlier queries had cached';
  return [{ id: 'memory', title: 'Cached in memory', about, chunks: undefined, pages: undefined, bytes }];
}

function figure(figures: ExplainFigures, name: string | undefined): number | undefined {
  return name === undefined ? undefined : figures[name];
}

const PASSED_OVER: readonly StepId[] = ['labels', 'streams', 'text', 'values', 'footers'];

/** Share of the bytes in the range that were not read, 0 to 1; undefined if there are none. */
export function sparedShare(steps: readonly ExplainStep[]): number | undefined {
  const all = steps.find(({ id }) => id === 'considered')?.bytes ?? 0;
  const spared = steps
    .filter(({ id }) => PASSED_OVER.includes(id))
    .reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  return all === 0 ? undefined : Math.min(1, spared / all);
}

/** Stored bytes above which suggestions help; below, no query is noticeably faster. */
const WORTH_BYTES = 8_000_000;

/** Suggestions for reading less; empty if little is read. */
export function adviceFor(query: string, steps: readonly ExplainStep[]): readonly string[] {
  const read = steps.find(({ id }) => id === 'read')?.bytes ?? 0;
  if (read < WORTH_BYTES) return [];
  const tokens = tokensOf(query).filter(({ kind }) => kind !== 'comment');
  const advice: string[] = [];
  if (!tokens.some(({ text }, i) => text === '=' && isInSelector(tokens, i))) {
    advice.push('Add a label with “=” to the selector, so that whole chunks are pruned.');
  }
  if (!tokens.some(({ text }) => text === '|=')) {
    advice.push('Add a text with “|=” to the query, so that pages without it are pruned.');
  }
  if (!asksForLines(query) && tokens.some(({ text }) => text === '|')) {
    advice.push('Remove the pipeline if you only need counts: footers have counts, so no lines are read.');
  }
  return advice;
}

function isInSelector(tokens: readonly { readonly text: string }[], index: number): boolean {
  const close = tokens.findIndex(({ text }) => text === '}');
  return index > tokens.findIndex(({ text }) => text === '{') && index < close;
}
