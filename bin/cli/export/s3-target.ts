/** Uploads the files of an export to S3, or to a store with its API. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { createS3Client } from '../../../shared/aws/clients.ts';
import { messageOf } from '../../../shared/base/model/errors.ts';
import { CommandError } from '../command-error.ts';
import { type RetryPolicy, retried } from '../retries.ts';

export interface S3Prefix {
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
}

const RETRIES: RetryPolicy = { maxAttempts: 6, firstDelayMs: 250, maxDelayMs: 4000 };
/** A file is in memory during its upload. */
const MAX_FILE_BYTES = 1024 * 1024 * 1024;

/** Place other than the local folder. */
export interface FileTarget {
  /** Uploads a file of the folder. */
  put(folder: string, file: string): Promise<void>;
  /** Does nothing if the file does not exist. */
  remove(file: string): Promise<void>;
}

/** Uses the credentials and region of the AWS SDK's default sources. */
export function s3Target({ bucket, prefix }: S3Prefix, endpoint: string | undefined): FileTarget {
  const client = createS3Client({ endpoint });
  return {
    async put(folder, file) {
      const path = join(folder, file);
      if ((await stat(path)).size > MAX_FILE_BYTES)
        throw new CommandError(`${file} is larger than 1 GiB; make parts smaller with --part`);
      const body = await readFile(path);
      const command = new PutObjectCommand({ Bucket: bucket, Key: prefix + file, Body: body });
      await sent(`s3://${bucket}/${prefix}${file} cannot be written`, () => client.send(command));
    },

    async remove(file) {
      const command = new DeleteObjectCommand({ Bucket: bucket, Key: prefix + file });
      await sent(`s3://${bucket}/${prefix}${file} cannot be deleted`, () => client.send(command));
    },
  };
}

/** @param problem message of the final error */
async function sent(problem: string, send: () => Promise<unknown>): Promise<void> {
  try {
    await retried(RETRIES, isTemporary, send);
  } catch (error) {
    throw new CommandError(`${problem}: ${messageOf(error)}`, { cause: error });
  }
}

function isTemporary(error: unknown): boolean {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  return status === undefined || status === 429 || status >= 500;
}
