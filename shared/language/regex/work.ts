/**
 * Bounds the work of a backtracking engine on a pattern, so that V8 runs only patterns and lengths on which
 * it cannot stall the process. All others run on re2js, which is linear but slower.
 *
 * The bound is `steps * n^degree` for a text of n units. It is computed from the end of the pattern backward.
 * Each part knows which characters the following parts may begin with, and therefore whether backtracking can
 * succeed. A loop over a set that the following parts cannot begin with fails immediately at any earlier end
 * (`[^"]*"`). A loop over a set that they may begin with (`.*error`) tries them at every possible length.
 *
 * Pitfall: a search that may start anywhere repeats the work for every start. Thus `\s+$` is quadratic
 * although each try is linear. The search remains linear if every try needs a character that no loop of the
 * pattern can cross. An example is `"[^"]*x`: tries begin at quotes, and no try reads past more than one.
 */
import { ALL_CHARS, type CharSet, disjoint, NO_CHARS, union } from './char-set.ts';
import { isNullable, partsOf, type RegexNode } from './syntax.ts';

export interface Work {
  readonly steps: number;
  /** Degree in the text length: 0 is constant, 1 linear, 2 quadratic. */
  readonly degree: number;
}

/** Work of a pattern that exceeds a limit, or has a shape that this analysis does not support. */
const UNBOUNDED_WORK: Work = { steps: Number.POSITIVE_INFINITY, degree: Number.POSITIVE_INFINITY };

/** Continuation of a part: the rest of the pattern. */
interface Continuation extends Work {
  /** Characters that it may read first. */
  readonly first: CharSet;
  /** Whether it may succeed or fail without reading a character. */
  readonly nullable: boolean;
  /** Whether it always matches, so that the preceding part never backtracks. */
  readonly infallible: boolean;
}

const END_OF_PATTERN: Continuation = {
  steps: 1,
  degree: 0,
  first: NO_CHARS,
  nullable: true,
  infallible: true,
};

const NEWLINE: CharSet = [10, 10];

/** Step limit; more steps count as unbounded. It also stops the analysis of hostile patterns early. */
const MAX_STEPS = 1e6;

/** Returns the work of finding the first match, or all matches, of `node` in a text. */
export function searchWork(node: RegexNode): Work {
  const work = restWork(node, END_OF_PATTERN);
  if (!(work.steps <= MAX_STEPS)) return UNBOUNDED_WORK;
  if (isAnchored(node)) return { steps: work.steps, degree: Math.max(1, work.degree) };
  if (work.degree === 0) return { steps: work.steps, degree: 1 };
  if (work.degree === 1) {
    const guards = guardsOf(node, loopChars(node));
    if (guards !== undefined) {
      const everyGuard = guards.reduce(union, NO_CHARS);
      const positions = 1 + guardPositions(node, everyGuard);
      return { steps: work.steps * guards.length * positions, degree: 1 };
    }
  }
  return { steps: work.steps, degree: work.degree + 1 };
}

/** Returns whether a match can only start at the start of the text. */
export function isAnchored(node: RegexNode): boolean {
  switch (node.type) {
    case 'assertion':
      return node.kind === 'textStart';
    case 'group':
      return isAnchored(node.node);
    case 'concat':
      return isAnchored(node.nodes[0]);
    case 'alternate':
      return node.nodes.every(isAnchored);
    default:
      return false;
  }
}

/** Returns the work of one try of `node` followed by `rest`. */
function restWork(node: RegexNode, rest: Continuation): Continuation {
  switch (node.type) {
    case 'empty':
      return rest;
    case 'chars':
      return {
        steps: 1 + rest.steps,
        degree: rest.degree,
        first: node.set,
        nullable: false,
        infallible: false,
      };
    case 'assertion':
      return { ...rest, steps: 1 + rest.steps, nullable: true, infallible: false };
    case 'group':
      return restWork(node.node, rest);
    case 'concat':
      return node.nodes.reduceRight((after, part) => restWork(part, after), rest);
    case 'alternate':
      return choice(node.nodes.map(branch => restWork(branch, rest)));
    case 'repeat':
      return node.max === Number.POSITIVE_INFINITY ? loopWork(node, rest) : countedWork(node, rest);
  }
}

type Repeat = Extract<RegexNode, { type: 'repeat' }>;

/** Expands `x{min,max}`: each copy above `min` is a choice between continuing and leaving. */
function countedWork({ node, min, max }: Repeat, rest: Continuation): Continuation {
  let work = rest;
  for (let copy = max; copy > 0; copy--) {
    const body = restWork(node, work);
    work = copy > min ? choice([body, rest]) : body;
    if (!(work.steps <= MAX_STEPS)) break;
  }
  return work;
}

