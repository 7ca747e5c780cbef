/** Detects the format of an input from its first lines. */
import { timeOfLine } from './entry-time.ts';
import { createFormat, FORMAT_NAMES, type FormatName } from './formats.ts';
import type { FormatOptions } from './line-format.ts';

/** Number of lines to inspect. More lines add no evidence. */
export const MAX_DETECTION_LINES = 100;
/** Minimum share of matching lines. A format may follow a banner of other text. */
const MIN_SHARE = 0.8;
/** Minimum share for plain text with times, because most lines may be stack traces. */
const MIN_TEXT_SHARE = 0.05;

interface DetectFormatOptions extends FormatOptions {
  readonly timeField?: string;
}

/**
 * Detected format; undefined if none fits, so that lines are stored as they are. A format fits only if its
 * lines contain their times, because parsing has no benefit without times.
 */
export function detectFormat(lines: readonly string[], options: DetectFormatOptions): FormatName | undefined {
  const looked = lines.filter(line => line.trim() !== '').slice(0, MAX_DETECTION_LINES);
  return looked.length === 0 ? undefined : FORMAT_NAMES.find(name => fits(name, looked, options));
}

function fits(name: FormatName, lines: readonly string[], options: DetectFormatOptions): boolean {
  // A single header line could be any text.
  if (name === 'csv' && lines.length < 2) return false;
  const format = createFormat(name, options);
  const isTimed = (line: string) => {
    if (format.readHeader?.(line)) return undefined;
    const parsed = format.parse(line);
    return parsed !== undefined && timeOfLine(parsed, options.times, options.timeField) !== undefined;
  };
  const found = lines.map(isTimed).filter(each => each !== undefined);
  const share = found.filter(Boolean).length / found.length;
  return format.continuesWithoutTime ? found[0] && share >= MIN_TEXT_SHARE : share >= MIN_SHARE;
}
