/** Configuration as a list of paths with values, and a search in it. */
export interface ConfigLine {
  /** Path such as `limits_config.retention_period`. */
  readonly path: string;
  readonly value: string;
}

export type ConfigTree = Readonly<Record<string, unknown>>;

/** Lines of a tree. Lists are values, because their items have no names. */
export function configLines(tree: ConfigTree): readonly ConfigLine[] {
  const lines: ConfigLine[] = [];
  const walk = (value: unknown, path: string) => {
    if (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.keys(value).length > 0
    ) {
      for (const [name, inner] of Object.entries(value)) walk(inner, path === '' ? name : `${path}.${name}`);
    } else if (path !== '') {
      lines.push({ path, value: typeof value === 'string' ? value : JSON.stringify(value) });
    }
  };
  walk(tree, '');
  return lines;
}

/** Lines that have each word in the path or the value. */
export function findConfig(lines: readonly ConfigLine[], text: string): readonly ConfigLine[] {
  const words = text.toLowerCase().split(/\s+/);
  return lines.filter(({ path, value }) => {
    const whole = `${path} ${value}`.toLowerCase();
    return words.every(word => whole.includes(word));
  });
}
