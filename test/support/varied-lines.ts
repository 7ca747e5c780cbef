/**
 * Lines of a few random shapes with values of many kinds, so that a page of them is split into templates and columns. Some values
 * contain the constant text around them, some lines are damaged. Lines are latin1 texts: each character is a byte.
 */
import type { Dice } from '../simulation/dice.ts';

/** Constant texts of a line; between two of them is a value. */
export interface Shape {
  readonly literals: readonly string[];
  readonly values: readonly ValueOf[];
}

interface Place {
  /** Unix ms of the row. */
  readonly timeMs: number;
  /** Number of the row. */
  readonly n: number;
}

type ValueOf = (dice: Dice, place: Place) => string;

/** Text as its UTF-8 bytes. */
export const bytes = (text: string) => Buffer.from(text).toString('latin1');
const hex = (dice: Dice, digits: number) =>
  Array.from({ length: digits }, () => dice.below(16).toString(16)).join('');
const iso = ({ timeMs }: Place) => new Date(timeMs).toISOString();

const KINDS: Readonly<Record<string, ValueOf>> = {
  ip: dice => `10.${dice.below(3)}.${dice.below(9)}.${dice.below(256)}`,
  host: dice => `${dice.pick(['web', 'db'])}-${dice.below(12)}-${dice.pick(['eu', 'us'])}`,
  word: dice => dice.pick(['info', 'warn', 'error', 'GET', 'POST', '-']),
  text: dice => dice.pick(['cache miss', 'job 12 done', 'a "b" c', 'no-space', `took ${dice.below(900)} ms`]),
  protocol: dice => dice.pick(['HTTP/1.1', 'HTTP/1.1', 'HTTP/2']),
  path: dice => `/${dice.pick(['a', 'items', 'v1'])}/${dice.below(40)}${dice.pick(['', '', '?q=1', '/-'])}`,
  count: (_, { n }) => `${1000 + n}`,
  number: dice => `${dice.below(dice.pick([3, 300, 1e9]))}`,
  negative: dice => `${dice.below(400) - 200}`,
  decimal: dice => (dice.below(9000) / 100 - 20).toFixed(dice.pick([1, 2])),
  padded: dice => `${dice.below(500)}`.padStart(6, '0'),
  status: dice => dice.pick(['200', '200', '200', '304', '404', '503']),
  hex: dice => hex(dice, 8),
  uuid: dice => `${hex(dice, 8)}-${hex(dice, 4)}-4${hex(dice, 3)}-${hex(dice, 12)}`,
  unit: dice => `${dice.below(99)}.${dice.below(9)}ms`,
  clock: (_, place) => iso(place),
  time: (_, place) => iso(place).slice(11, 19),
  apacheTime: (_, place) => `20/Nov/2025:${iso(place).slice(11, 19)} +0000`,
  empty: dice => dice.pick(['', '', 'x', '7']),
};
const ODD_VALUES = [
  '',
  ' ',
  '"',
  '\0',
  '\x01',
  '\0\0\x01',
  bytes('\u00fc'),
  bytes('\u{1f600} x'),
  '\xff',
  'a\xc3',
  '\\"',
  '\n',
];

function shape(text: string): Shape {
  const parts = text.split(/\{(\w+)\}/);
  return {
    literals: parts.filter((_, i) => i % 2 === 0),
    values: parts.filter((_, i) => i % 2 === 1).map(kind => KINDS[kind]),
  };
}

const FIXED = [
  '{ip} - - [{apacheTime}] "{word} {path} {protocol}" {status} {number}',
  '{ip} - - [{apacheTime}] "{word} {path} {protocol}" {status} {number} "-" "Agent/{decimal} (x; {word})"',
  '{ip} - {word} [{clock}] "{word} {path} HTTP/1.1" {status} {number} "{path}" "Agent/{decimal} (x; {word})"',
  '<34>{time} {host} app[{count}]: {text}',
  '<{number}>1 {clock} {host} su - ID{padded} - {text} for {ip}',
  'ts={clock} level={word} msg="{text}" n={number} took={unit} id={hex} last={empty}',
  'level={word} a={number} a={number} host={host} err="{empty}" msg="{text}"',
  'request {uuid} from {host} to {ip}:{number} took {decimal} s, status {status}',
  '{clock} [{word}] worker {number}: {text} ({negative} of {number})',
  '{number},{word},{decimal},{empty},{status}',
  '{"level":"{word}","n":{number},"msg":"{text}","path":"{path}"}',
  `${Array.from({ length: 36 }, () => '{number}').join(' ')}`,
];
const JOINTS = [
  ' ',
  '-',
  ' - ',
  '=',
  '|',
  ': ',
  ' [',
  '] "',
  '" ',
  ', ',
  '\t',
  ' ms ',
  'took ',
  ' a constant text of over 32 bytes in all ',
  '',
];

