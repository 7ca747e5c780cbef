/** Every alarm and every queue of the stack has a line in the runbook, which leads to a section that exists. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'reference', 'aws.md'), 'utf8');
const SECTIONS = new Set(
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, title]) => title.toLowerCase().replaceAll(' ', '-')),
);

test('each alarm has a row in docs/reference/aws.md, and each row a section', () => {
  const source = readFileSync(join(ROOT, 'lib', 'alarms.ts'), 'utf8');
  const added = [...source.matchAll(/(?:this\.#?add\(|new Alarm\(this, )['`]([A-Za-z]+)/g)].map(
    ([, name]) => name,
  );
  expect(added.length).toBeGreaterThan(5);
  for (const name of added) {
    const row = page.split('\n').find(line => line.startsWith(`| \`${name}`));
    expect([name, row]).toEqual([name, expect.any(String)]);
    const [, anchor] = /\]\(#([a-z-]+)\)/.exec(String(row))!;
    expect([name, SECTIONS.has(anchor)]).toEqual([name, true]);
  }
});

test('each kind of queue is in the section about failed calls', () => {
  const [, rest] = page.split('### Failed calls\n');
  const [section] = rest.split('\n### ');
  for (const words of ['Queue of the schedules', 'Queues of events', '`Failed 1`', '`...failedurl`'])
    expect(section).toContain(words);
});

test('links within the page lead somewhere', () => {
  const anchors = [...page.matchAll(/\]\(#([a-z-]+)\)/g)].map(([, anchor]) => anchor);
  expect(anchors.filter(anchor => !SECTIONS.has(anchor))).toEqual([]);
});
