/**
 * Findings of `promtool check metrics`, without promtool: the rules of Prometheus for names, types and help
 * texts. `npm run test:rules` runs promtool itself.
 */
import type { MetricFamily } from '../../../shared/server/admin/metrics/exposition.ts';

/** Units of time, length and so on that are none of the base units, with that. */
const BASE_UNITS: Readonly<Record<string, string>> = {
  minutes: 'seconds',
  hours: 'seconds',
  days: 'seconds',
  weeks: 'seconds',
  kelvins: 'kelvin',
  fahrenheit: 'celsius',
  rankine: 'celsius',
  inches: 'meters',
  yards: 'meters',
  miles: 'meters',
  bits: 'bytes',
  calories: 'joules',
  pounds: 'grams',
  ounces: 'grams',
};
const BASES = 'amperes bytes celsius grams joules kelvin meters metres seconds volts'.split(' ');
const PREFIXES =
  'pico nano micro milli centi deci deca hecto kilo kibi mega mibi giga gibi tera tebi peta pebi'.split(' ');
const ABBREVIATIONS = 's ms us ns sec b kb mb gb tb pb m h d'.split(' ');

/** Empty if promtool has no finding; the wording is ours. */
export function problemsOf(name: string, { help, type, samples }: MetricFamily): string[] {
  const problems: string[] = [];
  const words = name.split('_');
  const labels = [...samples.keys()].map(sample => labelNames(sample));
  if (help === '') problems.push('no help text');
  for (const word of words) {
    const base = baseOf(word);
    if (base !== undefined && base !== word) problems.push(`${word} instead of ${base}`);
  }
  if (words.some(word => ABBREVIATIONS.includes(word.toLowerCase()))) problems.push('an abbreviated unit');
  if (name.includes(':')) problems.push('a colon');
  if (/[a-z][A-Z]/.test(name) || labels.flat().some(label => /[a-z][A-Z]/.test(label)))
    problems.push('camel case');
  if (new Set(samples.keys()).size < samples.size) problems.push('a series twice');
  if (type === 'untyped') return problems;
  const isCounted = type === 'histogram' || type === 'summary';
  if ((type === 'counter') !== name.endsWith('_total')) problems.push(`${type} and _total`);
  if (type !== 'histogram' && name.endsWith('_bucket')) problems.push(`${type} and _bucket`);
  if (!isCounted && /_(?:count|sum)$/.test(name)) problems.push(`${type} and ${words.at(-1)}`);
  if (type !== 'histogram' && labels.flat().includes('le')) problems.push(`${type} and le`);
  if (type !== 'summary' && labels.flat().includes('quantile')) problems.push(`${type} and quantile`);
  if (`${name}_`.toLowerCase().includes(`_${type}_`)) problems.push(`${type} in its name`);
  return problems;
}

function baseOf(word: string): string | undefined {
  const prefix = PREFIXES.find(one => word.startsWith(one) && unitOf(word.slice(one.length)) !== undefined);
  return unitOf(prefix === undefined ? word : word.slice(prefix.length));
}

function unitOf(word: string): string | undefined {
  return BASES.includes(word) ? word : BASE_UNITS[word];
}

function labelNames(sample: string): string[] {
  const open = sample.indexOf('{');
  if (open < 0) return [];
  return [...sample.slice(open).matchAll(/[{,]([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"/g)].map(([, name]) => name);
}
