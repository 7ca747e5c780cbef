/** Opens a saved query in the log view, in a range that ends now if it has none. */
import type { SavedQuery } from '../../../shared/base/model/board.ts';
import { go, route } from '../state/navigation.ts';

export function openSavedQuery({ queries, from, to, chart }: SavedQuery): void {
  const { params } = route.get();
  const [first, ...more] = queries;
  go('logs', {
    q: first,
    more: more.length === 0 ? '' : JSON.stringify(more),
    from: from || (params.from ?? ''),
    to: to || (params.to ?? ''),
    chart: chart === 'lines' ? '' : chart,
  });
}
