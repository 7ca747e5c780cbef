/**
 * Finds which of many selectors match a stream, or may match some stream of a chunk. Requests with the same
 * selector share it. Selectors with a label value are found by that value, so that not every selector is
 * tested. If a selector has several values, the one that the fewest others use finds it: the user in
 * `{app="x", user="17"}`.
 */

import type { Labels } from '../../base/model/labels.ts';
import type { Stream } from '../../base/model/page.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import { compileMatchers } from '../../language/logql/matcher.ts';
import { mayHaveAny, pairHash } from '../../storage/catalog/label-sketch.ts';
import type { DeleteFilter } from './delete-filter.ts';

/** Requests with the same selector. */
export interface SelectorGroup {
  readonly requests: readonly DeleteFilter[];
  /** Requests that apply to every chunk, whatever its age (steady), and the others (aging). */
  readonly steady: readonly DeleteFilter[];
  readonly aging: readonly DeleteFilter[];
  /** Labels that a stream must have. */
  readonly pairs: readonly LabelPair[];
  accepts(labels: Labels): boolean;
}

interface LabelPair {
  readonly text: string;
  readonly hash: readonly number[];
}

interface GroupsOfChunk {
  /**
   * Groups found by labels that the chunk may have; `all` if its labels are unknown, which includes `others`.
   */
  readonly byLabels: readonly SelectorGroup[] | 'all';
  /** Groups whose selector needs no label value. Always the same array. */
  readonly others: readonly SelectorGroup[];
}

const NONE: readonly SelectorGroup[] = Object.freeze([]);

export class SelectorGroups {
  readonly all: readonly SelectorGroup[];
  readonly #byPair = new Map<string, SelectorGroup[]>();
  readonly #byHash = new Map<number, SelectorGroup[]>();
  /** Groups whose selector needs no label value. */
  readonly #others: readonly SelectorGroup[];
  /** Streams live as long as caches of footers hold them. */
  readonly #known = new WeakMap<Stream, readonly SelectorGroup[]>();

  /** Throws an Error for an invalid regular expression of a matcher. */
  constructor(requests: readonly DeleteFilter[]) {
    const bySelector = new Map<string, DeleteFilter[]>();
    for (const request of requests) {
      const key = JSON.stringify(request.matchers.map(({ name, op, value }) => [name, op, value]));
      const alike = bySelector.get(key);
      if (alike === undefined) bySelector.set(key, [request]);
      else alike.push(request);
    }
    const groups = Array.from(bySelector.values(), groupOf);
    const uses = new Map<string, number>();
    for (const { pairs } of groups) {
      for (const { text } of pairs) uses.set(text, (uses.get(text) ?? 0) + 1);
    }
    for (const group of groups) {
      if (group.pairs.length === 0) continue;
      const rarest = group.pairs.reduce((a, b) => (uses.get(b.text)! < uses.get(a.text)! ? b : a));
      append(this.#byPair, rarest.text, group);
      append(this.#byHash, rarest.hash[0], group);
    }
    this.#others = groups.filter(({ pairs }) => pairs.length === 0);
    this.all = groups;
  }

  /** Groups that match the stream. */
  of(stream: Stream): readonly SelectorGroup[] {
    let groups = this.#known.get(stream);
    if (groups === undefined) {
      groups = this.#find(stream.labels);
      this.#known.set(stream, groups);
    }
    return groups;
  }

  /** False only if no stream of a chunk with this sketch can match. */
  mayMatch(group: SelectorGroup, sketch: Uint32Array | undefined): boolean {
    return group.pairs.every(({ hash }) => mayHaveAny(sketch, hash));
  }

  /** Groups that may match a stream of a chunk with this sketch. */
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

/** @param requests requests with the same selector */
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
