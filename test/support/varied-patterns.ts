/**
 * Patterns that mostly match lines of some shapes, and queries of their captures. Texts are latin1: each character is a byte.
 * Literals are valid UTF-8, because a pattern ends before its first byte that is not.
 */
import type { Dice } from '../simulation/dice.ts';
import { type CaptureFilter, capturesOf, numberOf, type OracleQuery } from './pattern-oracle.ts';
import type { Shape } from './varied-lines.ts';

type Part = { readonly literal: string } | { readonly name: string };

/** `status` is a label of a stream, and `path` is structured metadata of some rows. */
const NAMES = ['status', 'path', 'a', 'b', 'c', 'd', 'e', 'f'];

const isLiteral = (part: Part | undefined): part is { readonly literal: string } =>
  part !== undefined && 'literal' in part;

/** @param isPlain Whether the pattern has the constant texts of a shape, with one change at most */
export function randomPattern(
  dice: Dice,
  shapes: readonly Shape[],
  lines: readonly string[],
  isPlain = false,
): string {
  for (;;) {
    const isOfShape = isPlain || dice.chance(0.5);
    const parts = isOfShape ? partsOfShape(dice.pick(shapes)) : partsOfLine(dice, dice.pick(lines));
    let changed: Part[] =
      isPlain && dice.chance(0.3)
        ? parts.map(part => (isLiteral(part) ? { literal: part.literal.slice(0, 1) } : part))
        : parts;
    for (let left = dice.pick(isPlain ? [0, 1] : [0, 1, 2, 4]); left > 0; left--)
      changed = mutated(dice, changed, dice.pick(lines));
    const pattern = textOf(dice, changed);
    if (/<[a-z]/.test(pattern)) return pattern;
  }
}

function partsOfShape({ literals }: Shape): Part[] {
  return literals.flatMap((literal, i): Part[] => [
    { literal },
    ...(i < literals.length - 1 ? [{ name: '?' }] : []),
  ]);
}

/** Some places of a line as literals, wherever its values are. */
function partsOfLine(dice: Dice, line: string): Part[] {
  const parts: Part[] = [];
  let at = dice.chance(0.3) ? 0 : dice.below(12);
  if (at > 0) parts.push({ name: '?' });
  for (let left = dice.between(1, 5); left > 0 && at < line.length; left--) {
    const length = dice.pick([1, 1, 2, 3, 5, 9, 40]);
    parts.push({ literal: line.slice(at, at + length) }, { name: '?' });
    at += length + dice.below(30);
  }
  return parts;
}

function mutated(dice: Dice, parts: readonly Part[], line: string): Part[] {
  if (parts.length === 0) return [];
  const at = dice.below(parts.length);
  const part = parts[at];
  const replaced = (...by: Part[]) => parts.toSpliced(at, 1, ...by);
  switch (dice.below(9)) {
    case 0:
      return parts.slice(at);
    case 1:
      return parts.slice(0, at + 1);
    case 2:
      // A capture spans several values.
      return parts.toSpliced(at, isLiteral(part) ? 2 : 1);
    case 3:
      return isLiteral(part) ? replaced({ literal: part.literal.slice(0, 1) }) : replaced({ name: '_' });
    case 4:
      return isLiteral(part) ? replaced({ literal: part.literal.slice(-1) }) : replaced({ name: '_' });
    case 5: {
      if (!isLiteral(part)) return replaced({ name: '_' });
      // Continues with what is there in some line.
      const found = part.literal === '' ? -1 : line.indexOf(part.literal);
      if (found < 0)
        return replaced({ literal: dice.pick([' ', '-', '.', '0', '"', '/', '\x01', '\0', '1']) });
      return replaced({
        literal: line.slice(Math.max(0, found - dice.below(3)), found + part.literal.length + dice.below(4)),
      });
    }
    case 6:
      return replaced({ literal: line.slice(0, dice.between(1, 6)) }, { name: '?' });
    case 7: {
      const from = dice.below(line.length + 1);
      return replaced({ name: '?' }, { literal: line.slice(from, from + dice.between(1, 3)) });
    }
    default:
      return replaced({ name: '_' });
  }
}

/** Names the captures, joins neighbors of one kind, and drops bytes that a pattern cannot have. */
function textOf(dice: Dice, parts: readonly Part[]): string {
  const unnamed = dice.pick([0, 0.3, 0.7]);
  const names = [...NAMES];
  let text = '';
  let isCapture = false;
  for (const part of parts) {
    if (isLiteral(part)) {
      const literal = Buffer.from(part.literal, 'latin1')
        .toString()
        .replace(/[<>\ufffd]/g, '');
      if (literal === '') continue;
      text += Buffer.from(literal).toString('latin1');
      isCapture = false;
    } else if (!isCapture) {
      const isNamed = part.name !== '_' && names.length > 0 && !dice.chance(unnamed);
      text += `<${isNamed ? names.splice(dice.chance(0.6) ? 0 : dice.below(names.length), 1)[0] : '_'}>`;
      isCapture = true;
    }
  }
  return text;
}

/** Names of the captures of patterns. */
export function namesOf(patterns: readonly string[]): string[] {
  const found = patterns.flatMap(pattern => [...pattern.matchAll(/<([a-z]\w*)>/g)].map(([, name]) => name));
  return [...new Set(found)];
}

/** A filter on a capture that some lines pass. */
export function randomFilter(
  dice: Dice,
  patterns: readonly string[],
  lines: readonly string[],
): CaptureFilter {
  const name = dice.pick(namesOf(patterns));
  const pattern = dice.pick(patterns);
  const found = dice.chance(0.1) ? '' : (capturesOf(pattern, dice.pick(lines)).get(name) ?? '');
  const value = Buffer.from(found, 'latin1').toString().includes('\ufffd') ? '' : found;
  const number = numberOf(value);
  if (number !== undefined && /^\d+(\.\d+)?$/.test(`${number}`) && dice.chance(0.6))
    return { op: dice.pick(['==', '>', '>=', '<', '<='] as const), name, value: number };
  const plain = /^[\w /.:-]*$/.test(value);
  if (!plain || dice.chance(0.5)) return { op: dice.pick(['=', '=', '!=']), name, value };
  const escaped = value.replaceAll('.', '\\.');
  const regex = dice.pick([
    `${escaped.slice(0, 2).replace(/\\$/, '')}.*`,
    `.*${escaped.slice(-1)}`,
    `${escaped}|GET`,
    '.+',
    '[0-9]+',
    '',
  ]);
  return { op: dice.pick(['=~', '!~']), name, value: regex };
}

const quoted = (text: string) => JSON.stringify(Buffer.from(text, 'latin1').toString());

/** Stages of a query. */
export function stagesOf({ lineFilters, patterns, filters }: OracleQuery): string {
  return [
    ...lineFilters.map(({ op, text }) => `${op} ${quoted(text)}`),
    ...patterns.map(pattern => `| pattern ${quoted(pattern)}`),
    ...filters.map(filter => {
      if (filter.op === 'no error') return '| __error__=""';
      const { op, name, value } = filter;
      return `| ${name} ${op} ${typeof value === 'number' ? value : quoted(value)}`;
    }),
  ].join(' ');
}
