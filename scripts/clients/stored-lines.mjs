/** Compares the lines that the store has of a client with those that the client was given. */
import { until } from '../processes.mjs';

/** Clients wait for a batch to fill, and longer after each attempt; the collector has the longest delay. */
const ARRIVAL_TIMEOUT_MS = 120_000;

/** `storedLines(url, lines)`: lines of one run at a store. */
export function storedLines(url, lines) {
  /** Resolves once the store has `wanted` lines of a client. Throws with the difference if it does not get them. */
  async function arrived({ client, ran }, wanted) {
    let found = [];
    // A program that logs its input ends before its lines are found.
    await until(ARRIVAL_TIMEOUT_MS, client.feed === 'file' ? ran : undefined, async () => {
      found = await linesOf(client);
      return found.length >= wanted;
    }).catch(error => {
      throw new Error(`${error.message}; ${wrongIn(found)}; it said: ${ran.said().slice(-400)}`);
    });
    return found;
  }

  /** Throws unless each line is stored once and unchanged. */
  async function compare(shipper) {
    const wrong = wrongIn(await arrived(shipper, lines.length));
    if (wrong !== '') throw new Error(wrong);
  }

  function wrongIn(found) {
    const counts = new Map();
    for (const line of found) counts.set(line, (counts.get(line) ?? 0) + 1);
    const missing = lines.filter(line => !counts.has(line));
    const unknown = [...counts.keys()].filter(line => !lines.includes(line));
    const repeated = [...counts.values()].filter(times => times > 1).length;
    const example = ([line]) => (line === undefined ? '' : ` such as ${JSON.stringify(line.slice(0, 120))}`);
    return [
      missing.length > 0 && `${missing.length} of ${lines.length} lines are missing${example(missing)}`,
      unknown.length > 0 && `${unknown.length} lines were never sent${example(unknown)}`,
      repeated > 0 && `${repeated} lines are there more than once`,
    ]
      .filter(Boolean)
      .join(', ');
  }

  async function linesOf({ selector, lineOf = line => line }) {
    const query = new URLSearchParams({ query: selector, limit: '5000' });
    const answer = await fetch(`${url}/loki/api/v1/query_range?${query}`);
    if (!answer.ok) throw new Error(`the query was answered ${answer.status}: ${await answer.text()}`);
    const { data } = await answer.json();
    return data.result.flatMap(({ values }) => values.map(([, line]) => lineOf(line)));
  }

  return { arrived, compare };
}
