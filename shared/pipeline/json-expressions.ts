/**
 * `| json a="user.name", b="tags[0]"` (logql reference 7.2): only the named paths are read, the walk stops when all
 * are found. What a reader would get wrong: a path that is missing still sets its label to "" unless the name is
 * readable already, and malformed JSON beside the paths is not reported.
 */
import type { Extraction } from '../logql/ast.ts';
import type { EarlyTests } from './early-tests.ts';
import { parseJsonPath } from './json-path.ts';
import {
  BACKSLASH,
  BAD_ARRAY,
  BAD_OBJECT,
  BAD_STRING,
  blockEnd,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  JSON_FAILURES,
  JSON_PARSER_ERROR,
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
} from './json-scan.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_CLEAN, KIND_JSON, type RowLabels } from './row-labels.ts';
import { unescapeJson } from './text.ts';

/** One place in the tree of all paths. */
interface PathNode {
  readonly fields: { readonly key: Buffer; readonly node: PathNode }[];
  readonly items: Map<number, PathNode>;
  /** Labels that this place fills. */
  readonly targets: number[];
  /** The row that last filled them. */
  filledIn: number;
}

function newNode(): PathNode {
  return { fields: [], items: new Map(), targets: [], filledIn: 0 };
}

/** Throws an Error with the reference's text for a bad path. */
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
  // A name that stands twice is set twice: the first value decides nothing.
  const triesEarly = !early.isEmpty && new Set(ids).size === ids.length;
  const walk = new Walk(root, labels, triesEarly ? early : undefined, ids.length);
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
    if (walk.missing > 0) {
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
  const key = Buffer.from(part);
  const known = node.fields.find(field => field.key.equals(key));
  if (known !== undefined) return known.node;
  const child = newNode();
  node.fields.push({ key, node: child });
  return child;
}

class Walk {
  readonly #root: PathNode;
  readonly #labels: RowLabels;
  readonly #early: EarlyTests | undefined;
  readonly #count: number;
  #serial = 0;
  #source: Buffer = Buffer.alloc(0);
  #end = 0;
  /** Labels not filled yet. */
  missing = 0;
  /** An outcome of json-scan.ts, 0 where nothing failed. */
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
    this.#end = end;
    this.missing = this.#count;
    this.failure = 0;
    this.dropped = false;
    this.#inside(this.#root, start);
  }

  /** Looks for the children of a node in the block at `at`. Place after it, or -1 where the walk is over. */
  #inside(node: PathNode, at: number): number {
    if (this.#source[at] === OPEN_BRACE && node.fields.length > 0) return this.#object(node, at + 1);
    if (this.#source[at] === OPEN_BRACKET && node.items.size > 0) return this.#array(node, at + 1);
    return this.#skipValue(at);
  }

  #object(node: PathNode, start: number): number {
    const source = this.#source;
    const end = this.#end;
    let at = skipSpace(source, start, end);
    while (at < end && source[at] === QUOTE) {
      const keyStart = at + 1;
      let escaped = false;
      at = keyStart;
      while (at < end && source[at] !== QUOTE) {
        if (source[at] === BACKSLASH) {
          escaped = true;
          at++;
        }
        at++;
      }
      if (at >= end) return -1;
      const child = childNamed(node, source, keyStart, at, escaped);
      at = skipSpace(source, at + 1, end);
      if (at >= end || source[at] !== COLON) return -1;
      at = skipSpace(source, at + 1, end);
      if (at >= end) return -1;
      at = child === undefined ? this.#skipValue(at) : this.#take(child, at);
      if (at < 0) return -1;
      at = skipSpace(source, at, end);
      if (at < end && source[at] === COMMA) at = skipSpace(source, at + 1, end);
    }
    return at < end && source[at] === CLOSE_BRACE ? at + 1 : -1;
  }

  #array(node: PathNode, start: number): number {
    const source = this.#source;
    const end = this.#end;
    let at = skipSpace(source, start, end);
    for (let index = 0; at < end && source[at] !== CLOSE_BRACKET; index++) {
      const child = node.items.get(index);
      at = child === undefined ? this.#skipValue(at) : this.#take(child, at);
      if (at < 0) return -1;
      at = skipSpace(source, at, end);
      if (at >= end) return -1;
      if (source[at] === COMMA) at = skipSpace(source, at + 1, end);
      else if (source[at] !== CLOSE_BRACKET) return -1;
    }
    return at < end ? at + 1 : -1;
  }

  /** The value at a path: fills its labels, then looks inside. */
  #take(node: PathNode, at: number): number {
    if (node.targets.length === 0 || node.filledIn === this.#serial) return this.#inside(node, at);
    node.filledIn = this.#serial;
    const source = this.#source;
    const end = this.#end;
    const first = source[at];
    let kind = KIND_CLEAN;
    let start = at;
    let stop: number;
    let after: number;
    if (first === QUOTE) {
      start = at + 1;
      stop = stringEnd(source, start, end);
      if (stop < 0) return this.#fail(BAD_STRING);
      for (let i = start; i < stop; i++) if (source[i] === BACKSLASH) kind = KIND_JSON;
      after = stop + 1;
    } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      stop = blockEnd(source, at, end);
      if (stop < 0) return this.#fail(first === OPEN_BRACE ? BAD_OBJECT : BAD_ARRAY);
      after = stop;
    } else {
      stop = tokenEnd(source, at, end);
      const word = wordKind(source, at, stop);
      if (word === WORD_UNKNOWN) return this.#fail(UNKNOWN_VALUE);
      after = stop;
      if (word === WORD_NULL) stop = start;
    }
    for (let i = 0; i < node.targets.length; i++) {
      const id = node.targets[i];
      const name = this.#labels.collides(id) ? this.#labels.suffixed(id) : id;
      this.#labels.setBytes(name, kind, source, start, stop);
      if (this.#early?.rejects(name, this.#labels)) {
        this.dropped = true;
        return -1;
      }
      this.missing--;
    }
    if (this.missing === 0) return -1;
    return node.fields.length > 0 || node.items.size > 0 ? this.#inside(node, at) : after;
  }

  #fail(failure: number): number {
    this.failure = failure;
    return -1;
  }

  #skipValue(at: number): number {
    const source = this.#source;
    const first = source[at];
    if (first === QUOTE) {
      const stop = stringEnd(source, at + 1, this.#end);
      return stop < 0 ? -1 : stop + 1;
    }
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return blockEnd(source, at, this.#end);
    const stop = tokenEnd(source, at, this.#end);
    return stop === at ? -1 : stop;
  }
}

function childNamed(
  node: PathNode,
  source: Buffer,
  start: number,
  end: number,
  escaped: boolean,
): PathNode | undefined {
  if (escaped) {
    const key = unescapeJson(source, start, end);
    return key === undefined ? undefined : node.fields.find(field => field.key.equals(Buffer.from(key)))?.node;
  }
  const { fields } = node;
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
