/**
 * A YAML text with the positions of its values, so that a message can name line and column.
 *
 * Pitfall: a value may come from an anchor (`*name`, `<<: *name`). Its position is the one at which it is
 * written, which may be in the settings of another tenant.
 */

import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import type { Environment } from '../../base/model/environment.ts';
import { messageOf } from '../../base/model/errors.ts';
import { expandWithOffsets } from './config-environment.ts';
import { ConfigError } from './config-error.ts';

/** Keys of maps, and indices from 0 of lists, starting at the top of the text. */
export type ConfigPath = readonly (string | number)[];

export interface TextPosition {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  /** Number of leading path elements that exist. The position is that of the last of them. */
  readonly depth: number;
}

export interface ConfigText {
  /** Name for messages: path, key or variable. */
  readonly name: string;
  readonly value: unknown;
  positionOf(path: ConfigPath): TextPosition;
}

interface ConfigTextOptions {
  readonly name: string;
  /** Values for `${VAR}`; `undefined` leaves references unchanged. */
  readonly environment: Environment | undefined;
  /**
   * True for files of overrides: names are strings as written, `<<` merges, and an anchor may be used very
   * often.
   */
  readonly overrides: boolean;
}

/**
 * Maximum expansions of an anchor. Enough for settings that many tenants share, but prevents expansion to
 * gigabytes.
 */
const MAX_ALIASES = 10_000;
/** Reported syntax errors. In a file that is not YAML, each line can be an error. */
const MAX_SYNTAX_ERRORS = 20;
/** Depth of nested merges and anchors. Deeper ones are ignored. */
const MAX_MERGES = 20;

/** Throws ConfigError with all syntax errors and duplicate names. */
export function readConfigText(source: string, options: ConfigTextOptions): ConfigText {
  const { name, environment, overrides } = options;
  const { text, sourceOffset } =
    environment === undefined ? { text: source, sourceOffset: same } : expandWithOffsets(source, environment);
  let lines: LineCounter | undefined;
  const lineAt = (offset: number) => {
    lines ??= linesOf(source);
    return lines.linePos(sourceOffset(offset));
  };
  const document = parseDocument(
    text,
    // The parser's own search for duplicates compares all pairs: 5 minutes for 100,000 tenants. Its own
    // messages would quote lines that may contain secrets.
    { prettyErrors: false, uniqueKeys: false, ...(overrides && { stringKeys: true, merge: true }) },
  );
  const problems = [
    ...document.errors.map(({ message, pos: [offset] }) => ({ message, offset })),
    ...duplicateNames(document),
  ];
  if (problems.length > 0) {
    const listed = problems.slice(0, MAX_SYNTAX_ERRORS).map(({ message, offset }) => {
      const { line, col } = lineAt(offset);
      return `${name}:${line}:${col}: ${message}`;
    });
    throw new ConfigError(listed.join('\n'));
  }
  return {
    name,
    value: plainValue(document, options),
    positionOf: path => {
      const { offset, depth } = find(document, path);
      const { line, col } = lineAt(offset);
      return { line, column: col, depth };
    },
  };
}

function same(offset: number): number {
  return offset;
}

function linesOf(source: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}

function plainValue(document: Document, { name, overrides }: ConfigTextOptions): unknown {
  try {
    return document.toJS(overrides ? { maxAliasCount: MAX_ALIASES } : {});
  } catch (error) {
    throw new ConfigError(`${name}: ${messageOf(error)}`);
  }
}

/** Reports duplicates, because the first of two settings with one name would be lost silently. */
function duplicateNames(document: Document): { readonly message: string; readonly offset: number }[] {
  const found: { message: string; offset: number }[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        // Several anchors may be merged one by one.
        if (seen.has(name) && name !== '<<') {
          found.push({ message: `duplicate key ${String(name)}`, offset: startOf(key) ?? 0 });
        }
        seen.add(name);
      }
    },
  });
  return found;
}

function find(document: Document, path: ConfigPath): { readonly offset: number; readonly depth: number } {
  let node: unknown = document.contents;
  let found = { offset: startOf(node) ?? 0, depth: 0 };
  for (const [i, name] of path.entries()) {
    node = resolved(document, node);
    if (isSeq(node)) {
      node = node.items[Number(name)];
      const offset = startOf(node);
      if (offset === undefined) return found;
      found = { offset, depth: i + 1 };
      continue;
    }
    const pair = pairOf(document, node, String(name), 0);
    if (pair === undefined) return found;
    found = { offset: startOf(pair.key) ?? found.offset, depth: i + 1 };
    node = pair.value;
  }
  return found;
}

function pairOf(document: Document, node: unknown, name: string, merges: number): Pair | undefined {
  if (!isMap(node) || merges > MAX_MERGES) return undefined;
  const own = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === name);
  if (own !== undefined) return own;
  for (const { key, value } of node.items) {
    if (!isScalar(key) || String(key.value) !== '<<') continue;
    const merged = isSeq(value) ? value.items : [value];
    for (const one of merged) {
      const pair = pairOf(document, resolved(document, one), name, merges + 1);
      if (pair !== undefined) return pair;
    }
  }
  return undefined;
}

function resolved(document: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? ((node as Node).range?.[0] ?? undefined) : undefined;
}
