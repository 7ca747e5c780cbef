/** What a query looked at, passed over and read, and where it ran, as a table; figures of several requests add up. */

type Figures = Map<string, Map<string, number>>;

export class Explanation {
  private readonly figures: Figures = new Map();
  private readonly texts = new Map<string, Set<string>>();

  /** Takes what a store told of one request; anything else than texts and groups of numbers is left alone. */
  add(told: unknown): void {
    if (typeof told !== 'object' || told === null) return;
    for (const [group, values] of Object.entries(told)) {
      if (typeof values === 'string') {
        this.texts.set(group, (this.texts.get(group) ?? new Set()).add(values));
        continue;
      }
      if (typeof values !== 'object' || values === null) continue;
      const sums = this.figures.get(group) ?? new Map<string, number>();
      this.figures.set(group, sums);
      for (const [name, value] of Object.entries(values)) {
        if (typeof value === 'number') sums.set(name, (sums.get(name) ?? 0) + value);
      }
    }
  }

  /** A line for each group; says so where the store told nothing. */
  get text(): string {
    if (this.figures.size === 0) return 'the store does not explain queries\n';
    const lines = [...this.figures].map(([group, sums]) => {
      const figures = [...sums].map(([name, value]) => `${worded(name)} ${value.toLocaleString('en-US')}`);
      return `${worded(group).padEnd(13)}${figures.join(', ')}`;
    });
    for (const [name, values] of this.texts)
      lines.push(`${worded(name).padEnd(13)}${[...values].join(', ')}`);
    return `${lines.join('\n')}\n`;
  }
}

/** `prunedByText` → `pruned by text`. */
function worded(name: string): string {
  return name.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}
