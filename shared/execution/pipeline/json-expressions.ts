/**
 * `| json a="user.name", b="tags[0]"` (docs/dev/logql-semantics.md#json-with-expressions). Only the named paths are read, and the scan
 * stops when all are found.
 *
 * Pitfall: a missing path sets its label to "" unless the name is already readable. The line need not be
 * valid JSON: any quoted string before a colon is a key. Keys after broken parts are therefore found too, and
 * only a broken value at a path is reported.
 */

import { LineMarks, nextMark } from '../../base/kernels/line-memory.ts';
import { bytesOfText } from '../../base/model/byte-text.ts';
import {
  BACKSLASH,
  BAD_ARRAY,
  BAD_JSON,
  BAD_OBJECT,
  BAD_STRING,
  blockEnd,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  JSON_FAILURES,
  JSON_PARSER_ERROR,
  OK,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
  tokenEnd,
  UNKNOWN_VALUE,
  WORD_NULL,
  WORD_UNKNOWN,
  wordKind,
} from '../../base/text/json-scan.ts';
import { unescapeJson } from '../../base/text/text.ts';
import type { Extraction } from '../../language/logql/ast.ts';
import type { EarlyTests } from './early-tests.ts';
import { MAX_PATH_PARTS, parseJsonPath } from './json-path.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_CLEAN, KIND_JSON, type RowLabels } from './row-labels.ts';

/** Node in the tree of all paths. */
interface PathNode {
  readonly fields: { readonly key: Buffer; readonly node: PathNode }[];
  readonly items: Map<number, PathNode>;
  /** Labels that this node sets. */
  readonly targets: number[];
  /** Row that last set them. */
  filledIn: number;
}

function newNode(): PathNode {
  return { fields: [], items: new Map(), targets: [], filledIn: 0 };
}

/** Throws an Error with the reference's text for an invalid path. */
export function compileJsonExpressions(
  extractions: readonly Extraction[],
  labels: RowLabels,
  early: EarlyTests,
): RowStage {
  const root = newNode();
  const ids: number[] = [];
  for (const { name, expression } of extractions) {
    const id = labels.intern(name);
    labels.suffixed(id);
    ids.push(id);
    let node = root;
    for (const part of parseJsonPath(expression)) node = childOf(node, part);
    node.targets.push(id);
  }
  // A name that occurs twice is set twice, so its first value decides nothing.
  const triesEarly = !early.isEmpty && new Set(ids).size === ids.length;
  const walk = new PathWalk(root, labels, triesEarly ? early : undefined, ids.length);
  return (row: Row) => {
    const source = row.source;
    const start = row.start;
    const end = row.end;
    if (start === end || labels.allFound) return true;
    const first = source[start];
    if (first !== QUOTE && first !== OPEN_BRACE && first !== OPEN_BRACKET) {
      labels.failParsing(JSON_PARSER_ERROR, undefined);
      return true;
    }
    walk.run(source, start, end);
    if (walk.dropped) return false;
    if (walk.failure > 0) labels.failParsing(JSON_PARSER_ERROR, JSON_FAILURES[walk.failure]);
    // A path with a broken value also gets an empty label.
    if (walk.missing > 0 || walk.failure > 0) {
      for (let i = 0; i < ids.length; i++) {
        if (labels.get(ids[i]) === undefined) labels.setText(ids[i], '');
      }
    }
    return true;
  };
}

function childOf(node: PathNode, part: string | number): PathNode {
  if (typeof part === 'number') {
    let child = node.items.get(part);
    if (child === undefined) node.items.set(part, (child = newNode()));
    return child;
  }
  const key = bytesOfText(part);
  const known = node.fields.find(field => field.key.equals(key));
  if (known !== undefined) return known.node;
  const child = newNode();
  node.fields.push({ key, node: child });
  return child;
}

/** Results of a scan: continue with the line, or stop. */
const GO_ON = 0;
const OVER = -2;

class PathWalk {
  readonly #root: PathNode;
  readonly #labels: RowLabels;
  readonly #early: EarlyTests | undefined;
  readonly #count: number;
  /** Node to which the keys of each brace level lead. An element of an array starts a new level. */
  readonly #nodes: (PathNode | undefined)[] = [];
  readonly #marks = new LineMarks({ a: QUOTE, b: BACKSLASH, c: QUOTE, below: 0 });
  #serial = 0;
  #source: Buffer = Buffer.alloc(0);
  /** Number of labels that are not set yet. */
  missing = 0;
  /** Outcome of json-scan.ts, 0 if nothing failed. */
  failure = 0;
  dropped = false;

  constructor(root: PathNode, labels: RowLabels, early: EarlyTests | undefined, count: number) {
    this.#root = root;
    this.#labels = labels;
    this.#early = early;
    this.#count = count;
  }

  run(source: Buffer, start: number, end: number): void {
    this.#serial++;
    this.#source = source;
    this.missing = this.#count;
    this.failure = 0;
    this.dropped = false;
    // Strings are most of a line, and the kernel finds their ends ten times faster than a JavaScript loop.
    this.#marks.set(source, start, end);
    this.#scan(this.#root, start, end, 0);
  }

