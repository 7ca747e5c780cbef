/**
 * Lines as services write them, each with the number of the event that wrote it: this shows whether a pattern
 * covers one event, or several. The same lines for a seed.
 */
export interface CorpusLine {
  readonly line: string;
  /** Which kind of event wrote it. */
  readonly event: string;
  readonly level: string;
  /** Default: all lines are of one stream. */
  readonly stream?: string;
}

export type Corpus = readonly CorpusLine[];

interface Random {
  /** Below `below`. */
  whole(below: number): number;
  pick<T>(list: readonly T[]): T;
  hex(digits: number): string;
}

function seeded(seed: number): Random {
  let state = seed >>> 0;
  const whole = (below: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / (2 ** 32 / below));
  };
  return {
    whole,
    pick: list => list[whole(list.length)],
    hex: digits => Array.from({ length: digits }, () => whole(16).toString(16)).join(''),
  };
}

const NAMES = [
  'alice',
  'bob',
  'carol',
  'dave',
  'erin',
  'frank',
  'grace',
  'heidi',
  'ivan',
  'judy',
  'mallory',
  'oscar',
];
const HOSTS = ['db-primary', 'db-replica', 'cache-a', 'cache-b', 'queue', 'search', 'mail', 'gateway'];
const TABLES = ['users', 'orders', 'order_items', 'payments', 'sessions', 'carts', 'audit', 'products'];
const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_4) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15',
  'Mozilla/5.0 (Windows NT 10.0; rv:125.0) Gecko/20100101 Firefox/125.0',
  'curl/8.5.0',
  'Go-http-client/2.0',
  'kube-probe/1.29',
  'Googlebot/2.1 (+http://www.google.com/bot.html)',
];
const PATHS = [
  '/',
  '/cart',
  '/checkout',
  '/login',
  '/static/app.css',
  '/static/app.js',
  '/healthz',
  '/about',
  '/search',
];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

type Event = readonly [event: string, level: string, line: (r: Random, i: number) => string];

const two = (n: number) => `${n}`.padStart(2, '0');
const clock = (i: number) =>
  `${two(Math.floor(i / 3600) % 24)}:${two(Math.floor(i / 60) % 60)}:${two(i % 60)}`;
const iso = (r: Random, i: number) => `2026-06-01T${clock(i)}.${`${r.whole(1000)}`.padStart(3, '0')}Z`;
const ip = (r: Random) => `10.${r.whole(256)}.${r.whole(256)}.${r.whole(256)}`;
const uuid = (r: Random) => `${r.hex(8)}-${r.hex(4)}-4${r.hex(3)}-a${r.hex(3)}-${r.hex(12)}`;

function path(r: Random): string {
  const kind = r.whole(5);
  if (kind === 0) return `/api/v1/orders/${r.whole(99_999)}`;
  if (kind === 1)
    return `/search?q=${r.pick(NAMES)}&page=${r.whole(9)}${r.whole(2) === 0 ? '&sort=price' : ''}`;
  if (kind === 2) return `/user/${r.pick(NAMES)}/${r.pick(['profile', 'orders', 'settings'])}`;
  return r.pick(PATHS);
}

const WEB: readonly Event[] = [
  [
    'access',
    'info',
    (r, i) =>
      `${ip(r)} - ${r.whole(4) === 0 ? r.pick(NAMES) : '-'} [01/Jun/2026:${clock(i)} +0000] "${r.pick(['GET', 'GET', 'GET', 'POST', 'PUT'])} ${path(r)} HTTP/1.1" ${r.pick([200, 200, 200, 304, 404, 500])} ${r.whole(99_999)} "${r.pick(['-', 'https://shop.example/', 'https://shop.example/search?q=shoes'])}" "${r.pick(AGENTS)}"`,
  ],
  [
    'upstream',
    'error',
    (r, i) =>
      `2026/06/01 ${clock(i)} [error] ${r.whole(99)}#0: *${r.whole(99_999)} upstream timed out (110: Connection timed out) while reading response header from upstream, client: ${ip(r)}, server: shop.example, request: "GET ${path(r)} HTTP/1.1", upstream: "http://${ip(r)}:8080${path(r)}"`,
  ],
];

const json = (r: Random, i: number, level: string, fields: Record<string, unknown>) =>
  JSON.stringify({
    ts: iso(r, i),
    level,
    ...(r.whole(3) === 0 ? { trace_id: r.hex(32) } : {}),
    ...fields,
    ...(r.whole(4) === 0 ? { user: { id: r.whole(9999), tier: r.pick(['gold', 'free']) } } : {}),
  });

