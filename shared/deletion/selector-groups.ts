/**
 * Which of many selectors match a stream. Requests with the same selector share it, and those that ask for a label's value
 * are found by that, so that a stream is not tested against all.
 */
import { mayHaveAny, pairHash } from '../catalog/pair-sketch.ts';
import type { Matcher } from '../logql/ast.ts';
import { compileMatchers } from '../logql/matcher.ts';
import type { Labels } from '../model/labels.ts';
import type { Stream } from '../model/page.ts';
import type { MaskRequest } from './mask-request.ts';

/** Requests with one selector. */
export interface SelectorGroup {
  readonly requests: readonly MaskRequest[];
  /** False only where no stream of a chunk with this sketch can match. */
  mayMatch(sketch: Uint32Array | undefined): boolean;
}

interface Group extends SelectorGroup {
  readonly requests: MaskRequest[];
  readonly accepts: (labels: Labels) => boolean;
}

const NONE: readonly SelectorGroup[] = Object.freeze([]);

export class SelectorGroups {
  readonly all: readonly SelectorGroup[];
  private readonly byPair = new Map<string, Group[]>();
  private readonly others: Group[] = [];
  /** Streams live as long as caches of footers hold them. */
  private readonly known = new WeakMap<Stream, readonly SelectorGroup[]>();

  /** Throws an Error for a broken expression of a matcher. */
  constructor(requests: readonly MaskRequest[]) {
    const groups = new Map<string, Group>();
    for (const request of requests) {
      const key = JSON.stringify(request.matchers.map(({ name, op, value }) => [name, op, value]));
      const group = groups.get(key);
      if (group === undefined) groups.set(key, this.add(request));
      else group.requests.push(request);
    }
    this.all = [...groups.values()];
  }

  /** Those that match the stream. */
  of(stream: Stream): readonly SelectorGroup[] {
    let groups = this.known.get(stream);
    if (groups === undefined) {
      groups = this.find(stream.labels);
      this.known.set(stream, groups);
    }
    return groups;
  }

  private add(request: MaskRequest): Group {
    const { matchers } = request;
    const equal = matchers.filter(({ op, value }) => op === '=' && value !== '');
    const hashes = equal.map(({ name, value }) => [pairHash(name, value)]);
    const group: Group = {
      requests: [request],
      accepts: compileMatchers(matchers),
      mayMatch: sketch => hashes.every(hash => mayHaveAny(sketch, hash)),
    };
    if (equal.length === 0) this.others.push(group);
    else {
      const key = pairKey(equal[0]);
      const ofPair = this.byPair.get(key);
      if (ofPair === undefined) this.byPair.set(key, [group]);
      else ofPair.push(group);
    }
    return group;
  }

  private find(labels: Labels): readonly SelectorGroup[] {
    const possible = labels.flatMap(label => this.byPair.get(pairKey(label)) ?? []);
    const found = [...this.others, ...possible].filter(({ accepts }) => accepts(labels));
    return found.length === 0 ? NONE : found;
  }
}

function pairKey({ name, value }: Pick<Matcher, 'name' | 'value'>): string {
  return `${name}\u0000${value}`;
}
