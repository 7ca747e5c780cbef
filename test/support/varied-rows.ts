/** Rows of varied lines in a few streams, of which some have structured metadata. */
import { textOfBytes } from '../../shared/base/model/byte-text.ts';
import { Dice } from '../simulation/dice.ts';
import { DAY, DAY_START_NS } from './engine.ts';
import type { OracleEntry } from './pattern-oracle.ts';
import type { DatedEntry } from './pushes.ts';
import { randomShape, type Shape, variedLines } from './varied-lines.ts';

type Texts = Readonly<Record<string, string>>;

/** Some have the name of a capture. */
const STREAMS: readonly Texts[] = [
  { app: 'x', pod: '1' },
  { app: 'x', pod: '2' },
  { app: 'x', pod: '3', status: 'up' },
  { app: 'y' },
];
const DAY_START_MS = Number(DAY_START_NS / 1_000_000n);
const FIRST_MS = DAY_START_MS + 36_000_000;
/** Time of the row behind its whole ms, at most, ns. */
const CLOCK_NOISE = 1000;

export interface VariedRow extends OracleEntry {
  readonly entry: DatedEntry;
  /** Labels of the stream. */
  readonly labels: Texts;
  readonly timeNs: bigint;
}

export interface VariedRows {
  readonly dice: Dice;
  readonly shapes: readonly Shape[];
  readonly lines: readonly string[];
  readonly rows: readonly VariedRow[];
  /** Unix ms before the first row, and after the last one. */
  readonly fromMs: number;
  readonly toMs: number;
}

export function variedRows(seed: number, leastBytes: number): VariedRows {
  const dice = new Dice(seed);
  const shapes = Array.from({ length: dice.pick([1, 1, 1, 2, 3, 6]) }, () => randomShape(dice));
  const oddShare = dice.pick([0, 0, 0.004, 0.01, 0.05]);
  const stepMs = dice.pick([1, 7, 333]);
  const timeOf = (n: number) => FIRST_MS + n * stepMs;
  const lines = variedLines(dice, { shapes, oddShare, leastBytes, timeOf });
  const hasMetadata = dice.chance(0.3);
  const streams = dice.chance(0.75) ? [STREAMS[0], ...STREAMS] : [STREAMS[0]];
  const rows = lines.map((line, n): VariedRow => {
    const labels = dice.pick(streams);
    const metadata: Record<string, string> = hasMetadata && dice.chance(0.2) ? { path: `p${n % 3}` } : {};
    const time = (timeOf(n) - DAY_START_MS) * 1e6 + (n % CLOCK_NOISE);
    const text = textOfBytes(Buffer.from(line, 'latin1'));
    return {
      entry: { stream: labels, day: DAY, time, line: text, metadata },
      labels,
      timeNs: DAY_START_NS + BigInt(time),
      line,
      stream: mapOf(labels),
      metadata: mapOf(metadata),
    };
  });
  return { dice, shapes, lines, rows, fromMs: FIRST_MS - 10, toMs: timeOf(lines.length) };
}

function mapOf(texts: Texts): Map<string, string> {
  return new Map(Object.entries(texts).map(([name, value]) => [name, value]));
}
