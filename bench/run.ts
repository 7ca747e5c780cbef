/**
 * `npm run bench`: measures the speed of the store.
 *
 *     npm run bench                            ingest and queries, next to the reference's figures if they are given
 *     npm run bench -- --mb 64                 the same with less data
 *     npm run bench -- --own                   with the project's own corpus
 *     npm run bench -- ingest                  a push in each format: protobuf, JSON, OTLP; a GB of lines of each, twice
 *     npm run bench -- deletion                deletion of one user's lines: what is read and written
 *     npm run bench -- scale                   the same hour in a store of 1, 2 and 4 GB
 *     npm run bench -- tail                    pushes with 0, 1 and 100 live tails, and the delay until a tail shows a push
 *     npm run bench -- steady                  a steady load with dashboards, with peers if binaries are given (--mbps, --seconds)
 *     npm run bench -- soak                    the same for an hour at 2 MB/s
 *     npm run bench -- fresh                   first queries over lines of the last seconds, next to the same lines merged (--rounds,
 *                                              --kinds NAME,NAME, --idle: of a tenant that has not queried before)
 *     npm run bench -- mixed                   loss of push throughput during dashboard queries
 *     npm run bench -- fairness                effect of a heavy tenant on a light one
 *     npm run bench -- labels                  memory of label values and series if a label has a million values
 *     npm run bench -- requests                requests to S3 and DynamoDB for a push, a merge and each query, and their price
 *     npm run bench -- cloud                   round trips of queries over a modeled S3 and DynamoDB, in virtual time; then
 *                                              `logboom start --storage s3` over HTTP with a server as slow as AWS, queries and
 *                                              pushes (parts alone: cloud model, cloud queries, cloud pushes; --latency 10 makes
 *                                              the server ten times slower for queries, so that late requests are not rounds)
 *     npm run bench -- export                  1 GB out of a merged store with `logboom export`, by format (--formats text,jsonl; --data DIR
 *                                              keeps the store and uses it again; options after -- are passed to the command)
 *     npm run bench -- day --mb 50000          one day of one tenant of any size: pushed, merged, asked and planned, next to what the
 *                                              simulated fleet assumes (--parts N divides the streams, default 4; --data DIR keeps the
 *                                              store, and a filled one is only indexed, asked and planned; --fill only fills it)
 *     npm run bench -- explorer                the explorer in Chromium: first paint, time until it is usable, frames while 100,000
 *                                              lines are scrolled, bytes, layout shift
 *     npm run bench -- processes               CPU of a request in threads by role, node:cluster, and with SO_REUSEPORT
 *     npm run bench -- stages [PATTERN]        single stages
 *
 * `--out FILE` stores the figures as JSON. All other arguments go to the driver (for example --only, --runs,
 * --no-concurrency, --wait-quiet 30).
 */
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const DRIVER_FOLDER = resolve(import.meta.dirname, '../../shared/bench');
/** Size of the corpus of the reference's figures. */
const DRIVER_MB = 512;
const OWN_MB = 64;
/** Size that is reached at a tenant's rate limit. */
const FAIRNESS_MB = 32;
/** Amount that a Python emulator ingests within a minute. */
const REQUESTS_MB = 32;
/** One GB: the process's compilation counts once, as in CPU seconds per GB. */
const FORMATS_MB = 1000;
const EXPORT_MB = 1000;
/** One day in a modeled store, held in memory. */
const CLOUD_MB = 64;
/** A day that takes a minute or two. */
const DAY_MB = 2000;
const DAY_PARTS = 4;
/** 5 s at 10 MB/s. */
const FRESH_MB = 50;
const FRESH_ROUNDS = 3;
const STEADY = { mbps: 10, seconds: 180 };
const SOAK = { mbps: 2, seconds: 3600 };

