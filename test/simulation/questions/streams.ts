/**
 * Series, label names and label values: exactly those of the streams with an entry in the range. The queries
 * use the engine and the index of the day, so that they read what maintenance publishes.
 */

import { INVARIANTS, mustHold } from '../../../shared/base/model/invariants.ts';
import type { Stream } from '../../../shared/base/model/page.ts';
import type { LogExpr, Matcher } from '../../../shared/language/logql/ast.ts';
import { parseQuery } from '../../../shared/language/logql/parse.ts';
import { findStreams } from '../../../shared/read/query/streams-query.ts';
import { requester } from '../../support/engine.ts';
import { labelNames, labelValues } from '../../support/label-lists.ts';
import { streamOf } from '../../support/rows.ts';
import { type Asked, boundsOf, isIn, type Selection, type Span } from './bounds.ts';

export async function askStreams(asked: Asked, { text, holds }: Selection, span: Span): Promise<void> {
  const { process, tenant } = asked;
  const { selector } = parseQuery(text) as LogExpr;
  const selectors: readonly (readonly Matcher[])[] = [selector];
  const who = requester({ tenants: [tenant] });
  const inside = isIn(span);
  const ways: readonly (() => Promise<Stream[]>)[] = [
    () => process.engine.streams(selectors, span, who),
    () => {
      const visibleOf = process.visibility?.retained(process.clock.nowNs());
      const request = { tenants: [tenant], range: span, selectors, signal: who.signal, visibleOf };
      return findStreams(process.readCatalog, process.source, request, process.indexes);
    },
  ];
  for (const way of ways) {
    const { lower, upper } = boundsOf(asked, entry => inside(entry) && holds(entry), 'labels');
    const streams = await process.request(way);
    const what = `${process.name}, ${tenant}: ${text} ${span.startNs}-${span.endNs}`;
    checkSet(
      `${what}: series`,
      streams.map(stream => stream.text),
      [lower(), upper()].map(entries => entries.map(({ stream }) => stream)),
    );
    const shown = [lower(), upper()].map(entries => entries.map(({ labels }) => streamOf(labels)));
    checkSet(`${what}: names`, labelNames(streams), shown.map(labelNames));
    checkSet(
      `${what}: values`,
      labelValues(streams, 'app'),
      shown.map(some => labelValues(some, 'app')),
    );
  }
}

/** Each once, all of the first list, nothing outside the second. */
function checkSet(
  what: string,
  found: readonly string[],
  [least, most]: readonly (readonly string[])[],
): void {
  const set = new Set(found);
  const allowed = new Set(most);
  mustHold(INVARIANTS.exactlyOnce, set.size === found.length, () => `${what}: one twice`);
  const missing = least.find(one => !set.has(one));
  mustHold(INVARIANTS.acknowledgedIsFound, missing === undefined, () => `${what}: misses ${missing}`);
  const invented = found.find(one => !allowed.has(one));
  mustHold(INVARIANTS.onlyWhatWasPushed, invented === undefined, () => `${what}: has ${invented}`);
}
