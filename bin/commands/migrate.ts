/** `logboom migrate loki --from URL`: copies entries and rules from a store with Loki's API into this one. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { asAction, CommandError, UsageError } from '../cli/command-error.ts';
import { addExamples } from '../cli/examples.ts';
import type { TimeWindow } from '../cli/migrate/log-source.ts';
import { type MigrationTotals, migrateTenant } from '../cli/migrate/run-migration.ts';
import { PartState } from '../cli/part-state.ts';
import { checkTime, parsePositive, parseSince, parseTime } from '../cli/range-options.ts';
import { listGroups, putGroup } from '../cli/rule-groups-client.ts';
import { print, report, say } from '../cli/standard-output.ts';
import { addStoreOptions, parseAddress, type StoreFlags } from '../cli/store-client.ts';
import { addTimeZoneOption } from '../cli/time-zone.ts';
import { startWaiting } from '../cli/waiting-line.ts';

interface MigrateFlags extends StoreFlags {
  readonly from: URL;
  readonly tenants: readonly TenantPair[];
  readonly selector: readonly string[];
  readonly start?: string;
  readonly end?: string;
  readonly since: bigint;
  readonly parallel: number;
  readonly batch: number;
  readonly state: string;
  readonly rules?: boolean;
  readonly entries: boolean;
  readonly fromUsername?: string;
  readonly fromPassword?: string;
  readonly fromBearerToken?: string;
  readonly fromBearerTokenFile?: string;
  readonly fromCaCert?: string;
  readonly fromTlsSkipVerify?: boolean;
}

interface TenantPair {
  readonly source: string;
  readonly target: string;
}

const HEADING = 'Source options:';
const STATE_FILE = 'logboom-migration.jsonl';
const MAX_TENANTS = 10_000;
const MAX_PARALLEL = 64;

const NOTES = `
Reads streams, entries with their structured metadata, and counts by HTTP, and pushes the entries with their timestamps. Counts each
part (a selector within one hour) in both stores, stream by stream. The state file stores which parts are complete. A stopped
migration continues there when it is started again. Copying a part twice changes nothing.

The target must accept old entries: set reject_old_samples: false for its tenants until the migration ends. The source needs no
change. --tenants copies each tenant to the same name, or to another with SOURCE=TARGET. Without it, one tenant is copied to --tenant.

Exit code 1: a request failed, or a stream has fewer entries in the target than in the source.

Examples:
  logboom migrate loki --from http://loki:3100 --since 30d
  logboom migrate loki --from https://loki.example.com --from-bearer-token-file token --tenants shop,blog=press --rules
  logboom migrate loki --from http://loki:3100 --selector '{app="shop"}' --start 2026-01-01 --end 2026-02-01 --parallel 8`;

export function register(program: Command): void {
  const group = addExamples(
    program.command('migrate').description('copy entries and rules from another store'),
    'logboom migrate loki --from http://loki:3100 --since 30d',
    'logboom migrate loki --from http://loki:3100 --selector \'{app="shop"}\' --rules',
  );
  const command = group
    .command('loki')
    .description("copy entries and rules from a store with Loki's API")
    .addOption(
      new Option('--from <url>', 'address of the store to copy')
        .argParser(parseAddress)
        .makeOptionMandatory()
        .helpGroup(HEADING),
    )
    .addOption(
      new Option('--from-username <name>', 'user name').env('LOGBOOM_FROM_USERNAME').helpGroup(HEADING),
    )
    .addOption(
      new Option('--from-password <text>', 'password; prefer the environment variable')
        .env('LOGBOOM_FROM_PASSWORD')
        .helpGroup(HEADING),
    )
    .addOption(
      new Option('--from-bearer-token <text>', 'access token; prefer the environment variable')
        .env('LOGBOOM_FROM_BEARER_TOKEN')
        .helpGroup(HEADING),
    )
    .addOption(new Option('--from-bearer-token-file <file>', 'file with the access token').helpGroup(HEADING))
    .addOption(
      new Option('--from-ca-cert <file>', 'certificate of the certificate authority (PEM)').helpGroup(
        HEADING,
      ),
    )
    .addOption(
      new Option('--from-tls-skip-verify', 'skip TLS certificate verification (insecure)').helpGroup(HEADING),
    )
    .addOption(
      new Option('--tenants <list>', 'comma-separated tenants to copy: NAME or SOURCE=TARGET')
        .argParser(parseTenants)
        .default([], 'none'),
    )
    .addOption(
      new Option('--selector <selector>', 'selector of streams to copy, such as {app="shop"}; repeatable')
        .argParser((text: string, before: readonly string[]) => [...before, text])
        .default([], 'all streams'),
    )
    .addOption(
      new Option('--since <duration>', 'look back from --end')
        .argParser(parseSince)
        .default(parseSince('7d'), '7d')
        .conflicts('start'),
    )
    .addOption(new Option('--start <time>', 'start of the time range').argParser(checkTime))
    .addOption(new Option('--end <time>', 'end of the time range (default: now)').argParser(checkTime))
    .addOption(
      new Option('--parallel <count>', 'maximum number of parts copied in parallel')
        .argParser(parseParallel)
        .default(4),
    )
    .addOption(
      new Option('--batch <count>', 'entries per request to the source')
        .argParser(parsePositive)
        .default(5000),
    )
    .addOption(new Option('--state <file>', 'file that stores the progress').default(STATE_FILE, STATE_FILE))
    .addOption(new Option('--rules', 'also copy rule groups'))
    .addOption(new Option('--no-entries', 'copy only rule groups, no entries'));
  addTimeZoneOption(command);
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(migrate));
}

async function migrate(flags: MigrateFlags): Promise<void> {
  const from: StoreFlags = {
    addr: flags.from,
    username: flags.fromUsername,
    password: flags.fromPassword,
    bearerToken: flags.fromBearerToken,
    bearerTokenFile: flags.fromBearerTokenFile,
    caCert: flags.fromCaCert,
    tlsSkipVerify: flags.fromTlsSkipVerify,
  };
  const pairs = flags.tenants.length > 0 ? flags.tenants : [undefined];
  const jobs = pairs.map(pair => ({
    name: pair?.target ?? flags.tenant ?? '',
    source: { ...from, tenant: pair?.source },
    target: pair === undefined ? flags : { ...flags, tenant: pair.target },
  }));
  const window = windowOf(flags);
  if (flags.rules) for (const job of jobs) await copyRules(job);
  if (!flags.entries) return;
  const scope = { from: flags.from.origin, to: flags.addr.origin, selectors: flags.selector };
  const state = PartState.open(flags.state, scope, window);
  let incomplete = 0;
  try {
    for (const job of jobs) incomplete += await copyEntries(job, state, flags);
  } finally {
    state.close();
  }
  if (incomplete > 0)
    throw new CommandError(
      `${incomplete} parts have fewer entries in the target; run the command again to copy them again`,
    );
}

interface MigrationJob {
  readonly name: string;
  readonly source: StoreFlags;
  readonly target: StoreFlags;
}

async function copyRules({ name, source, target }: MigrationJob): Promise<void> {
  let groups = 0;
  for (const [namespace, list] of await listGroups(source)) {
    for (const group of list) {
      await putGroup(target, namespace, group);
      groups++;
    }
  }
  await print(`copied ${groups} rule groups${inTenant(name)}\n`);
}

/** Copies entries. Resolves to the number of incomplete parts. */
async function copyEntries(
  { name, source, target }: MigrationJob,
  state: PartState,
  flags: MigrateFlags,
): Promise<number> {
  const waiting = startWaiting(process.stderr);
  const noted = new Set<string>();
  const note = (text: string) => {
    waiting.clear();
    report(`logboom: ${text}\n`);
  };
  let totals: MigrationTotals;
  try {
    totals = await migrateTenant({
      source,
      target,
      tenant: name,
      selectors: flags.selector,
      state,
      parallel: flags.parallel,
      batch: flags.batch,
      onProgress: ({ entries, earlier }, day) =>
        waiting.say(`${day}: ${entries + earlier} entries${inTenant(name)}`),
      onDay: (day, entries) => {
        if (entries > 0) note(`${day}: ${entries} entries${inTenant(name)}`);
      },
      onRetry: problem => {
        if (!noted.has(problem) && noted.size < MAX_NOTED) note(`${problem}; retrying`);
        noted.add(problem);
      },
    });
  } finally {
    waiting.stop();
  }
  for (const each of totals.missing) say(`logboom: missing${inTenant(name)}: ${each}\n`);
  const earlier = totals.earlier > 0 ? `, ${totals.earlier} by earlier runs` : '';
  const verdict = totals.incomplete > 0 ? `${totals.incomplete} parts are incomplete` : 'all counts agree';
  await print(`copied ${totals.entries} entries${inTenant(name)}${earlier}; ${verdict}\n`);
  return totals.incomplete;
}

