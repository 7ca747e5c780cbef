/** Builds selectors that cover a list of streams, because LogQL has no selector for all streams. */

export type StreamLabels = Readonly<Record<string, string>>;

/**
 * Label that receiving stores add to streams that lack it. It may exist only in the target, so streams are
 * compared without it.
 */
const ADDED_LABEL = 'service_name';

/** Names of the labels that distinguish the streams. */
export function labelNamesOf(streams: readonly StreamLabels[]): readonly string[] {
  const names = [...new Set(streams.flatMap(stream => Object.keys(stream)))].sort();
  const own = names.filter(name => name !== ADDED_LABEL);
  return own.length > 0 && streams.every(stream => Object.keys(stream).some(name => own.includes(name)))
    ? own
    : names;
}

/**
 * Few selectors, of which each stream matches exactly one. Each selector uses the label that most of the
 * remaining streams have.
 */
export function coveringSelectors(streams: readonly StreamLabels[]): readonly string[] {
  const names = labelNamesOf(streams);
  const selectors: string[] = [];
  const absent: string[] = [];
  let left = streams;
  while (left.length > 0) {
    const counts = names.map(name => left.filter(stream => Object.hasOwn(stream, name)).length);
    const name = names[counts.indexOf(Math.max(...counts))];
    const rest = left.filter(stream => !Object.hasOwn(stream, name));
    // A stream without labels cannot be selected, and no store has one.
    if (rest.length === left.length) break;
    selectors.push(`{${[`${name}=~".+"`, ...absent.map(each => `${each}=""`)].join(', ')}}`);
    absent.push(name);
    left = rest;
  }
  return selectors;
}

/** Selector that matches this stream and no other stream with labels of these names. */
export function streamSelector(stream: StreamLabels, names: readonly string[]): string {
  return `{${names.map(name => `${name}=${JSON.stringify(stream[name] ?? '')}`).join(', ')}}`;
}

/** Key of a stream among streams with labels of these names. */
export function streamKey(stream: StreamLabels, names: readonly string[]): string {
  return JSON.stringify(names.map(name => stream[name] ?? ''));
}