/** A line of the known forms, or of random parts. */
export function randomShape(dice: Dice): Shape {
  if (dice.chance(0.65)) return shape(dice.pick(FIXED));
  const kinds = Object.keys(KINDS);
  let text = dice.pick(['', '', '[', 'v1 ', 'k=']);
  for (let left = dice.between(2, 9); left > 0; left--) text += `{${dice.pick(kinds)}}${dice.pick(JOINTS)}`;
  return shape(text);
}

/** A value that makes a search for the texts around it stop elsewhere. */
function oddValue(dice: Dice, { literals }: Shape, at: number, value: string): string {
  const behind = literals[at + 1];
  const before = literals[at];
  const other = dice.pick(literals);
  switch (dice.below(7)) {
    case 0:
      return dice.pick(ODD_VALUES);
    case 1:
      return `${value}${other}${value}`;
    case 2:
      // Ends with the start of what follows, which then begins twice.
      return `${value}${behind.slice(0, dice.between(1, Math.max(1, behind.length - 1)))}`;
    case 3:
      return `${before.slice(dice.below(before.length + 1))}${value}`;
    case 4:
      return `${other.slice(dice.below(other.length + 1))}`;
    case 5:
      return `${dice.pick(ODD_VALUES)}${value}${dice.pick(ODD_VALUES)}`;
    default:
      return value.repeat(dice.pick([0, 2, 30]));
  }
}

function damaged(dice: Dice, line: string, other: string): string {
  const at = dice.below(line.length + 1);
  switch (dice.below(8)) {
    case 0:
      return dice.pick(['', '-', ' ', '\x16\x03\x01\x02\0', '"-" 400 0', '\0']);
    case 1:
      return line.slice(0, at);
    case 2:
      return line.slice(at);
    case 3:
      return `${line.slice(0, at)}${other.slice(dice.below(other.length + 1))}`;
    case 4:
      return `${line.slice(0, at)}${dice.pick(ODD_VALUES)}${line.slice(at)}`;
    case 5:
      return `${line} ${other}`;
    case 6:
      // More values than a template may have: the line is stored whole.
      return dice.chance(0.1)
        ? `${line}${' 1'.repeat(600)}`
        : line.replace(/[a-z]/g, letter => letter.toUpperCase());
    default:
      return line.replace(/\d+/, '');
  }
}

interface LinesToMake {
  readonly shapes: readonly Shape[];
  /** Share of rows with an unusual value or damage. */
  readonly oddShare: number;
  /** Lines have at least as many bytes together. */
  readonly leastBytes: number;
  /** Unix ms of a row. */
  readonly timeOf: (n: number) => number;
}

export function variedLines(dice: Dice, { shapes, oddShare, leastBytes, timeOf }: LinesToMake): string[] {
  // Some values repeat a few texts, others are new in each line.
  const pools = shapes.map(({ values }) =>
    values.map(newValue =>
      dice.chance(0.4) ? [1, 2, 3, 4].map(n => newValue(dice, { n, timeMs: timeOf(0) })) : undefined,
    ),
  );
  const weights = shapes.map(() => dice.pick([1, 1, 5]));
  const picks = weights.flatMap((weight, i) => new Array<number>(weight).fill(i));
  const lines: string[] = [];
  let bytesLeft = leastBytes;
  for (let n = 0; bytesLeft > 0; n++) {
    const which = dice.pick(picks);
    const own = shapes[which];
    const odd = dice.chance(oddShare) ? dice.below(own.values.length) : -1;
    let line = own.literals[0];
    for (const [i, newValue] of own.values.entries()) {
      const pool = pools[which][i];
      const value = pool === undefined ? newValue(dice, { n, timeMs: timeOf(n) }) : dice.pick(pool);
      line += (i === odd ? oddValue(dice, own, i, value) : value) + own.literals[i + 1];
    }
    const other = lines.length > 0 ? dice.pick(lines) : line;
    lines.push(dice.chance(oddShare / 2) ? damaged(dice, line, other) : line);
    bytesLeft -= lines[n].length;
  }
  return lines;
}
