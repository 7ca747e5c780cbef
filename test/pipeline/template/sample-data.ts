/** One line with labels for the tests of templates, and short ways to render it. */
import {
  compileTemplate,
  type TemplateData,
  TemplateError,
} from '../../../shared/execution/pipeline/template/template.ts';

const LABELS = new Map([
  ['a', 'x'],
  ['arr', '[1,"x",null,true,2.5]'],
  ['b', ''],
  ['dur', '1m30s'],
  ['j', '{"k":"v","n":null,"o":{"p":[1,2,{"q":true}]},"f":1.5}'],
  ['level', 'info'],
  ['msg', 'hello wörld'],
  ['n', '2.5'],
  ['neg', '-7'],
  ['path', '/api/v1'],
  ['status', '404'],
  ['u', 'a%20b'],
]);

/** Labels in the order of their names. */
export function dataOf(labels: ReadonlyMap<string, string>): TemplateData {
  return {
    get: name => labels.get(name),
    entries: () => labels,
    line: () => 'line é text 42',
    timestampNs: 1_795_154_974_737_580_101n,
    clock: { nowNs: () => 1_700_000_000_000_000_000n },
  };
}

export const SAMPLE = dataOf(LABELS);

export function render(text: string, data = SAMPLE): string {
  return compileTemplate(text, 'line').render(data);
}

/** The message of the error after `template: line:`. */
export function failureOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message.replace(/^template: line:/, '');
  }
  throw new Error('nothing was thrown');
}

export { TemplateError };
