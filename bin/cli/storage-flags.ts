/**
 * Storage location options, shared by all commands that open a store directly. Options override environment
 * variables, which override the configuration file.
 */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { DEFAULT_CONFIG_FILE } from '../../local/default-config.ts';
import type { StorageOptions } from '../../local/storage.ts';
import { ConfigError } from '../../shared/server/admin/config.ts';
import {
  type LogboomConfig,
  STORAGE_KINDS,
  type StorageKind,
} from '../../shared/server/admin/config-fields.ts';

export interface StorageFlags {
  readonly config: string;
  readonly dataDir?: string;
  readonly storage?: StorageKind;
  readonly bucket?: string;
  readonly table?: string;
  readonly endpoint?: string;
  readonly region?: string;
}

export function addConfigFlag(command: Command): Command {
  return command.addOption(
    new Option('--config <file>', 'configuration file (YAML)')
      .env('LOGBOOM_CONFIG')
      .default(DEFAULT_CONFIG_FILE, 'config/local.yaml'),
  );
}

export function addDataDirFlag(command: Command): Command {
  return command.addOption(new Option('--data-dir <folder>', 'data folder').env('LOGBOOM_DATA_DIR'));
}

export function addStorageFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--storage <kind>', 'storage of chunks and catalog: the data folder, or S3 and DynamoDB')
        .env('LOGBOOM_STORAGE')
        .choices(STORAGE_KINDS),
    )
    .addOption(new Option('--bucket <name>', 'S3 bucket, with --storage s3').env('LOGBOOM_BUCKET'))
    .addOption(new Option('--table <name>', 'DynamoDB table, with --storage s3').env('LOGBOOM_TABLE'))
    .addOption(
      new Option('--endpoint <url>', 'endpoint other than AWS; creates the bucket and table if missing').env(
        'LOGBOOM_ENDPOINT',
      ),
    )
    .addOption(new Option('--region <name>', 'AWS region').env('LOGBOOM_REGION'));
}

/** Throws ConfigError. */
export function storageOf(flags: StorageFlags, logboom: LogboomConfig): StorageOptions {
  if ((flags.storage ?? logboom.storage) === 'files') {
    return { kind: 'embedded', dataDir: resolve(flags.dataDir ?? logboom.dataDir) };
  }
  const bucket = flags.bucket ?? logboom.s3Bucket;
  const table = flags.table ?? logboom.dynamodbTable;
  if (bucket === '' || table === '') {
    throw new ConfigError(
      'storage s3 needs a bucket and a table; set --bucket and --table, or s3_bucket and dynamodb_table in the section logboom',
    );
  }
  const endpoint = (flags.endpoint ?? logboom.awsEndpoint) || undefined;
  const region = (flags.region ?? logboom.awsRegion) || undefined;
  return { kind: 's3', bucket, table, endpoint, region };
}
