/**
 * Logs of a small shop for a store without logs: five services in common formats (nginx, JSON, logfmt, plain
 * text with stack traces), over the last hour. Every stream has the label `sample_data` with the time of the
 * load, so that a delete request for one load does not hide the next.
 */
import { SAMPLE_LABEL } from './sample-label.ts';

interface SampleStream {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [ns: string, line: string])[];
}

const SPAN_MS = 3_500_000;
const PATHS = ['/', '/cart', '/checkout', '/products/1842', '/search?q=lamp', '/healthz'];
const USERS = ['ana', 'ben', 'chen', 'dora', 'emil', 'fatima'];
const PROVIDERS = ['adyen', 'klarna', 'stripe'];
const TRACE =
  'java.net.SocketTimeoutException: Read timed out\n\tat shop.mail.Sender.send(Sender.java:71)\n\tat shop.mail.Worker.run(Worker.java:28)';

type SampleLine = (random: Random, atMs: number) => string;

const SERVICES: readonly (readonly [service: string, lines: number, line: SampleLine])[] = [
  ['sample-web', 1200, webLine],
  ['sample-api', 900, apiLine],
  ['sample-auth', 400, authLine],
  ['sample-payments', 400, paymentLine],
  ['sample-mail', 200, mailLine],
];

interface SampleOptions {
  readonly spanMs?: number;
  /** Multiplies the lines of each service. */
  readonly times?: number;
}

/** Always the same lines, except for the times, which end at `endMs`. */
export function sampleStreams(
  endMs: number,
  { spanMs = SPAN_MS, times = 1 }: SampleOptions = {},
): readonly SampleStream[] {
  const random = createRandom(11);
  const load = new Date(endMs).toISOString();
  return SERVICES.map(([service, usual, line]) => ({
    stream: { service_name: service, [SAMPLE_LABEL]: load },
    values: Array.from({ length: usual * times }, (_, i) => {
      const atMs = Math.floor(endMs - spanMs + (spanMs * (i + random.share())) / (usual * times));
      return [`${BigInt(atMs) * 1_000_000n + BigInt(i % 1000)}`, line(random, atMs)] as const;
    }),
  }));
}

function webLine(random: Random, atMs: number): string {
  const status = random.share() < 0.03 ? 502 : random.share() < 0.06 ? 404 : 200;
  const address = `10.4.${random.below(200)}.${random.below(250)}`;
  return `${address} - - [${new Date(atMs).toISOString()}] "GET ${random.of(PATHS)} HTTP/1.1" ${status} ${random.below(9000)} "-" "Mozilla/5.0"`;
}

function apiLine(random: Random): string {
  const failed = random.share() < 0.04;
  return JSON.stringify({
    level: failed ? 'error' : random.share() < 0.1 ? 'warn' : 'info',
    msg: failed
      ? 'upstream refused the connection'
      : random.of(['order placed', 'cart priced', 'stock reserved']),
    order: 10_000 + random.below(9000),
    user: random.of(USERS),
    duration_ms: 8 + random.below(failed ? 2000 : 240),
    trace_id: random.hex(),
  });
}

function authLine(random: Random): string {
  const failed = random.share() < 0.08;
  const [level, message] = failed
    ? ['warn', 'login failed']
    : ['info', random.of(['login', 'token renewed', 'logout'])];
  return `level=${level} msg="${message}" user=${random.of(USERS)} took=${2 + random.below(40)}ms`;
}

function paymentLine(random: Random): string {
  const failed = random.share() < 0.07;
  return JSON.stringify({
    level: failed ? 'error' : 'info',
    msg: failed ? 'payment declined' : 'charged',
    provider: random.of(PROVIDERS),
    amount: random.below(20_000) / 100,
    trace_id: random.hex(),
  });
}

function mailLine(random: Random): string {
  const to = random.of(USERS);
  return random.share() < 0.05
    ? `ERROR mail to ${to} failed\n${TRACE}`
    : `INFO sent receipt to ${to} in ${random.below(80)} ms`;
}

interface Random {
  /** 0 to 1 */
  share(): number;
  below(limit: number): number;
  of<T>(list: readonly T[]): T;
  hex(): string;
}

/** Linear congruential generator. */
function createRandom(seed: number): Random {
  let state = seed;
  const share = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(share() * limit);
  return {
    share,
    below,
    of: list => list[below(list.length)],
    hex: () =>
      below(2 ** 32)
        .toString(16)
        .padStart(8, '0') +
      below(2 ** 32)
        .toString(16)
        .padStart(8, '0'),
  };
}