  /**
   * Searches a range for the paths below `root`: any string before a colon is a key, and braces count levels.
   * Skips everything else. Returns OVER when no more paths are needed.
   */
  #scan(root: PathNode, start: number, end: number, base: number): number {
    const source = this.#source;
    const nodes = this.#nodes;
    const { words, shift } = this.#marks;
    nodes[base] = root;
    let level = 0;
    let at = start;
    while (at < end) {
      const byte = source[at];
      if (byte === QUOTE) {
        const keyStart = ++at;
        let escaped = false;
        at = nextMark(words, shift, at);
        while (at < end && source[at] === BACKSLASH) {
          escaped = true;
          at = at + 2 < end ? nextMark(words, shift, at + 2) : end;
        }
        if (at >= end) return GO_ON;
        const keyEnd = at++;
        if (at < end && source[at] <= 0x20) at = skipSpace(source, at, end);
        if (at >= end || source[at] !== COLON) continue;
        at++;
        const unescaped = escaped ? unescapeJson(source, keyStart, keyEnd) : '';
        if (level < 1) {
          if (unescaped !== undefined) this.failure = BAD_JSON;
          return OVER;
        }
        // Below the longest path, nothing can match.
        const parent = level <= MAX_PATH_PARTS ? nodes[base + level - 1] : undefined;
        // A key with an invalid escape ends the search. Array elements outside all paths are not searched.
        if (unescaped === undefined && (base === 0 || parent !== undefined)) return GO_ON;
        const node =
          parent &&
          (escaped ? childNamed(parent, unescaped) : childWithKey(parent, source, keyStart, keyEnd));
        if (level <= MAX_PATH_PARTS) nodes[base + level] = node;
        if (node !== undefined && node.targets.length > 0 && node.filledIn !== this.#serial) {
          node.filledIn = this.#serial;
          this.missing -= node.targets.length;
          this.failure = this.#fill(node, skipSpace(source, at, end), end) || this.failure;
          if (this.dropped || this.missing === 0) return OVER;
        }
        continue;
      }
      at++;
      if (byte === OPEN_BRACE) {
        level++;
        if (level <= MAX_PATH_PARTS) nodes[base + level] = undefined;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) level--;
      else if (byte === OPEN_BRACKET) {
        if (level < 0) {
          this.failure = BAD_JSON;
          return OVER;
        }
        const node = level <= MAX_PATH_PARTS ? nodes[base + level] : undefined;
        if (node !== undefined && node.items.size > 0) {
          // Count the object as open: its closing bracket follows.
          level++;
          at = this.#elements(node, at, end, base + level);
        } else at = blockEnd(source, at - 1, end);
        if (at < 0) return at === -1 ? GO_ON : OVER;
      }
    }
    return GO_ON;
  }

  /** Visits the elements of an array. Returns the offset of its closing bracket or of an error, or OVER. */
  #elements(node: PathNode, start: number, end: number, base: number): number {
    const source = this.#source;
    let at = skipSpace(source, start, end);
    for (let index = 0; at < end && source[at] !== CLOSE_BRACKET; index++) {
      const stop = this.#valueEnd(at, end);
      if (stop < 0) return at;
      const child = node.items.get(index);
      if (child !== undefined) {
        if (child.targets.length > 0 && child.filledIn !== this.#serial) {
          child.filledIn = this.#serial;
          this.missing -= child.targets.length;
          this.failure = this.#fill(child, at, stop) || this.failure;
          if (this.dropped || this.missing === 0) return OVER;
        }
        const isBlock = source[at] === OPEN_BRACE || source[at] === OPEN_BRACKET;
        if (isBlock && this.#scan(child, at, stop, base + 1) === OVER) return OVER;
      }
      at = skipSpace(source, stop, end);
      if (at >= end || source[at] !== COMMA) return at;
      at = skipSpace(source, at + 1, end);
    }
    return at;
  }

  /** Sets the labels of a node from the value at `at`. Returns OK or the failure of the value. */
  #fill(node: PathNode, at: number, end: number): number {
    const source = this.#source;
    if (at >= end) return BAD_JSON;
    const first = source[at];
    let start = at;
    let stop: number;
    let kind = KIND_CLEAN;
    if (first === QUOTE) {
      start = at + 1;
      const { words, shift } = this.#marks;
      stop = nextMark(words, shift, start);
      while (stop < end && source[stop] === BACKSLASH) {
        kind = KIND_JSON;
        stop = stop + 2 < end ? nextMark(words, shift, stop + 2) : end;
      }
      if (stop >= end) return BAD_STRING;
    } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      stop = blockEnd(source, at, end);
      if (stop < 0) return first === OPEN_BRACE ? BAD_OBJECT : BAD_ARRAY;
    } else {
      stop = tokenEnd(source, at, end);
      const word = wordKind(source, at, stop);
      if (word === WORD_UNKNOWN) return UNKNOWN_VALUE;
      if (word === WORD_NULL) stop = start;
    }
    const labels = this.#labels;
    for (let i = 0; i < node.targets.length; i++) {
      const id = node.targets[i];
      const name = labels.collides(id) ? labels.suffixed(id) : id;
      labels.setBytes(name, kind, source, start, stop);
      if (this.#early?.rejects(name, labels)) this.dropped = true;
    }
    return OK;
  }

  #valueEnd(at: number, end: number): number {
    const source = this.#source;
    const first = source[at];
    if (first === QUOTE) {
      const stop = stringEnd(source, at + 1, end);
      return stop < 0 ? -1 : stop + 1;
    }
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return blockEnd(source, at, end);
    const stop = tokenEnd(source, at, end);
    return stop === at || wordKind(source, at, stop) === WORD_UNKNOWN ? -1 : stop;
  }
}

function childNamed(node: PathNode, name: string | undefined): PathNode | undefined {
  if (name === undefined) return undefined;
  const key = bytesOfText(name);
  return node.fields.find(field => field.key.equals(key))?.node;
}

function childWithKey(
  { fields }: PathNode,
  source: Buffer,
  start: number,
  end: number,
): PathNode | undefined {
  const length = end - start;
  for (let i = 0; i < fields.length; i++) {
    const key = fields[i].key;
    if (key.length !== length) continue;
    let j = 0;
    while (j < length && key[j] === source[start + j]) j++;
    if (j === length) return fields[i].node;
  }
  return undefined;
}
