/**
 * `logboom tenant move`: renames a tenant and all its data, such as after changing `no_auth_tenant`. It opens
 * the stores directly, and only while no other process uses them.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readLocalConfigText } from '../../local/default-config.ts';
import { openStorage, type StorageOptions, TABLE_FILE } from '../../local/storage.ts';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ConfigError, parseConfig } from '../../shared/server/admin/config.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { Tokens } from '../../shared/storage/catalog/tokens.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import {
  type MoveParts,
  MoveRefusedError,
  type MoveTotals,
} from '../../shared/upkeep/tenant-rename/move-parts.ts';
import { moveTenant, refuseWhileUsed } from '../../shared/upkeep/tenant-rename/move-tenant.ts';
import { asAction, CommandError } from '../cli/command-error.ts';
import { countText, entriesText } from '../cli/count-text.ts';
import { addExamples } from '../cli/examples.ts';
import { ProgressLine } from '../cli/progress-line.ts';
import { endWithReader, print } from '../cli/standard-output.ts';
import {
  addConfigFlag,
  addDataDirFlag,
  addStorageFlags,
  type StorageFlags,
  storageOf,
} from '../cli/storage-flags.ts';

interface MoveFlags extends StorageFlags {
  readonly stopped?: boolean;
}

const NOTES = `
Moves entries, delete requests, rule groups with their states, saved queries and boards, usage and tokens from FROM to TO. TO must
have no data. Stop the store first. If the command is interrupted, run it again. Objects use their space twice until garbage
collection deletes the old ones. Overrides and local rule files that name the tenant are not changed.

Examples:
  logboom tenant move fake home --data-dir data      after changing no_auth_tenant from fake to home
  logboom tenant move shop store --config logboom.yaml`;

export function register(program: Command): void {
  const group = addExamples(
    program.command('tenant').description('rename a tenant'),
    'logboom tenant move fake home --data-dir data',
    'logboom tenant move shop store --config logboom.yaml',
  );
  const move = group
    .command('move')
    .description('rename a tenant and all its data')
    .argument('<from>', 'current name')
    .argument('<to>', 'new name');
  addStorageFlags(addDataDirFlag(addConfigFlag(move)))
    .option('--stopped', 'assert that no process uses the store, despite a recent heartbeat')
    .addHelpText('after', NOTES)
    .action(asAction(run));
}

async function run(from: string, to: string, flags: MoveFlags): Promise<void> {
  endWithReader();
  const text = readLocalConfigText(flags.config);
  const progress = process.stderr.isTTY ? new ProgressLine(process.stderr, undefined) : undefined;
  try {
    const { config } = parseConfig(text, { name: flags.config, environment: process.env });
    const options = storageOf(flags, config.logboom);
    await mustExist(options);
    const { store, table, close } = await openStorage(
      options.kind === 's3' ? { ...options, createMissing: false } : options,
    );
    try {
      const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
      const usage = new UsageRecords(table);
      const parts: MoveParts = { catalog, store, usage, tokens: new Tokens({ table }), clock: SYSTEM_CLOCK };
      if (!flags.stopped) await refuseWhileUsed(parts);
      const totals = await moveTenant(parts, {
        from,
        to,
        graceMs: config.logboom.objectGraceMs,
        progress: ({ copiedBytes, rows }) => progress?.show({ bytes: copiedBytes, lines: rows }),
      });
      progress?.clear();
      await print(summary(from, to, totals));
    } finally {
      await close();
    }
  } catch (error) {
    progress?.clear();
    const isExpected =
      error instanceof ConfigError || error instanceof MoveRefusedError || error instanceof BadRequestError;
    throw isExpected ? new CommandError(error.message, { cause: error }) : error;
  }
}

/** Never creates a store: a missing folder is a typing error. */
async function mustExist(options: StorageOptions): Promise<void> {
  if (options.kind === 's3') return;
  const isThere = await stat(join(options.dataDir, TABLE_FILE)).catch(() => undefined);
  if (isThere === undefined) throw new CommandError(`no store in ${options.dataDir}; set --data-dir`);
}

function summary(from: string, to: string, totals: MoveTotals): string {
  const { chunks, inlineChunks, days, rows, copiedBytes } = totals;
  const { deleteRequests, ruleGroups, savedItems, usageRecords, tokens } = totals;
  return [
    `${from} is now ${to}`,
    `${countText(chunks, 'chunk')} (${inlineChunks} inline) of ${countText(days, 'day')}, ${entriesText(rows)}, ${copiedBytes} bytes of objects`,
    `delete requests: ${deleteRequests}, rule groups: ${ruleGroups}, saved queries and boards: ${savedItems}, records of usage: ${usageRecords}, tokens: ${tokens}`,
    '',
  ].join('\n');
}