function loopWork({ node, min }: Repeat, rest: Continuation): Continuation {
  const sets = setsOfPlainBody(node);
  if (sets === undefined) return { ...UNBOUNDED_WORK, first: ALL_CHARS, nullable: true, infallible: false };
  const first = sets[0];
  const steps = sets.length * (min + 1) + rest.steps;
  let { degree } = rest;
  // If the continuation cannot fail, the loop never backtracks; a single pass over the text is not counted.
  if (!rest.infallible) degree = disjoint(first, rest.first) ? Math.max(1, degree) : degree + 1;
  if (min > 0) return { steps, degree, first, nullable: false, infallible: false };
  return {
    steps,
    degree,
    first: union(first, rest.first),
    nullable: rest.nullable,
    infallible: rest.infallible,
  };
}

/** Returns the sets of a loop body that is a plain character sequence; undefined for any other body. */
function setsOfPlainBody(node: RegexNode): CharSet[] | undefined {
  if (node.type === 'chars') return [node.set];
  if (node.type === 'group') return setsOfPlainBody(node.node);
  if (node.type !== 'concat') return undefined;
  const sets: CharSet[] = [];
  for (const part of node.nodes) {
    const inner = setsOfPlainBody(part);
    if (inner === undefined) return undefined;
    sets.push(...inner);
  }
  return sets;
}

/**
 * Combines alternatives. At a given next character, only the alternatives that can read it continue. The
 * character with the most expensive alternatives therefore counts. Alternatives that read no text always
 * count.
 */
function choice(ways: readonly Continuation[]): Continuation {
  let always = ways.length;
  let degree = 0;
  let first: CharSet = NO_CHARS;
  const edges: { at: number; steps: number }[] = [];
  for (const way of ways) {
    degree = Math.max(degree, way.degree);
    first = union(first, way.first);
    if (way.nullable) always += way.steps;
    else {
      for (let i = 0; i < way.first.length; i += 2) {
        edges.push({ at: way.first[i], steps: way.steps }, { at: way.first[i + 1] + 1, steps: -way.steps });
      }
    }
  }
  edges.sort((a, b) => a.at - b.at || a.steps - b.steps);
  let open = 0;
  let worst = 0;
  for (const edge of edges) {
    open += edge.steps;
    worst = Math.max(worst, open);
  }
  const steps = always + worst;
  return {
    // Infinite ways cancel out to NaN above.
    steps: Number.isNaN(steps) ? Number.POSITIVE_INFINITY : steps,
    degree,
    first,
    nullable: ways.some(way => way.nullable),
    infallible: ways.some(way => way.infallible),
  };
}

/** Returns all characters that unbounded loops of the pattern can cross. */
function loopChars(node: RegexNode): CharSet {
  switch (node.type) {
    case 'group':
      return loopChars(node.node);
    case 'repeat':
      return node.max === Number.POSITIVE_INFINITY ? allCharsOf(node.node) : loopChars(node.node);
    case 'concat':
    case 'alternate':
      return node.nodes.reduce((set, part) => union(set, loopChars(part)), NO_CHARS);
    default:
      return NO_CHARS;
  }
}

function allCharsOf(node: RegexNode): CharSet {
  switch (node.type) {
    case 'chars':
      return node.set;
    case 'group':
    case 'repeat':
      return allCharsOf(node.node);
    case 'concat':
    case 'alternate':
      return node.nodes.reduce((set, part) => union(set, allCharsOf(part)), NO_CHARS);
    default:
      return NO_CHARS;
  }
}

/**
 * Returns one set of guard characters for each way to begin a match. Every match that begins so has a guard
 * at a fixed distance from its start, and no loop crosses guards. Returns undefined if a way has no guard.
 */
function guardsOf(node: RegexNode, loops: CharSet): CharSet[] | undefined {
  switch (node.type) {
    case 'chars':
      return disjoint(node.set, loops) ? [node.set] : undefined;
    case 'assertion':
      // A NEWLINE, or the start of the text, precedes the match.
      return node.kind === 'lineStart' && disjoint(NEWLINE, loops) ? [NEWLINE] : undefined;
    case 'group':
      return guardsOf(node.node, loops);
    case 'repeat':
      return node.min > 0 && !isNullable(node.node) ? guardsOf(node.node, loops) : undefined;
    case 'alternate': {
      const guards: CharSet[] = [];
      for (const branch of node.nodes) {
        const found = guardsOf(branch, loops);
        if (found === undefined) return undefined;
        guards.push(...found);
      }
      return guards;
    }
    case 'concat':
      for (const part of partsOf(node)) {
        const found = guardsOf(part, loops);
        if (found !== undefined) return found;
        if (part.type !== 'chars' && part.type !== 'assertion') return undefined;
      }
      return undefined;
    default:
      return undefined;
  }
}

/** Returns the number of positions outside loops at which one try can read a guard character. */
function guardPositions(node: RegexNode, guards: CharSet): number {
  switch (node.type) {
    case 'chars':
      return disjoint(node.set, guards) ? 0 : 1;
    case 'group':
      return guardPositions(node.node, guards);
    case 'repeat':
      return (
        guardPositions(node.node, guards) * (node.max === Number.POSITIVE_INFINITY ? node.min : node.max)
      );
    case 'concat':
    case 'alternate':
      return node.nodes.reduce((total, part) => total + guardPositions(part, guards), 0);
    default:
      return 0;
  }
}