/** Maximum number of reported problems, because messages of a store may contain changing numbers. */
const MAX_NOTED = 10;

function inTenant(name: string): string {
  return name === '' ? '' : ` of tenant ${name}`;
}

/** Time window in whole milliseconds. */
function windowOf({ start, end, since }: MigrateFlags): TimeWindow {
  const endNs = end === undefined ? SYSTEM_CLOCK.nowNs() : parseTime(end);
  const startNs = start === undefined ? endNs - since : parseTime(start);
  if (endNs <= startNs) throw new UsageError('the end of the range must be after its start');
  return {
    startNs: startNs - (startNs % NS_PER_MS),
    endNs: endNs + ((NS_PER_MS - (endNs % NS_PER_MS)) % NS_PER_MS),
  };
}

function parseTenants(text: string): readonly TenantPair[] {
  const pairs = text.split(',').map(each => {
    const [source, target = source, ...more] = each.split('=').map(name => name.trim());
    if (source === '' || target === '' || more.length > 0)
      throw new InvalidArgumentError('Tenants are written NAME or SOURCE=TARGET, separated by commas.');
    return { source, target };
  });
  if (pairs.length > MAX_TENANTS) throw new InvalidArgumentError(`The maximum is ${MAX_TENANTS} tenants.`);
  if (new Set(pairs.map(({ target }) => target)).size < pairs.length)
    throw new InvalidArgumentError('A target tenant is given twice.');
  return pairs;
}

function parseParallel(text: string): number {
  const count = parsePositive(text);
  if (count > MAX_PARALLEL) throw new InvalidArgumentError(`The maximum is ${MAX_PARALLEL} parallel parts.`);
  return count;
}
