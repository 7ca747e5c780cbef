/** Contract of delete request records. It runs on memory, SQLite and DynamoDB. Each test has separate tenants. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import { DeleteRequestIdTakenError, DeleteRequests } from '../../shared/storage/catalog/delete-requests.ts';
import type { TableUnderTest } from '../ports/table.contract.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

export function newRequest(given: Partial<DeleteRequest> = {}): DeleteRequest {
  return {
    id: '0000000a',
    tenant: 'acme',
    query: '{app="x"} |= "é"',
    startNs: -5n,
    endNs: 2n ** 62n,
    intervalNs: 86_400_000_000_000n,
    createdMs: NOW_MS,
    ...NOT_BEGUN,
    ...given,
  };
}

export function deleteRequestsContract(
  name: string,
  open: (clock: ReturnType<typeof virtualClock>) => Promise<TableUnderTest>,
  { rounds = 100 }: { readonly rounds?: number } = {},
): void {
  describe(`delete requests on ${name}`, () => {
    let opened: TableUnderTest;
    /** Two processes, if the table can be opened twice. */
    let deletes: DeleteRequests;
    let other: DeleteRequests;
    beforeAll(async () => {
      const clock = virtualClock(NOW_MS);
      opened = await open(clock);
      deletes = new DeleteRequests({ table: opened.table, clock });
      other = new DeleteRequests({ table: (await opened.another?.()) ?? opened.table, clock });
    });
    afterAll(() => opened.close?.());

    const newTenant = () => `t${randomBytes(6).toString('hex')}`;
    const waiting = async (tenant: string) => (await Array.fromAsync(other.tenants())).includes(tenant);

    test('a tenant without requests has an empty list', async () => {
      const tenant = newTenant();
      expect([await deletes.list(tenant), await deletes.version(tenant)]).toEqual([[], 0]);
      expect(await deletes.find(tenant, '0000000a')).toBeUndefined();
      expect(await waiting(tenant)).toBe(false);
    });

    test('the whole life of a request, as another process sees it', async () => {
      const tenant = newTenant();
      const versions = [await other.version(tenant)];
      const states = [newRequest({ tenant })];
      await deletes.create(states[0]);
      for (const change of [
        { pickedUpMs: NOW_MS + 1, bytesTotal: 2 ** 40 },
        { doneToNs: -1n, bytesDone: 2 ** 39 },
        { sealedMs: NOW_MS + 2, doneToNs: 2n ** 62n, bytesDone: 2 ** 40 },
        { processedMs: NOW_MS + 3 },
      ]) {
        expect(await other.list(tenant)).toEqual([states.at(-1)]);
        expect(await other.find(tenant, states[0].id)).toEqual(states.at(-1));
        expect(await waiting(tenant)).toBe(true);
        versions.push(await other.version(tenant));
        states.push({ ...states.at(-1)!, ...change });
        expect(await deletes.replace(states.at(-2)!, states.at(-1)!)).toBe(true);
      }
      expect(await other.list(tenant)).toEqual([states.at(-1)]);
      expect(await other.find(tenant, states[0].id)).toEqual(states.at(-1));
      expect(await waiting(tenant)).toBe(false);
      versions.push(await other.version(tenant));
      expect(new Set(versions).size).toBe(versions.length);
    });

    test('only a writer that knows the current request changes or cancels it', async () => {
      const tenant = newTenant();
      const before = newRequest({ tenant });
      const after = { ...before, pickedUpMs: NOW_MS };
      expect(await deletes.replace(before, after)).toBe(false);
      expect(await deletes.remove(before)).toBe(false);
      await deletes.create(before);
      expect(await other.replace(before, after)).toBe(true);
      const version = await deletes.version(tenant);
      expect(await deletes.replace(before, { ...before, sealedMs: 1 })).toBe(false);
      expect(await deletes.remove(before)).toBe(false);
      expect(await deletes.version(tenant)).toBe(version);
      expect(await deletes.remove(after)).toBe(true);
      expect(await deletes.remove(after)).toBe(false);
      expect([await other.list(tenant), await waiting(tenant)]).toEqual([[], false]);
      expect(await deletes.version(tenant)).not.toBe(version);
    });

    test('an id is one request of a tenant, processed or not', async () => {
      const tenant = newTenant();
      const first = newRequest({ tenant });
      await deletes.create(first);
      const again = newRequest({ tenant, query: '{other="1"}', createdMs: NOW_MS + 9 });
      await expect(other.create(again)).rejects.toThrow(DeleteRequestIdTakenError);
      expect(await deletes.replace(first, { ...first, processedMs: 1 })).toBe(true);
      await expect(other.create(again)).rejects.toThrow(DeleteRequestIdTakenError);
      await other.create({ ...again, tenant: newTenant() });
      expect(await deletes.list(tenant)).toEqual([{ ...first, processedMs: 1 }]);
    });

    test('only one of two concurrent acceptances or cancellations succeeds', async () => {
      const tenant = newTenant();
      const request = newRequest({ tenant });
      await deletes.create(request);
      const outcomes = await Promise.all([
        deletes.remove(request),
        other.replace(request, { ...request, pickedUpMs: 1 }),
        other.remove(request),
        deletes.replace(request, { ...request, pickedUpMs: 2 }),
      ]);
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const left = outcomes[0] || outcomes[2] ? [] : [{ ...request, pickedUpMs: outcomes[1] ? 1 : 2 }];
      expect(await deletes.list(tenant)).toEqual(left);
    });

    test('concurrent requests are all stored, in the order of their creation', async () => {
      const tenant = newTenant();
      const requests = Array.from({ length: 12 }, (_, i) =>
        newRequest({ tenant, id: `${90 - i}`.padStart(8, 'a'), createdMs: NOW_MS + i }),
      );
      await Promise.all(requests.map((request, i) => (i % 2 ? deletes : other).create(request)));
      expect(await deletes.list(tenant)).toEqual(requests);
      // Each change raises it, and once more when it is wholly there, unless another one has by then.
      expect(await deletes.version(tenant)).toBeGreaterThanOrEqual(requests.length);
    });

    test('any course of changes is kept as it was made', async () => {
      const id = fc.integer({ min: 0, max: 3 }).map(n => `0000000${n}`);
      const step = fc.record({
        act: fc.constantFrom('create', 'acceptRequests', 'process', 'remove'),
        id,
        isOther: fc.boolean(),
      });
      const course = fc.asyncProperty(fc.array(step, { maxLength: 20 }), async steps => {
        const tenant = newTenant();
        const model = new Map<string, DeleteRequest>();
        let versions = 0;
        for (const [i, { act, id: of, isOther }] of steps.entries()) {
          const from = isOther ? other : deletes;
          const known = model.get(of);
          if (act === 'create') {
            const request = newRequest({ tenant, id: of, createdMs: NOW_MS + i });
            const made = from.create(request);
            if (known !== undefined) await expect(made).rejects.toThrow(DeleteRequestIdTakenError);
            else {
              await made;
              model.set(of, request);
              versions++;
            }
            continue;
          }
          if (known === undefined) continue;
          versions++;
          if (act === 'remove') {
            expect(await from.remove(known)).toBe(true);
            model.delete(of);
          } else {
            const change = act === 'acceptRequests' ? { pickedUpMs: i } : { processedMs: i };
            expect(await from.replace(known, { ...known, ...change })).toBe(true);
            model.set(of, { ...known, ...change });
          }
        }
        const all = [...model.values()].sort((a, b) => a.createdMs - b.createdMs);
        expect(await other.list(tenant)).toEqual(all);
        expect(await deletes.version(tenant)).toBe(2 * versions);
        expect(await waiting(tenant)).toBe(all.some(({ processedMs }) => processedMs === undefined));
      });
      await fc.assert(course, { numRuns: rounds });
    });
  });
}
