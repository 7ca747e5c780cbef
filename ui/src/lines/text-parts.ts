/** Splits a line into segments to draw, at the boundaries of styles and matches. */
import type { AnsiStyle, AnsiText } from './ansi.ts';

interface Piece {
  readonly text: string;
  readonly marked: boolean;
  readonly style: AnsiStyle | undefined;
}

/** @param matches offsets in the text, alternating start and end (matchesIn) */
export function piecesOf({ text, runs }: AnsiText, matches: readonly number[]): readonly Piece[] {
  const cuts = new Set([0, text.length]);
  for (const { from } of runs) cuts.add(from);
  for (const offset of matches) cuts.add(Math.min(offset, text.length));
  const ordered = [...cuts].sort((a, b) => a - b);
  const pieces: Piece[] = [];
  let run = -1;
  let match = 0;
  for (let i = 0; i + 1 < ordered.length; i++) {
    const from = ordered[i];
    while (run + 1 < runs.length && runs[run + 1].from <= from) run++;
    while (match < matches.length && matches[match] <= from) match++;
    pieces.push({ text: text.slice(from, ordered[i + 1]), marked: match % 2 === 1, style: runs[run]?.style });
  }
  return pieces;
}
