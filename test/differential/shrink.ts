/** Shrinks a query while it keeps a property: removes stages first, then the expressions around them. */
import type { MetricTree, QueryTree } from './queries.ts';

/** Maximum number of tried trees: each runs in both engines. */
const MAX_TRIES = 300;

export async function shrink(
  tree: QueryTree,
  stillFails: (tree: QueryTree) => Promise<boolean>,
): Promise<QueryTree> {
  let smallest = tree;
  let tries = 0;
  for (let isSmaller = true; isSmaller && tries < MAX_TRIES; ) {
    isSmaller = false;
    for (const candidate of smallerThan(smallest)) {
      if (tries++ === MAX_TRIES) break;
      if (!(await stillFails(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

function smallerThan(tree: QueryTree): QueryTree[] {
  if (tree.kind !== 'log') return smallerMetrics(tree);
  return without(tree.stages).map(stages => ({ ...tree, stages }));
}

function smallerMetrics(tree: MetricTree): MetricTree[] {
  switch (tree.kind) {
    case 'constant':
      return [];
    case 'range': {
      const { stages, filters, grouping, offset } = tree;
      return [
        ...without(stages).map(list => ({ ...tree, stages: list })),
        ...without(filters).map(list => ({ ...tree, filters: list })),
        ...(grouping === undefined ? [] : [{ ...tree, grouping: undefined }]),
        ...(offset === undefined ? [] : [{ ...tree, offset: undefined }]),
      ];
    }
    case 'aggregation':
      return [
        tree.inner,
        ...(tree.grouping === undefined ? [] : [{ ...tree, grouping: undefined }]),
        ...smallerMetrics(tree.inner).map(inner => ({ ...tree, inner })),
      ];
    case 'replace':
      return [tree.inner, ...smallerMetrics(tree.inner).map(inner => ({ ...tree, inner }))];
    case 'binary':
      return [
        tree.left,
        tree.right,
        ...(tree.modifiers === '' ? [] : [{ ...tree, modifiers: '' }]),
        ...smallerMetrics(tree.left).map(left => ({ ...tree, left })),
        ...smallerMetrics(tree.right).map(right => ({ ...tree, right })),
      ];
  }
}

/** The list without each of its members, and without all. */
function without(list: readonly string[]): string[][] {
  const each = list.map((_, i) => list.filter((_one, j) => j !== i));
  return list.length > 1 ? [[], ...each] : each;
}
