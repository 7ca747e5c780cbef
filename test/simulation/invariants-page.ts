/** docs/dev/invariants.md from the registry. `npm run simulate -- --write-page` writes it. */
import { INVARIANTS, type Invariant } from '../../shared/base/model/invariants.ts';

const HEAD = `# Invariants

What must always be true of the store, by name. The list is \`shared/base/model/invariants.ts\`; this page is made from it
(\`npm run simulate -- --write-page\`, a test compares them). "Section" is the section of [the design](architecture.md)
that promises it.

| how it is checked | meaning |
|---|---|
| simulation | in every simulated run (\`test/simulation\`, \`npm run simulate\`) |
| assertion | the code refuses to go on where it does not hold |
| tests | by tests of its own |
| nothing yet | what promises it is not built, or not checked |

| name | section | what holds | checked by |
|---|---|---|---|
`;

export function invariantsPage(): string {
  const rows = Object.values<Invariant>(INVARIANTS)
    .toSorted((a, b) => a.section - b.section)
    .map(one => `| \`${one.name}\` | ${one.section} | ${one.sentence} | ${one.checkedBy.join(', ')} |\n`);
  return HEAD + rows.join('');
}
