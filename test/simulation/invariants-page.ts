/** docs/dev/invariants.md from the registry. `npm run simulate -- --write-page` writes it. */
import { INVARIANTS, type Invariant } from '../../shared/base/model/invariants.ts';

const HEAD = `# Invariants

Properties that always hold, by name. This page is generated from \`shared/base/model/invariants.ts\`
(\`npm run simulate -- --write-page\`). The last column links to the section that promises the property.

| how it is checked | meaning |
|---|---|
| simulation | in every simulated run (\`test/simulation\`, \`npm run simulate\`) |
| assertion | the code stops if it does not hold |
| tests | by separate tests |

| name | property | checked by | section |
|---|---|---|---|
`;

export function invariantsPage(): string {
  const rows = Object.values<Invariant>(INVARIANTS).map(
    one =>
      `| \`${one.name}\` | ${one.sentence} | ${one.checkedBy.join(', ')} | [${nameOf(one.section)}](${one.section}) |\n`,
  );
  return HEAD + rows.join('');
}

function nameOf(section: string): string {
  const [page] = section.split('.md#', 1);
  return page.replaceAll('-', ' ');
}
