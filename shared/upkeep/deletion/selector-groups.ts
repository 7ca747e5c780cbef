/**
 * Which of many selectors match a stream, or may match some stream of a chunk. Requests with the same selector share it, and
 * those that ask for a label's value are found by that value, so that neither is tested against all. Where a selector
 * asks for several, the one that fewest others ask for finds it: of `{app="x", user="17"}` that is the user.
 */

import type { Labels } from '../../base/model/labels.ts';
import type { Stream } from '../../base/model/page.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import { compileMatchers } from '../../language/logql/matcher.ts';
import { mayHaveAny, pairHash } from '../../storage/catalog/label-sketch.ts';
import type { DeleteFilter } from './delete-filter.ts';

/** Requests with one selector. */
export interface SelectorGroup {
  readonly requests: readonly DeleteFilter[];
  /** Those of them that cover every chunk, whatever its age; and the others. */
  readonly steady: readonly DeleteFilter[];
  readonly aging: readonly DeleteFilter[];
  /** Labels that a stream must have. */
  readonly pairs: readonly Pair[];
  accepts(labels: Labels): boolean;
}

interface Pair {
  readonly text: string;
  readonly hash: readonly number[];
}

export interface GroupsOfChunk {
  /** Found by labels that the chunk may have; `all` where nothing is known of its labels: the others are among them then. */
  readonly byLabels: readonly SelectorGroup[] | 'all';
  /** Those that ask for no label's value; always the same array. */
  readonly others: readonly SelectorGroup[];
}

const NONE: readonly SelectorGroup[] = Object.freeze([]);

export class SelectorGroups {
  readonly all: readonly SelectorGroup[];
  readonly #byPair = new Map<string, SelectorGroup[]>();
  readonly #byHash = new Map<number, SelectorGroup[]>();
  /** Those that ask for no value. */
  readonly #others: readonly SelectorGroup[];
  /** Streams live as long as caches of footers hold them. */
  readonly #known = new WeakMap<Stream, readonly SelectorGroup[]>();

  /** Throws an Error for a broken expression of a matcher. */
  constructor(requests: readonly DeleteFilter[]) {
    const bySelector = new Map<string, DeleteFilter[]>();
    for (const request of requests) {
      const key = JSON.stringify(request.matchers.map(({ name, op, value }) => [name, op, value]));
      const alike = bySelector.get(key);
      if (alike === undefined) bySelector.set(key, [request]);
      else alike.push(request);
    }
    const groups = Array.from(bySelector.values(), groupOf);
    const askers = new Map<string, number>();
    for (const { pairs } of groups) {
      for (const { text } of pairs) askers.set(text, (askers.get(text) ?? 0) + 1);
    }
    for (const group of groups) {
      if (group.pairs.length === 0) continue;
      const rarest = group.pairs.reduce((a, b) => (askers.get(b.text)! < askers.get(a.text)! ? b : a));
      append(this.#byPair, rarest.text, group);
      append(this.#byHash, rarest.hash[0], group);
    }
    this.#others = groups.filter(({ pairs }) => pairs.length === 0);
    this.all = groups;
  }

  /** Those that match the stream. */
  of(stream: Stream): readonly SelectorGroup[] {
    let groups = this.#known.get(stream);
    if (groups === undefined) {
      groups = this.#find(stream.labels);
      this.#known.set(stream, groups);
    }
    return groups;
  }

  /** False only where no stream of a chunk with this sketch can match. */
  mayMatch(group: SelectorGroup, sketch: Uint32Array | undefined): boolean {
    return group.pairs.every(({ hash }) => mayHaveAny(sketch, hash));
  }

  /** Those that may match a stream of a chunk with this sketch. */
  ofChunk(sketch: Uint32Array | undefined): GroupsOfChunk {
    const others = this.#others;
    if (sketch === undefined) return { byLabels: 'all', others };
    const byLabels: SelectorGroup[] = [];
    for (const hash of sketch) {
      for (const group of this.#byHash.get(hash) ?? [])
        if (this.mayMatch(group, sketch)) byLabels.push(group);
    }
    return { byLabels, others };
  }

  #find(labels: Labels): readonly SelectorGroup[] {
    const possible = labels.flatMap(label => this.#byPair.get(textOf(label)) ?? []);
    const found = [...this.#others, ...possible].filter(({ accepts }) => accepts(labels));
    return found.length === 0 ? NONE : found;
  }
}

/** @param requests with one selector */
function groupOf(requests: readonly DeleteFilter[]): SelectorGroup {
  const [{ matchers }] = requests;
  const equal = matchers.filter(({ op, value }) => op === '=' && value !== '');
  return {
    requests,
    steady: requests.filter(({ isSteady }) => isSteady),
    aging: requests.filter(({ isSteady }) => !isSteady),
    pairs: equal.map(matcher => ({ text: textOf(matcher), hash: [pairHash(matcher.name, matcher.value)] })),
    accepts: compileMatchers(matchers),
  };
}

function append<K>(lists: Map<K, SelectorGroup[]>, key: K, group: SelectorGroup): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [group]);
  else list.push(group);
}

function textOf({ name, value }: Pick<Matcher, 'name' | 'value'>): string {
  return `${name}\u0000${value}`;
}
