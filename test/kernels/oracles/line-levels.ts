/** Byte-by-byte version of assembly/line-levels.ts and level-words.ts. */
import { DETECTED_LEVELS, normalizeLevel } from '../../../shared/write/ingest/level-words.ts';

const BEFORE = ' \\t\\n[({"\'=|';
const TEXT_WORDS = 'trace|debug|fatal|critical|error|err|warning|warn|info';
const TEXT = new RegExp(`(?<=^|[${BEFORE}])(${TEXT_WORDS})(?=$|[${BEFORE}}\\]):,!])`, 'i');

/** Code of the level of a line, see DETECTED_LEVELS. */
export function levelOfLine(line: Buffer, names: readonly string[], jsonMaxDepth: number): number {
  const text = line.latin1Slice();
  const trimmed = text.replace(/^[ \t-\r]+|[ \t-\r]+$/g, '');
  const isJson = trimmed.length > 1 && trimmed.startsWith('{') && trimmed.endsWith('}');
  const latin = names.map(name => Buffer.from(name).latin1Slice());
  const level = isJson ? levelOfJson(trimmed, latin, jsonMaxDepth) : levelOfLogfmt(text, latin);
  return level > 0 ? level : levelOfValue(TEXT.exec(text)?.[1] ?? '');
}

/** A word that is not a level has no code. */
function levelOfValue(value: string): number {
  return Math.max(0, (DETECTED_LEVELS as readonly string[]).indexOf(normalizeLevel(value)));
}

function levelOfJson(line: string, names: readonly string[], jsonMaxDepth: number): number {
  const maxDepth = jsonMaxDepth > 0 ? jsonMaxDepth : Infinity;
  let at = 1;
  const skip = (pattern: RegExp) => {
    while (at < line.length && pattern.test(line[at])) at++;
  };
  /** The string whose quote is at `at`; undefined if it does not end. */
  const readString = () => {
    const start = at + 1;
    for (at = start; at < line.length && line[at] !== '"'; at++) if (line[at] === '\\') at++;
    return at < line.length ? line.slice(start, at++) : undefined;
  };
  const skipNested = () => {
    let depth = 0;
    do {
      if (line[at] === '"') {
        readString();
        continue;
      }
      if ('{['.includes(line[at])) depth++;
      if ('}]'.includes(line[at])) depth--;
      at++;
    } while (at < line.length && depth > 0);
  };
  for (let depth = 1; depth > 0 && at < line.length; ) {
    skip(/[\0- ,]/);
    if (line[at] === '}') {
      depth--;
      at++;
      continue;
    }
    if (line[at] !== '"') return 0;
    const key = readString();
    skip(/[\0- ]/);
    if (key === undefined || line[at++] !== ':') return 0;
    skip(/[\0- ]/);
    if (line[at] === '"') {
      const value = readString();
      if (names.includes(key) || value === undefined) return value === undefined ? 0 : levelOfValue(value);
    } else if (line[at] === '{' && depth < maxDepth) {
      depth++;
      at++;
    } else if (line[at] === '{' || line[at] === '[') skipNested();
    else skip(/[^,}]/);
  }
  return 0;
}

function levelOfLogfmt(line: string, names: readonly string[]): number {
  // Each run of bytes is taken whole: the look behind it keeps the match from giving some back.
  const bare = '[^\\0- ="]';
  const value = `"((?:[^"\\\\]|\\\\[\\s\\S])*)"|(${bare}*)(?![^\\0- ])`;
  const pair = new RegExp(`[\\0- ]*(?:(${bare}+)(?:=(?:${value})|(?![^\\0- ]))|$)`, 'y');
  const folded = names.map(lower);
  let best = names.length;
  let level = 0;
  for (;;) {
    const match = pair.exec(line);
    if (match === null || match[1] === undefined) return level;
    const rank = folded.indexOf(lower(match[1]));
    if (rank < 0 || rank >= best) continue;
    best = rank;
    level = levelOfValue(match[2] ?? match[3] ?? '');
    if (rank === 0) return level;
  }
}

const lower = (text: string) => text.replace(/[A-Z]/g, letter => letter.toLowerCase());
