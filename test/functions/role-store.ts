/**
 * An object store that answers as S3 does to a role: what the role may not do is 403, and so is a read of an object that is missing,
 * unless the role may list the names of the bucket. Rights are those of lib/rights.ts, which the template's policies are held to.
 */
import { S3ServiceException } from '@aws-sdk/client-s3';
import type { ObjectKind, Rights } from '../../lib/rights.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../shared/base/ports/object-store.ts';

export interface RoleStore extends ObjectStore {
  /** Keys of reads that found nothing. */
  readonly missed: string[];
  /** `operation key` of calls that got 403. */
  readonly denied: string[];
}

export function roleStore(objects: ObjectStore, rights: Rights): RoleStore {
  const missed: string[] = [];
  const denied: string[] = [];

  function deny(operation: string, key: string): S3ServiceException {
    denied.push(`${operation} ${key}`);
    return new S3ServiceException({
      name: 'AccessDenied',
      message: 'Access Denied',
      $fault: 'client',
      $metadata: { httpStatusCode: 403 },
    });
  }

  function check(operation: string, key: string, kinds: readonly ObjectKind[] = []): void {
    if (!kinds.some(kind => key.includes(`/${kind}/`))) throw deny(operation, key);
  }

  async function read<T>(key: string, answer: () => Promise<T>): Promise<T> {
    check('GetObject', key, rights.getObjects);
    try {
      return await answer();
    } catch (error) {
      if (!(error instanceof ObjectNotFoundError)) throw error;
      if (rights.listsObjects !== true) throw deny('GetObject', key);
      missed.push(key);
      throw error;
    }
  }

  return {
    missed,
    denied,
    get: key => read(key, () => objects.get(key)),
    getRange: (key, ...range) => read(key, () => objects.getRange(key, ...range)),
    getTail: (key, ...length) => read(key, () => objects.getTail(key, ...length)),
    async head(key) {
      const info = await read(key, () => objects.head(key));
      if (info === undefined && rights.listsObjects !== true) throw deny('HeadObject', key);
      return info;
    },
    async putIfAbsent(key, body) {
      check('PutObject', key, rights.putObjects);
      return objects.putIfAbsent(key, body);
    },
    async delete(key) {
      check('DeleteObject', key, rights.deleteObjects);
      await objects.delete(key);
    },
    async list(prefix, options) {
      if (rights.listsObjects !== true) throw deny('ListBucket', prefix);
      return objects.list(prefix, options);
    },
  };
}
