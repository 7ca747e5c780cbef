/**
 * The labels that every stream of an event function gets: `LOGBOOM_LABELS=env=prod,team=shop`. Apart from the store of
 * these functions, because the stack checks them too before anything is deployed.
 */
import type { Label } from '../shared/base/model/labels.ts';

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Throws Error where a pair is none. */
export function labelsOfEnvironment({
  LOGBOOM_LABELS: text = '',
}: Readonly<Record<string, string | undefined>>): readonly Label[] {
  const pairs = text.split(',').filter(pair => pair.trim() !== '');
  return pairs.map(pair => {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    if (equals < 0 || !LABEL_NAME.test(name) || value === '') {
      throw new Error(`LOGBOOM_LABELS takes name=value, separated by commas, not '${pair}'`);
    }
    return { name, value };
  });
}
