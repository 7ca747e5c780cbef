import type { Stream } from '../../shared/base/model/page.ts';
import { LabelNames, LabelValues } from '../../shared/read/query/streams-query.ts';

/** Label names, ascending. */
export function labelNames(streams: readonly Stream[]): string[] {
  const names = new LabelNames();
  streams.forEach(names.add);
  return names.list();
}

/** Values of one label, ascending. */
export function labelValues(streams: readonly Stream[], name: string): string[] {
  const values = new LabelValues(name);
  streams.forEach(values.add);
  return values.list();
}
