/**
 * The options that say where the data lies: the same for every command that opens a store by itself. An option wins over
 * the environment, the environment over the configuration file.
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
    new Option('--config <file>', 'configuration, YAML')
      .env('LOGBOOM_CONFIG')
      .default(DEFAULT_CONFIG_FILE, 'config/local.yaml'),
  );
}

export function addDataDirFlag(command: Command): Command {
  return command.addOption(
    new Option('--data-dir <folder>', 'where the data is kept').env('LOGBOOM_DATA_DIR'),
  );
}

export function addStorageFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--storage <kind>',
        'where chunks and catalog are kept: in the data folder, or on S3 and DynamoDB',
      )
        .env('LOGBOOM_STORAGE')
        .choices(STORAGE_KINDS),
    )
    .addOption(new Option('--bucket <name>', 'bucket of S3, with --storage s3').env('LOGBOOM_BUCKET'))
    .addOption(new Option('--table <name>', 'table of DynamoDB, with --storage s3').env('LOGBOOM_TABLE'))
    .addOption(
      new Option('--endpoint <url>', 'another place than AWS; bucket and table are made where missing').env(
        'LOGBOOM_ENDPOINT',
      ),
    )
    .addOption(new Option('--region <name>', 'region of AWS').env('LOGBOOM_REGION'));
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
      'storage s3 needs a bucket and a table: give --bucket and --table, or s3_bucket and dynamodb_table in the section logboom',
    );
  }
  const endpoint = (flags.endpoint ?? logboom.awsEndpoint) || undefined;
  const region = (flags.region ?? logboom.awsRegion) || undefined;
  return { kind: 's3', bucket, table, endpoint, region };
}
