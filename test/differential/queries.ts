/** Queries as trees that can be written as text and made smaller (shrink.ts). */
export type QueryTree = LogTree | MetricTree;

export interface LogTree {
  readonly kind: 'log';
  readonly selector: string;
  readonly stages: readonly string[];
}

export interface RangeTree {
  readonly kind: 'range';
  readonly op: string;
  readonly parameter?: number | undefined;
  readonly selector: string;
  readonly stages: readonly string[];
  /** `unwrap x`, with what follows. */
  readonly unwrap?: string | undefined;
  readonly filters: readonly string[];
  readonly range: string;
  readonly offset?: string | undefined;
  readonly grouping?: string | undefined;
}

interface AggregationTree {
  readonly kind: 'aggregation';
  readonly op: string;
  readonly parameter?: number | undefined;
  readonly grouping?: string | undefined;
  readonly inner: MetricTree;
}

interface BinaryTree {
  readonly kind: 'binary';
  readonly op: string;
  /** `bool`, `on (...)` and the like. */
  readonly modifiers: string;
  readonly left: MetricTree;
  readonly right: MetricTree;
}

interface ReplaceTree {
  readonly kind: 'replace';
  /** The arguments behind the first. */
  readonly texts: string;
  readonly inner: MetricTree;
}

/** A number or `vector(...)`. */
interface ConstantTree {
  readonly kind: 'constant';
  readonly text: string;
}

export type MetricTree = RangeTree | AggregationTree | BinaryTree | ReplaceTree | ConstantTree;

export function textOf(tree: QueryTree): string {
  switch (tree.kind) {
    case 'log':
      return [tree.selector, ...tree.stages].join(' ');
    case 'range': {
      const { op, parameter, selector, stages, unwrap, filters, range, offset, grouping } = tree;
      const unwraps = unwrap === undefined ? [] : [`| ${unwrap}`, ...filters.map(filter => `| ${filter}`)];
      const log = [selector, ...stages, ...unwraps].join(' ');
      const window = `[${range}]${offset === undefined ? '' : ` offset ${offset}`}`;
      const first = parameter === undefined ? '' : `${parameter}, `;
      return `${op}(${first}${log} ${window})${grouping === undefined ? '' : ` ${grouping}`}`;
    }
    case 'aggregation': {
      const { op, parameter, grouping, inner } = tree;
      const first = parameter === undefined ? '' : `${parameter}, `;
      return `${op}${grouping === undefined ? '' : ` ${grouping} `}(${first}${textOf(inner)})`;
    }
    case 'binary':
      return `(${textOf(tree.left)} ${tree.op}${tree.modifiers} ${textOf(tree.right)})`;
    case 'replace':
      return `label_replace(${textOf(tree.inner)}, ${tree.texts})`;
    case 'constant':
      return tree.text;
  }
}
