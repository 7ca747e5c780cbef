/** Members of a ring as a web page and as JSON (docs/dev/wire-format.md#ring-pages). */

import { formatRfc3339Nano } from '../../base/model/rfc3339.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';
import type { Member } from '../../storage/catalog/members.ts';
import { shownState } from '../../storage/catalog/membership.ts';

/** Go's format of the zero time. */
const NEVER = '0001-01-01T00:00:00Z';

export function ringJson(members: readonly Member[], nowMs: number): object {
  return {
    shards: members.map(member => ({
      id: member.id,
      state: shownState(member, nowMs),
      address: member.address,
      timestamp: secondsText(member.heartbeatMs),
      registered_timestamp: secondsText(member.registeredMs),
      read_only: false,
      read_only_updated_timestamp: NEVER,
      zone: member.zone,
      // Members share everything, so none owns a part of the ring.
      tokens: [],
    })),
    now: formatRfc3339Nano(BigInt(Math.trunc(nowMs)) * NS_PER_MS),
  };
}

const COLUMNS = [
  'Instance ID',
  'Availability Zone',
  'State',
  'Address',
  'Registered At',
  'Read-Only',
  'Read-Only Updated',
  'Last Heartbeat',
  'Tokens',
  'Ownership',
  'Actions',
];

export function ringPage(members: readonly Member[], nowMs: number, note: string): string {
  const rows = members.map(member => rowOf(member, nowMs)).join('\n');
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="UTF-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Ring Status</title></head>
<body>
<h1>Ring Status</h1>
<p>Current time: ${secondsText(nowMs)}</p>
${note === '' ? '' : `<p>${escaped(note)}</p>\n`}<form action="" method="POST">
<table border="1">
<thead><tr>${COLUMNS.map(name => `<th>${name}</th>`).join('')}</tr></thead>
<tbody>
${rows}
</tbody>
</table>
</form>
</body>
</html>
`;
}

function rowOf(member: Member, nowMs: number): string {
  const { id, zone, address, registeredMs, heartbeatMs } = member;
  const ago = Math.max(0, Math.round((nowMs - heartbeatMs) / 1000));
  const cells = [
    id,
    zone,
    shownState(member, nowMs),
    address,
    secondsText(registeredMs),
    'false',
    '',
    `${ago}s ago (${secondsText(heartbeatMs)})`,
    '0',
    'shares all',
  ].map(cell => `<td>${escaped(cell)}</td>`);
  const button = `<td><button name="forget" value="${escaped(id)}" type="submit">Forget</button></td>`;
  return `<tr>${cells.join('')}${button}</tr>`;
}

function secondsText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`);
}
