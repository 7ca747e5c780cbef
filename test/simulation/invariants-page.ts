/** docs/dev/invariants.md from the registry. `npm run simulate -- --write-page` writes it. */
import { INVARIANTS, type Invariant } from '../../shared/base/model/invariants.ts';

const HEAD = `# Invariants

Properties that always hold, by name. This page is generated from \`shared/base/model/invariants.ts\`
(\`npm run simulate -- --write-page\`). "Section" is the section of the [architecture](architecture.md) that promises the property.

| how it is checked | meaning |
|---|---|
| simulation | in every simulated run (\`test/simulation\`, \`npm run simulate\`) |
| assertion | the code stops if it does not hold |
| tests | by separate tests |
| nothing yet | the feature is not built, or the property is not checked |

| name | section | property | checked by |
|---|---|---|---|
`;

export function invariantsPage(): string {
  const rows = Object.values<Invariant>(INVARIANTS)
    .toSorted((a, b) => a.section - b.section)
    .map(one => `| \`${one.name}\` | ${one.section} | ${one.sentence} | ${one.checkedBy.join(', ')} |\n`);
  return HEAD + rows.join('');
}
