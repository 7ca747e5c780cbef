/** Rules of a folder: read again every poll interval, never written; a broken file takes nothing from the others. */
import { beforeEach, expect, test } from '@jest/globals';
import {
  LocalRuleStore,
  ReadOnlyRulesError,
  type RuleFile,
} from '../../shared/server/rules/local-rule-store.ts';
import { checkTemplate } from '../../shared/server/rules/template/check-template.ts';
import { manualClock } from '../support/manual-clock.ts';

const file = (tenant: string, name: string, ...groups: string[]): RuleFile => ({
  tenant,
  file: name,
  text: `groups:\n${groups.map(group => `- {name: ${group}, rules: [{record: a, expr: 1}]}`).join('\n')}`,
});

let clock = manualClock();
let files: readonly RuleFile[] | Error = [];
let reads = 0;
let broken: string[] = [];
let store: LocalRuleStore;
beforeEach(() => {
  clock = manualClock();
  files = [];
  reads = 0;
  broken = [];
  store = new LocalRuleStore({
    read: async () => {
      reads++;
      if (files instanceof Error) throw files;
      return files;
    },
    clock,
    pollMs: 1000,
    check: checkTemplate,
    onBroken: error => void broken.push(error.message),
  });
});

const names = async (tenant: string) =>
  (await store.list(tenant)).map(({ namespace, group }) => `${namespace}/${group.name}`);

test('groups by tenant; the namespace is the name of the file', async () => {
  files = [
    file('acme', 'shop.yaml', 'a', 'b'),
    file('acme', 'web.yml', 'a'),
    file('other', 'shop.yaml', 'c'),
  ];
  expect(await names('acme')).toEqual(['shop.yaml/a', 'shop.yaml/b', 'web.yml/a']);
  expect(await names('other')).toEqual(['shop.yaml/c']);
  expect(await names('nobody')).toEqual([]);
  expect(await store.tenants()).toEqual(['acme', 'other']);
});

test('is read again after the poll interval, once for all callers', async () => {
  files = [file('acme', 'f', 'a')];
  await Promise.all([store.list('acme'), store.tenants(), store.list('other')]);
  expect(reads).toBe(1);
  files = [file('acme', 'f', 'b')];
  clock.advance(999);
  expect(await names('acme')).toEqual(['f/a']);
  clock.advance(1);
  expect(await names('acme')).toEqual(['f/b']);
  expect(reads).toBe(2);
});

test('reports broken files, and uses the others', async () => {
  files = [
    { tenant: 'acme', file: 'form', text: 'groups: {' },
    { tenant: 'acme', file: 'content', text: 'groups: [{name: g, rules: [{alert: a, expr: "{"}]}]' },
    { tenant: 'acme', file: 'large', text: `# ${'x'.repeat(262_144)}` },
    file('acme', 'twice', 'a', 'a'),
    file('acme', 'fine', 'a'),
  ];
  expect(await names('acme')).toEqual(['fine/a']);
  expect(broken).toEqual([
    'rules of acme/form: unable to decoded rule group',
    expect.stringMatching(/^rules of acme\/content: could not parse expression for alert 'a' in group 'g': /),
    'rules of acme/large: rule group larger than 262144 bytes; divide it into several',
    "rules of acme/twice: duplicate group 'a'",
  ]);
});

test('an unreadable folder is not an empty one, and is retried', async () => {
  files = new Error('EACCES');
  await expect(store.list('acme')).rejects.toThrow('EACCES');
  files = [file('acme', 'f', 'a')];
  expect(await names('acme')).toEqual(['f/a']);
});

test.each([
  ['GetRuleGroup', () => store.get()],
  ['SetRuleGroup', () => store.set()],
  ['DeleteRuleGroup', () => store.delete()],
  ['DeleteNamespace', () => store.deleteNamespace()],
])('%s rejects', async (operation, ask) => {
  const answer: Promise<unknown> = ask();
  await expect(answer).rejects.toThrow(new ReadOnlyRulesError(operation));
});