const JSON_EVENTS: readonly Event[] = [
  ['login', 'info', (r, i) => json(r, i, 'info', { msg: `user ${r.pick(NAMES)} logged in from ${ip(r)}` })],
  ['logout', 'info', (r, i) => json(r, i, 'info', { msg: `user ${r.pick(NAMES)} logged out` })],
  [
    'order',
    'info',
    (r, i) =>
      json(r, i, 'info', {
        msg: `order ${r.whole(1e6)} placed: ${r.whole(9)} items, total ${r.whole(999)}.99 EUR`,
        path: path(r),
      }),
  ],
  [
    'handled',
    'info',
    (r, i) =>
      json(r, i, 'info', { msg: `request handled in ${r.whole(900)} ms`, path: path(r), status: 200 }),
  ],
  ['cache', 'debug', (r, i) => json(r, i, 'debug', { msg: `cache miss for key cart:${r.hex(12)}` })],
  [
    'refused',
    'error',
    (r, i) =>
      json(r, i, 'error', {
        msg: `dial tcp ${ip(r)}:${r.whole(60_000)}: connect: connection refused`,
        host: r.pick(HOSTS),
      }),
  ],
  [
    'retry',
    'warn',
    (r, i) => json(r, i, 'warn', { msg: `retrying call to ${r.pick(HOSTS)}, attempt ${r.whole(5)} of 5` }),
  ],
  [
    'payment',
    'error',
    (r, i) => json(r, i, 'error', { msg: `payment ${uuid(r)} failed: card declined`, amount: r.whole(900) }),
  ],
  [
    'mail',
    'info',
    (r, i) =>
      json(r, i, 'info', {
        msg: `mail "${r.pick(['welcome', 'invoice', 'reset'])}" sent to ${r.pick(NAMES)}@example.com`,
      }),
  ],
];

const pg = (r: Random, i: number) => `2026-06-01 ${clock(i)}.${r.whole(999)} UTC [${r.whole(30_000)}]`;
const user = (r: Random) => `${r.pick(['shop', 'admin', 'report'])}@${r.pick(['shop', 'stats'])}`;

const DATABASE: readonly Event[] = [
  [
    'select',
    'info',
    (r, i) =>
      `${pg(r, i)} ${user(r)} LOG:  duration: ${r.whole(9000)}.${r.whole(999)} ms  statement: SELECT * FROM ${r.pick(TABLES)} WHERE id = ${r.whole(1e6)}`,
  ],
  [
    'list',
    'info',
    (r, i) =>
      `${pg(r, i)} ${user(r)} LOG:  duration: ${r.whole(9000)}.${r.whole(999)} ms  statement: SELECT id FROM ${r.pick(TABLES)} WHERE id IN (${Array.from({ length: 1 + r.whole(20) }, () => r.whole(9999)).join(', ')})`,
  ],
  [
    'duplicate',
    'error',
    (r, i) =>
      `${pg(r, i)} ${user(r)} ERROR:  duplicate key value violates unique constraint "${r.pick(TABLES)}_pkey"`,
  ],
  [
    'checkpoint',
    'info',
    (r, i) =>
      `${pg(r, i)} LOG:  checkpoint complete: wrote ${r.whole(9000)} buffers (${r.whole(99)}.${r.whole(9)}%); write=${r.whole(99)}.${r.whole(999)} s, sync=0.${r.whole(999)} s, total=${r.whole(99)}.${r.whole(999)} s`,
  ],
  ['deadlock', 'error', (r, i) => `${pg(r, i)} ${user(r)} ERROR:  deadlock detected`],
  [
    'connection',
    'info',
    (r, i) => `${pg(r, i)} [unknown] LOG:  connection received: host=${ip(r)} port=${r.whole(60_000)}`,
  ],
  [
    'authorized',
    'info',
    (r, i) =>
      `${pg(r, i)} ${user(r)} LOG:  connection authorized: user=${r.pick(NAMES)} database=${r.pick(['shop', 'stats'])} application_name=psql`,
  ],
  [
    'vacuum',
    'info',
    (r, i) =>
      `${pg(r, i)} LOG:  automatic vacuum of table "shop.public.${r.pick(TABLES)}": index scans: ${r.whole(3)}`,
  ],
];

