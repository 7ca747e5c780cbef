/**
 * Overrides are read again while the program runs: which ones change, which stay, and what is logged how often.
 */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { ConfigError } from '../../shared/server/admin/config.ts';
import { MAX_OVERRIDES_BYTES } from '../../shared/server/admin/overrides.ts';
import { overridesFile, overridesSources } from '../../shared/server/admin/overrides-file.ts';
import { type OverridesSource, overridesObject } from '../../shared/server/admin/overrides-source.ts';
import { OverridesWatch } from '../../shared/server/admin/overrides-watch.ts';
import { manualClock } from '../support/manual-clock.ts';

const PERIOD_MS = 10_000;
const seriesOf = (count: number) => `overrides: {acme: {max_query_series: ${count}}}`;

/** A text that a test changes, and how often it was looked at. */
function changing(text: string | Error) {
  const file = { text, looks: 0, reads: 0 };
  const source: OverridesSource = {
    name: 'o.yaml',
    async read(known) {
      file.looks++;
      if (file.text instanceof Error) throw file.text;
      if (known === file.text) return undefined;
      file.reads++;
      return { text: file.text, stamp: file.text };
    },
  };
  return { file, source };
}

function watch(...sources: OverridesSource[]) {
  const clock = manualClock();
  const logged: string[] = [];
  const log = {
    info: (message: string) => void logged.push(`info ${message}`),
    warn: (message: string) => void logged.push(`warn ${message}`),
    error: (message: string) => void logged.push(`error ${message}`),
  };
  const overrides = new OverridesWatch({
    sources,
    defaults: DEFAULT_LIMITS,
    clock,
    periodMs: PERIOD_MS,
    log,
  });
  return { overrides, clock, logged, series: (tenant = 'acme') => overrides.limitsOf(tenant).maxQuerySeries };
}

describe('first load of overrides', () => {
  test('gives all tenants the defaults if there are no sources', async () => {
    const { overrides, logged } = watch();
    await overrides.load();
    await overrides.refreshIfDue();
    expect(overrides.limitsOf('acme')).toBe(DEFAULT_LIMITS);
    expect(logged).toEqual([]);
  });

  test('throws on an invalid value', async () => {
    const { overrides, logged } = watch(changing('overrides: {acme: {max_query_series: x}}').source);
    await expect(overrides.load()).rejects.toThrow(
      new ConfigError(
        'o.yaml:1:20: overrides.acme.max_query_series: expected a whole number of at least 0, got "x"',
      ),
    );
    expect(logged).toEqual([]);
  });

  test('combines several sources', async () => {
    const { overrides, series, logged } = watch(
      changing(seriesOf(1)).source,
      changing('overrides: {acme: {max_query_series: 2}, b: {max_query_series: 3}}\nmore: 1').source,
    );
    await overrides.load();
    expect([series(), series('b'), series('c')]).toEqual([2, 3, DEFAULT_LIMITS.maxQuerySeries]);
    expect(logged).toEqual([
      'warn these keys of the overrides have no effect in Logboom: more (o.yaml, line 2)',
      'info overrides loaded, tenants: 2',
    ]);
  });
});

describe('change of overrides', () => {
  test('takes effect at the next check', async () => {
    const { file, source } = changing(seriesOf(1));
    const { overrides, series, logged } = watch(source);
    await overrides.load();
    const before = overrides.limitsOf('acme');
    await overrides.refresh();
    // If nothing changed, it is the same object, so that values that are cached by limits stay valid.
    expect(overrides.limitsOf('acme')).toBe(before);
    file.text = seriesOf(2);
    expect(series()).toBe(1);
    await overrides.refresh();
    expect([series(), file.looks, file.reads]).toEqual([2, 3, 2]);
    expect(logged).toEqual(Array(2).fill('info overrides loaded, tenants: 1'));
  });

  test('a change of one source reloads the others', async () => {
    const first = changing(seriesOf(1));
    const second = changing('overrides: {b: {max_query_series: 3}}');
    const { overrides, series } = watch(first.source, second.source);
    await overrides.load();
    second.file.text = 'overrides: {b: {max_query_series: 4}}';
    await overrides.refresh();
    expect([series(), series('b')]).toEqual([1, 4]);
  });

  test('an invalid change keeps the old limits, and each fault is logged once', async () => {
    const { file, source } = changing(seriesOf(1));
    const { overrides, series, logged } = watch(source);
    await overrides.load();
    for (const text of ['overrides: {acme: {max_query_series: x}}', new Error('no disk'), 'overrides: 3']) {
      file.text = text;
      for (let i = 0; i < 3; i++) await overrides.refresh();
      expect(series()).toBe(1);
    }
    file.text = seriesOf(5);
    await overrides.refresh();
    expect(series()).toBe(5);
    file.text = new Error('no disk');
    await overrides.refresh();
    const stay = 'error overrides reload failed; keeping the previous overrides: ';
    expect(logged).toEqual([
      'info overrides loaded, tenants: 1',
      `${stay}o.yaml:1:20: overrides.acme.max_query_series: expected a whole number of at least 0, got "x"`,
      `${stay}no disk`,
      `${stay}o.yaml:1:1: overrides: expected a map, got 3`,
      'info overrides loaded, tenants: 1',
      `${stay}no disk`,
    ]);
  });

  test('a change that undoes an invalid one is in force without a reload', async () => {
    const { file, source } = changing(seriesOf(1));
    const { overrides, series } = watch(source);
    await overrides.load();
    file.text = 'overrides: 3';
    await overrides.refresh();
    file.text = seriesOf(1);
    await overrides.refresh();
    expect(series()).toBe(1);
  });
});

