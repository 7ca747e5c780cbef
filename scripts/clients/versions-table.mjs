/**
 * Table of the clients that passed, in docs/send/tested-clients.md. `npm run test:clients -- --write-docs`
 * updates it between two comments:
 *
 *     passed    the row shows this run
 *     failed    the row is removed
 *     skipped   the row shows the last run with the client
 *
 * Rows have the order of the clients. A row of a client that no longer exists is removed.
 */
const BEGIN = '<!-- versions: begin -->';
const END = '<!-- versions: end -->';
const HEAD = '| client | protocol | version | result |\n|---|---|---|---|\n';

/** `page` with the rows of a run. Throws if the page has no place for them. */
export function withVersions(page, { clients, outcomes, lineCount }) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page has no ${BEGIN} and ${END}`);
  const rows = new Map();
  for (const row of page.slice(begin, end).split('\n')) {
    const [, name, protocol] = row.split('|').map(cell => cell.trim());
    if (row.startsWith('| ')) rows.set(keyOf({ name, protocol }), row);
  }
  for (const outcome of outcomes) {
    const key = keyOf(outcome.client);
    if (outcome.result === 'failed') rows.delete(key);
    if (outcome.result === 'passed') rows.set(key, rowOf(outcome, lineCount));
  }
  const kept = clients.map(client => rows.get(keyOf(client))).filter(row => row !== undefined);
  return `${page.slice(0, begin)}${BEGIN}\n${HEAD}${kept.map(row => `${row}\n`).join('')}${page.slice(end)}`;
}

/** Several clients have one name and different protocols. */
function keyOf({ name, protocol }) {
  return `${name}|${protocol}`;
}

function rowOf({ client, version, detail }, lineCount) {
  const lines = client.selector === undefined ? '' : `${lineCount.toLocaleString('en')} lines compared`;
  const result = [lines, detail].filter(text => text !== '').join(', ');
  return `| ${client.name} | ${client.protocol} | ${version} | ${result} |`;
}