const { values, positionals } = parseArgs({
  options: {
    out: { type: 'string' },
    mb: { type: 'string' },
    mbps: { type: 'string' },
    seconds: { type: 'string' },
    own: { type: 'boolean' },
    formats: { type: 'string' },
    kinds: { type: 'string' },
    idle: { type: 'boolean' },
    rounds: { type: 'string' },
    data: { type: 'string' },
    parts: { type: 'string' },
    fill: { type: 'boolean' },
    latency: { type: 'string' },
  },
  allowPositionals: true,
  strict: false,
});
const out = typeof values.out === 'string' ? resolve(values.out) : undefined;

if (positionals[0] === 'stages') {
  const { runStages, stageTable } = await import('./run-stages.ts');
  const figures = await runStages(positionals[1] ?? '');
  if (figures.length === 0) throw new Error(`there is no stage with ${positionals[1]}`);
  console.log(stageTable(figures));
  save(figures);
} else if (positionals[0] === 'ingest') {
  const { runFormats } = await import('./ingest-formats.ts');
  const { result, table } = await runFormats(megabytes(FORMATS_MB), DRIVER_FOLDER);
  console.log(table);
  save(result);
} else if (positionals[0] === 'deletion') {
  const { deletionTable, runDeletion } = await import('./deletion.ts');
  const figures = await runDeletion(megabytes(OWN_MB));
  console.log(deletionTable(figures));
  save(figures);
} else if (positionals[0] === 'scale') {
  const { runScale, scaleTable } = await import('./scale.ts');
  const figures = await (values.mb === undefined ? runScale() : runScale([megabytes(OWN_MB)]));
  console.log(scaleTable(figures));
  save(figures);
} else if (positionals[0] === 'tail') {
  const { runTailBench, tailTable } = await import('./tail.ts');
  const figures = await runTailBench();
  console.log(tailTable(figures));
  save(figures);
} else if (positionals[0] === 'steady' || positionals[0] === 'soak') {
  const { runSteady, steadyTable } = await import('./steady.ts');
  const usual = positionals[0] === 'soak' ? SOAK : STEADY;
  const figures = await runSteady(DRIVER_FOLDER, {
    mbps: Number(values.mbps ?? usual.mbps),
    seconds: Number(values.seconds ?? usual.seconds),
  });
  console.log(steadyTable(figures));
  save(figures);
} else if (positionals[0] === 'fresh') {
  const { freshTable, runFresh } = await import('./fresh.ts');
  const figures = await runFresh(DRIVER_FOLDER, {
    mb: megabytes(FRESH_MB),
    rounds: Number(values.rounds ?? FRESH_ROUNDS),
    isIdle: values.idle === true,
    only: typeof values.kinds === 'string' ? values.kinds.split(',') : undefined,
  });
  console.log(freshTable(figures));
  save(figures);
} else if (positionals[0] === 'mixed') {
  const { mixedTable, runMixed } = await import('./mixed.ts');
  const figures = await runMixed(megabytes(OWN_MB));
  console.log(mixedTable(figures));
  save(figures);
} else if (positionals[0] === 'fairness') {
  const { fairnessTable, runFairness } = await import('./fairness.ts');
  const figures = await runFairness(megabytes(FAIRNESS_MB));
  console.log(fairnessTable(figures));
  save(figures);
} else if (positionals[0] === 'labels') {
  const { labelMemoryTable, runLabelMemory } = await import('./label-memory.ts');
  const figures = await runLabelMemory();
  console.log(labelMemoryTable(figures));
  save(figures);
} else if (positionals[0] === 'cloud') {
  const { runCloud } = await import('./cloud/run-cloud.ts');
  const { cloudTable } = await import('./cloud/cloud-table.ts');
  const { httpTable, pushTable, runPushesOverHttp, runQueriesOverHttp } = await import(
    './cloud/run-over-http.ts'
  );
  const mb = megabytes(CLOUD_MB);
  const latencyFactor = Number(values.latency ?? 1);
  const parts = new Set(positionals.length > 1 ? positionals.slice(1) : ['model', 'queries', 'pushes']);
  const modeled = parts.has('model') ? await runCloud(mb, console.log) : [];
  if (modeled.length > 0) console.log(cloudTable(modeled));
  const queries = parts.has('queries') ? await runQueriesOverHttp({ mb, latencyFactor }, console.log) : [];
  if (queries.length > 0) console.log(httpTable(queries));
  const pushes = parts.has('pushes') ? await runPushesOverHttp(console.log) : [];
  if (pushes.length > 0) console.log(pushTable(pushes));
  save({ modeled, overHttp: { queries, pushes } });
} else if (positionals[0] === 'day') {
  const { fillDay, runDay } = await import('./day/run-day.ts');
  const { dayTables } = await import('./day/day-table.ts');
  const folder = typeof values.data === 'string' ? resolve(values.data) : undefined;
  const options = {
    mb: megabytes(DAY_MB),
    parts: Number(values.parts ?? DAY_PARTS),
    folder,
    say: console.log,
  };
  if (values.fill === true) {
    if (folder === undefined) throw new Error('--fill needs --data DIR');
    console.log(await fillDay(options, folder));
  } else {
    const figures = await runDay(options);
    console.log(dayTables(figures));
    save(figures);
  }
} else if (positionals[0] === 'explorer') {
  const { explorerTables, runExplorerBench } = await import('./explorer/run-explorer.ts');
  const figures = await runExplorerBench(console.log);
  if (figures !== undefined) {
    console.log(explorerTables(figures));
    save(figures);
  }
} else if (positionals[0] === 'processes') {
  const { processesTable, runProcesses } = await import('./processes.ts');
  const figures = await runProcesses();
  console.log(processesTable(figures));
  save(figures);
} else if (positionals[0] === 'export') {
  const { EXPORT_FORMATS, exportTable, runExportBench } = await import('./export.ts');
  const figures = await runExportBench(DRIVER_FOLDER, {
    mb: megabytes(EXPORT_MB),
    formats: typeof values.formats === 'string' ? values.formats.split(',') : EXPORT_FORMATS,
    dataDir: typeof values.data === 'string' ? resolve(values.data) : undefined,
    flags: positionals.slice(1),
  });
  console.log(exportTable(figures));
  save(figures);
} else if (positionals[0] === 'requests') {
  const { runRequests } = await import('./requests/run-requests.ts');
  const { requestsTable } = await import('./requests/requests-table.ts');
  const figures = await runRequests({
    mb: megabytes(REQUESTS_MB),
    driverFolder: DRIVER_FOLDER,
    say: console.log,
  });
  if (figures !== undefined) {
    console.log(requestsTable(figures));
    save(figures);
  }
} else if (existsSync(resolve(DRIVER_FOLDER, 'drive.mjs')) && !values.own) {
  const { runDriver } = await import('./driver.ts');
  const { result, table } = await runDriver(DRIVER_FOLDER, megabytes(DRIVER_MB), driverFlags());
  console.log(table);
  save(result);
} else {
  const { runOwn } = await import('./ingest.ts');
  const { result, table } = await runOwn(megabytes(OWN_MB));
  console.log(table);
  save(result);
}

function megabytes(initial: number): number {
  const mb = values.mb === undefined ? initial : Number(values.mb);
  if (!(mb > 0)) throw new Error(`--mb is a number of megabytes, not ${values.mb}`);
  return mb;
}

/** Flags that are not ours, unchanged. */
function driverFlags(): string[] {
  const ours = new Set(['--out', '--mb', '--own']);
  const args = process.argv.slice(2);
  return args.filter((arg, i) => !ours.has(arg.split('=')[0]) && !isValueOf(args[i - 1]));
  function isValueOf(before: string | undefined): boolean {
    return before === '--out' || before === '--mb';
  }
}

function save(result: unknown): void {
  if (out !== undefined) writeFileSync(out, `${JSON.stringify(result, null, 1)}\n`);
}