const syslog = (r: Random, i: number, program: string) =>
  `${MONTHS[5]} ${`${1 + (i % 28)}`.padStart(2, ' ')} ${clock(i)} ${r.pick(HOSTS)} ${program}`;

const SYSTEM: readonly Event[] = [
  [
    'ssh-failed',
    'warn',
    (r, i) =>
      `${syslog(r, i, `sshd[${r.whole(9999)}]:`)} Failed password for ${r.pick(NAMES)} from ${ip(r)} port ${r.whole(60_000)} ssh2`,
  ],
  [
    'ssh-accepted',
    'info',
    (r, i) =>
      `${syslog(r, i, `sshd[${r.whole(9999)}]:`)} Accepted publickey for ${r.pick(NAMES)} from ${ip(r)} port ${r.whole(60_000)} ssh2: RSA SHA256:${r.hex(40)}`,
  ],
  [
    'cron',
    'info',
    (r, i) =>
      `${syslog(r, i, `CRON[${r.whole(9999)}]:`)} (root) CMD (/usr/bin/${r.pick(['backup', 'rotate', 'report'])} --quiet)`,
  ],
  [
    'session',
    'info',
    (r, i) => `${syslog(r, i, 'systemd[1]:')} Started Session ${r.whole(9999)} of user ${r.pick(NAMES)}.`,
  ],
  [
    'started',
    'info',
    (r, i) =>
      `${syslog(r, i, 'systemd[1]:')} Started ${r.pick(['nginx', 'postgresql', 'redis', 'cron'])}.service.`,
  ],
  [
    'oom',
    'error',
    (r, i) =>
      `${syslog(r, i, 'kernel:')} [${r.whole(99_999)}.${r.whole(999_999)}] Out of memory: Killed process ${r.whole(9999)} (${r.pick(['java', 'node', 'python'])}) total-vm:${r.whole(9e6)}kB, anon-rss:${r.whole(9e6)}kB`,
  ],
  [
    'link',
    'info',
    (r, i) =>
      `${syslog(r, i, 'kernel:')} [${r.whole(99_999)}.${r.whole(999_999)}] eth${r.whole(4)}: link becomes ready`,
  ],
  [
    'dhcp',
    'info',
    (r, i) => `${syslog(r, i, 'dhclient:')} DHCPREQUEST for ${ip(r)} on eth${r.whole(4)} to ${ip(r)} port 67`,
  ],
];

const LOGFMT: readonly Event[] = [
  [
    'query',
    'info',
    (r, i) =>
      `ts=${iso(r, i)} level=info caller=engine.go:${r.whole(400)} component=querier msg="query finished" tenant=${r.pick(NAMES)} duration=${r.whole(900)}ms${r.whole(2) === 0 ? ` splits=${r.whole(40)}` : ''} status=200`,
  ],
  [
    'flush',
    'info',
    (r, i) =>
      `ts=${iso(r, i)} level=info caller=flush.go:${r.whole(400)} msg="flushing stream" user=${r.pick(NAMES)} fp=${r.hex(16)} num_chunks=${r.whole(9)}`,
  ],
  [
    'compact',
    'info',
    (r, i) =>
      `ts=${iso(r, i)} level=info caller=table.go:${r.whole(400)} table=index_${r.whole(20_000)} msg="done compacting table"`,
  ],
  [
    'metrics',
    'info',
    (r, i) =>
      `level=info ts=${iso(r, i)} method=${r.pick(['GET', 'POST'])} path=${path(r).split('?')[0]} status=${r.pick([200, 404, 500])} duration=${r.whole(900)}ms`,
  ],
  [
    'failed',
    'error',
    (r, i) =>
      `ts=${iso(r, i)} level=error caller=memberlist.go:${r.whole(400)} msg="failed to reach ${r.pick(HOSTS)}" err="dial tcp ${ip(r)}:7946: i/o timeout"`,
  ],
];

export const CORPORA: Readonly<Record<string, readonly Event[]>> = {
  'web access': WEB,
  'JSON services': JSON_EVENTS,
  databases: DATABASE,
  'system logs': SYSTEM,
  logfmt: LOGFMT,
};

/** The given number of lines of one of CORPORA, its first event as often as all others together. */
export function makeCorpus(name: string, lines: number, seed = 1): Corpus {
  const events = CORPORA[name];
  const random = seeded(seed);
  return Array.from({ length: lines }, (_, i) => {
    const [event, level, line] = random.whole(2) === 0 ? events[0] : random.pick(events);
    return { line: line(random, i), event, level };
  });
}
