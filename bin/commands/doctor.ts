/**
 * `logboom doctor`: checks the integrity of the store and the machine. With --rebuild-catalog it rebuilds the
 * catalog from stored objects. It opens the stores directly, so it works next to a running store and on a
 * stopped one.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readLocalConfigText } from '../../local/default-config.ts';
import { keepObjects } from '../../local/kept-objects.ts';
import { type OpenedStorage, openStorage, type StorageOptions, TABLE_FILE } from '../../local/storage.ts';
import { CorruptionError, messageOf } from '../../shared/base/model/errors.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ConfigError, parseConfig } from '../../shared/server/admin/config.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { checkStore, type DoctorParts } from '../../shared/upkeep/integrity/check-store.ts';
import type { Problem } from '../../shared/upkeep/integrity/problem.ts';
import { rebuildCatalog } from '../../shared/upkeep/integrity/rebuild-catalog.ts';
import { CommandError, explainFailure } from '../cli/command-error.ts';
import { checkText, problemText, rebuildText, reportJson } from '../cli/doctor-text.ts';
import { checkMachine, type Finding, machineText } from '../cli/machine-check.ts';
import { ProgressLine } from '../cli/progress-line.ts';
import { endWithReader, print, say } from '../cli/standard-output.ts';
import {
  addConfigFlag,
  addDataDirFlag,
  addStorageFlags,
  type StorageFlags,
  storageOf,
} from '../cli/storage-flags.ts';

interface DoctorFlags extends StorageFlags {
  readonly quick?: boolean;
  readonly json?: boolean;
  readonly machine?: boolean;
  readonly rebuildCatalog?: boolean;
  readonly stopped?: boolean;
  readonly forgetMissing?: boolean;
}

const EXIT_PROBLEMS = 1;
const EXIT_COULD_NOT_RUN = 2;
/** Maximum number of listed problems. A failing disk may have millions; the totals count all of them. */
const MAX_LISTED = 1000;
const MAX_LISTED_ORPHANS = 20;

const NOTES = `
Exit codes:
  0  no problems
  1  problems found
  2  the check failed

An object without a record (orphan) is not a problem: it is deleted when it is one day old.

doctor first checks the machine (runtime, folder, disk, memory, clock, port, AWS settings) and prints what is wrong. With
--machine, or if there is no store yet, it prints all checks. --machine exits with 0, or with 1 if something is missing.

--rebuild-catalog adds records for objects that have none, and corrects records of chunks that were merged and deleted
since. Run it BEFORE you start the store with an empty or older catalog: objects without a record are deleted when they
are one day old. For the steps, see docs/operate/backup-upgrade.md.

Examples:
  logboom doctor                                   the store in ./data, every checksum
  logboom doctor --machine                         only the machine
  logboom doctor --data-dir /var/lib/logboom --quick --json`;

export function register(program: Command): void {
  const command = program
    .command('doctor')
    .description('verify the store and the machine, or rebuild the catalog');
  addStorageFlags(addDataDirFlag(addConfigFlag(command)))
    .option('--quick', 'verify sizes and footers, not every page')
    .option('--json', 'print JSON')
    .option('--machine', 'check only the machine, not the store')
    .option('--rebuild-catalog', 'rebuild the catalog from stored objects')
    .option(
      '--stopped',
      'with --rebuild-catalog, assert that nothing else uses the store; includes the newest objects',
    )
    .option(
      '--forget-missing',
      'with --rebuild-catalog, remove records of missing objects, so that queries no longer fail',
    )
    .addHelpText('after', NOTES)
    .action(doctor);
}

async function doctor(flags: DoctorFlags): Promise<void> {
  endWithReader();
  try {
    process.exitCode = await run(flags);
  } catch (error) {
    say(`logboom: ${error instanceof ConfigError ? error.message : explainFailure(error)}\n`);
    process.exitCode = EXIT_COULD_NOT_RUN;
  }
}

