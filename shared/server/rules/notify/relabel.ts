/**
 * `alert_relabel_configs`: changes labels of alerts before they are sent, or drops alerts, as Prometheus
 * does.
 */
import { createHash } from 'node:crypto';
import { LruCache } from '../../../base/model/lru.ts';
import { compileRegex, type Regex } from '../../../language/regex/regex.ts';
import type { RelabelConfig } from '../../admin/config-ruler.ts';

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** Patterns come only from the configuration. */
const patterns = new LruCache<string, Regex>(200);

type LabelSet = Readonly<Record<string, string>>;

/** `undefined` if the alert must not be sent. Throws for an invalid regular expression. */
export function relabel(labels: LabelSet, configs: readonly RelabelConfig[]): LabelSet | undefined {
  let current: Map<string, string> | undefined = new Map(Object.entries(labels));
  for (const config of configs) {
    current = applied(current, config);
    if (current === undefined) return undefined;
  }
  const left = [...current].filter(([, value]) => value !== '');
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function applied(labels: Map<string, string>, config: RelabelConfig): Map<string, string> | undefined {
  const { sourceLabels, separator, targetLabel, action, replacement } = config;
  const value = sourceLabels.map(name => labels.get(name) ?? '').join(separator);
  const regex = regexOf(config.regex);
  switch (action) {
    case 'keep':
      return regex.test(value) ? labels : undefined;
    case 'drop':
      return regex.test(value) ? undefined : labels;
    case 'keepequal':
      return (labels.get(targetLabel) ?? '') === value ? labels : undefined;
    case 'dropequal':
      return (labels.get(targetLabel) ?? '') === value ? undefined : labels;
    case 'labeldrop':
      return new Map([...labels].filter(([name]) => !regex.test(name)));
    case 'labelkeep':
      return new Map([...labels].filter(([name]) => regex.test(name)));
    case 'lowercase':
      return labels.set(targetLabel, value.toLowerCase());
    case 'uppercase':
      return labels.set(targetLabel, value.toUpperCase());
    case 'hashmod':
      return labels.set(targetLabel, String(hashOf(value) % BigInt(Math.max(1, config.modulus))));
    case 'labelmap':
      for (const [name, text] of [...labels]) {
        if (regex.test(name)) labels.set(regex.replaceAll(name, replacement), text);
      }
      return labels;
    case 'replace': {
      if (!regex.test(value)) return labels;
      // The pattern matches the whole value, so there is one match and one replacement.
      const target = regex.replaceAll(value, targetLabel);
      if (!LABEL_NAME.test(target)) return labels;
      return labels.set(target, regex.replaceAll(value, replacement));
    }
  }
}

/** Last 8 bytes of MD5, so that alerts are distributed exactly as in Prometheus. */
function hashOf(value: string): bigint {
  return createHash('md5').update(value).digest().readBigUInt64BE(8);
}

function regexOf(source: string): Regex {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  const compiled = compileRegex(source, { anchored: true, dotMatchesNewline: true });
  patterns.set(source, compiled);
  return compiled;
}