describe('checks of overrides', () => {
  test('run once for concurrent requests, and again when the period has passed', async () => {
    const { file, source } = changing(seriesOf(1));
    const { overrides, clock, series } = watch(source);
    await Promise.all([1, 2, 3].map(() => overrides.refreshIfDue()));
    expect([series(), file.looks]).toEqual([1, 1]);
    file.text = seriesOf(2);
    clock.advance(PERIOD_MS - 1);
    await overrides.refreshIfDue();
    expect([series(), file.looks]).toEqual([1, 1]);
    clock.advance(1);
    await Promise.all([1, 2, 3].map(() => overrides.refreshIfDue()));
    expect([series(), file.looks]).toEqual([2, 2]);
  });

  test('repeat a failed first load at the next request', async () => {
    const { file, source } = changing(new Error('no network'));
    const { overrides, series } = watch(source);
    await expect(overrides.refreshIfDue()).rejects.toThrow('no network');
    file.text = seriesOf(1);
    await overrides.refreshIfDue();
    expect(series()).toBe(1);
  });

  test('run by a timer until it is stopped', async () => {
    const { file, source } = changing(seriesOf(1));
    const { overrides, clock, series } = watch(source);
    await overrides.load();
    const stop = new AbortController();
    const watched = overrides.keepFresh(stop.signal);
    for (const count of [2, 3]) {
      file.text = seriesOf(count);
      clock.advance(PERIOD_MS);
      while (series() !== count) await new Promise(setImmediate);
      // The next sleep begins after the look.
      await new Promise(setImmediate);
    }
    stop.abort();
    await watched;
    expect(file.looks).toBe(3);
  });

  test('do not repeat without a period', async () => {
    const { file, source } = changing(seriesOf(1));
    const clock = manualClock();
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const overrides = new OverridesWatch({
      sources: [source],
      defaults: DEFAULT_LIMITS,
      clock,
      periodMs: 0,
      log,
    });
    await overrides.load();
    await overrides.keepFresh(new AbortController().signal);
    clock.advance(1e9);
    await overrides.refreshIfDue();
    expect(file.looks).toBe(1);
  });
});

describe('sources of overrides', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'logboom-overrides-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('reload a file that was written or replaced', async () => {
    const path = join(folder, 'o.yaml');
    const source = overridesFile(path);
    await expect(source.read(undefined)).rejects.toThrow(new ConfigError(`${path}: no such file`));
    await writeFile(path, 'one');
    const first = await source.read(undefined);
    expect(first?.text).toBe('one');
    expect(await source.read(first?.stamp)).toBeUndefined();
    await writeFile(path, 'other text');
    const second = await source.read(first?.stamp);
    expect(second?.text).toBe('other text');
    await writeFile(`${path}.new`, 'same  size');
    await rename(`${path}.new`, path);
    expect((await source.read(second?.stamp))?.text).toBe('same  size');
    await writeFile(path, Buffer.alloc(MAX_OVERRIDES_BYTES + 1));
    await expect(source.read(undefined)).rejects.toThrow(`${path}: larger than 16777216 bytes`);
  });

  test('reload an object whose content changed', async () => {
    const store = memoryObjectStore();
    const source = overridesObject(store, 'config/o.yaml');
    await expect(source.read(undefined)).rejects.toThrow('config/o.yaml: no such object');
    await store.putIfAbsent('config/o.yaml', Buffer.from('one'));
    const first = await source.read(undefined);
    expect(first?.text).toBe('one');
    expect(await source.read(first?.stamp)).toBeUndefined();
    await store.delete('config/o.yaml');
    await store.putIfAbsent('config/o.yaml', Buffer.from('two'));
    expect((await source.read(first?.stamp))?.text).toBe('two');
    await store.delete('config/o.yaml');
    await store.putIfAbsent('config/o.yaml', Buffer.alloc(MAX_OVERRIDES_BYTES + 1));
    await expect(source.read(undefined)).rejects.toThrow('larger than 16777216 bytes');
  });

  test('are those of the configuration, with the object last', () => {
    const sources = overridesSources({ files: ['a', 'b'], object: 'c', periodMs: 1 }, memoryObjectStore());
    expect(sources.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(overridesSources({ files: [], object: '', periodMs: 1 }, memoryObjectStore())).toEqual([]);
  });
});
