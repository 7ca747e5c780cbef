/**
 * Parses the labels that an event function adds to every stream: `LOGBOOM_LABELS=env=prod,team=shop`. This is
 * a separate module because the stack also checks the labels before a deployment.
 */
import type { Label } from '../shared/base/model/labels.ts';

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Throws Error if a pair is not `name=value`. */
export function labelsOfEnvironment({
  LOGBOOM_LABELS: text = '',
}: Readonly<Record<string, string | undefined>>): readonly Label[] {
  const pairs = text.split(',').filter(pair => pair.trim() !== '');
  return pairs.map(pair => {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    if (equals < 0 || !LABEL_NAME.test(name) || value === '') {
      throw new Error(`LOGBOOM_LABELS needs name=value pairs separated by commas, got '${pair}'`);
    }
    return { name, value };
  });
}