async function run(flags: DoctorFlags): Promise<number> {
  const text = readLocalConfigText(flags.config);
  const { config } = parseConfig(text, { name: flags.config, environment: process.env });
  const report = new Report(flags.json ?? false);
  const options = storageOf(flags, config.logboom);
  const isFresh = options.kind === 'embedded' && !(await isThere(join(options.dataDir, 'objects')));
  const { httpListenAddress: host, httpListenPort: port } = config.server;
  if (flags.machine || !flags.rebuildCatalog) {
    const listen = flags.machine || isFresh ? { host, port } : undefined;
    const findings = await checkMachine({
      storage: options,
      listen,
      clock: SYSTEM_CLOCK,
      environment: process.env,
    });
    if (flags.machine) return endWithMachine(findings, flags);
    await report.say(machineText(findings.filter(({ state }) => isFresh || state !== 'ok')));
  }
  // A store that runs at the same time does not delete what is checked here.
  const letGo =
    isFresh || options.kind !== 'embedded' ? undefined : await keepObjects(options.dataDir, SYSTEM_IDS);
  const storage = await open(options, flags, report);
  if (storage === undefined) {
    await letGo?.();
    return report.end({});
  }
  try {
    const catalog = new Catalog({ table: storage.table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
    const parts = { catalog, store: storage.store, clock: SYSTEM_CLOCK, mark: storage.mark };
    return await (flags.rebuildCatalog
      ? rebuild(parts, flags, report)
      : check(parts, storage, flags, report));
  } finally {
    await storage.close();
    await letGo?.();
  }
}

async function endWithMachine(findings: readonly Finding[], { json }: DoctorFlags): Promise<number> {
  await print(json ? `${JSON.stringify({ machine: findings }, undefined, 2)}\n` : machineText(findings));
  return findings.some(({ state }) => state === 'missing') ? EXIT_PROBLEMS : 0;
}

/** Opens the store; undefined if the catalog cannot be opened, which is reported. Never creates a store. */
async function open(
  options: StorageOptions,
  { rebuildCatalog: isRebuild = false }: DoctorFlags,
  report: Report,
): Promise<OpenedStorage | undefined> {
  if (options.kind === 's3') return openStorage({ ...options, createMissing: false });
  const { dataDir } = options;
  const tableFile = join(dataDir, TABLE_FILE);
  if (!(await isThere(join(dataDir, 'objects'))))
    throw new CommandError(`no store in ${dataDir}; run logboom start --data-dir ${dataDir} to create one`);
  if (!isRebuild && !(await isThere(tableFile))) {
    throw new CommandError(
      `${tableFile} does not exist; restore it from a backup, or run with --rebuild-catalog`,
    );
  }
  try {
    return await openStorage(options);
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    if (isRebuild) {
      throw new CommandError(
        `${error.message}; move it and its -wal and -shm files away, then run this again`,
      );
    }
    await report.add({ kind: 'catalog', where: tableFile, message: messageOf(error) });
    return undefined;
  }
}

async function check(
  parts: DoctorParts,
  storage: OpenedStorage,
  { quick = false }: DoctorFlags,
  report: Report,
): Promise<number> {
  for (const message of (await storage.checkTable?.(!quick)) ?? []) {
    await report.add({ kind: 'catalog', where: TABLE_FILE, message });
  }
  const progress = process.stderr.isTTY ? new ProgressLine(process.stderr, undefined) : undefined;
  const found: Problem[] = [];
  let orphans = 0;
  const totals = await checkStore(parts, {
    full: !quick,
    report: problem => {
      const isOrphan = problem.kind === 'orphan';
      if (isOrphan ? ++orphans <= MAX_LISTED_ORPHANS : found.length < MAX_LISTED) found.push(problem);
    },
    progress: ({ chunkBytes, rows }) => progress?.show({ bytes: chunkBytes, lines: rows }),
  });
  progress?.clear();
  for (const problem of found) await report.add(problem);
  totals.problems += report.ofCatalog;
  await report.say(checkText(totals, !quick));
  return report.end({ check: totals });
}

async function rebuild(
  parts: DoctorParts,
  { stopped = false, forgetMissing = false }: DoctorFlags,
  report: Report,
): Promise<number> {
  const found: Problem[] = [];
  const totals = await rebuildCatalog(parts, {
    includeRecent: stopped,
    forgetMissing,
    report: problem => {
      if (found.length < MAX_LISTED) found.push(problem);
    },
  });
  for (const problem of found) await report.add(problem);
  await report.say(rebuildText(totals));
  return Math.max(await report.end({ rebuild: totals }), totals.busyDays > 0 ? EXIT_PROBLEMS : 0);
}

/** Prints text immediately, or JSON at the end. */
class Report {
  /** Number of problems of the catalog file. */
  ofCatalog = 0;
  readonly #json: boolean;
  readonly #problems: Problem[] = [];

  constructor(json: boolean) {
    this.#json = json;
  }

  async add(problem: Problem): Promise<void> {
    if (problem.kind === 'catalog') this.ofCatalog++;
    this.#problems.push(problem);
    await this.say(problemText(problem));
  }

  async say(text: string): Promise<void> {
    if (!this.#json) await print(text);
  }

  /** Ends the report and resolves to the exit code. */
  async end(totals: Parameters<typeof reportJson>[1]): Promise<number> {
    if (this.#json) await print(reportJson(this.#problems, totals));
    const count = totals.check?.problems ?? this.#problems.filter(({ kind }) => kind !== 'orphan').length;
    return count > 0 ? EXIT_PROBLEMS : 0;
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
