/**
 * Renders the texts of labels and annotations for one alert. A text that fails becomes an error text: an
 * alert must not be lost because its description is invalid.
 */

import { messageOf } from '../../../base/model/errors.ts';
import { LruCache } from '../../../base/model/lru.ts';
import { TemplateError } from '../../../execution/pipeline/template/error.ts';
import { parseTemplate } from '../../../execution/pipeline/template/parser.ts';
import type { State, TemplateData } from '../../../execution/pipeline/template/state.ts';
import {
  type CompiledTemplate,
  compileTemplateBody,
  type Library,
  newVariables,
} from '../../../execution/pipeline/template/statements.ts';
import { LabelMap, type Value } from '../../../execution/pipeline/template/values.ts';
import { PRELUDE } from './check-template.ts';
import { ruleFunctions } from './functions.ts';

/**
 * UTF-16 units of one rendered text. Descriptions are for people, and the state of a group contains all of
 * them.
 */
export const MAX_TEXT_LENGTH = 16 * 1024;
/** Number of cached compiled texts in this process. */
const CACHED_TEMPLATES = 2000;

interface AlertData {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface TemplateRunner {
  /** Never throws. */
  run(text: string, data: AlertData): string;
}

interface TemplateSurroundings {
  readonly externalLabels: Readonly<Record<string, string>>;
  readonly externalUrl: string;
}

/** Templates have no line and no time of an entry, and no functions that show them. */
const NO_ROW: TemplateData = {
  get: () => undefined,
  entries: () => [],
  line: () => '',
  timestampNs: 0n,
  clock: { nowNs: () => 0n },
};

type Render = (data: AlertData) => string;

export function templateRunner({ externalLabels, externalUrl }: TemplateSurroundings): TemplateRunner {
  const functions = ruleFunctions({ externalUrl });
  const compiled = new LruCache<string, Render>(CACHED_TEMPLATES);
  const external = labelMap(externalLabels);

  function compile(text: string): Render {
    const parsed = parseTemplate(PRELUDE + text, 'template', name => functions.has(name));
    const templates = new Map<string, CompiledTemplate>();
    const library: Library = { functions, templates };
    for (const [name, body] of parsed.definitions) templates.set(name, compileTemplateBody(body, library));
    const main = templates.get(parsed.name) as CompiledTemplate;
    return ({ labels, value }) => {
      const dot = new Map<string, Value>([
        ['Labels', labelMap(labels)],
        ['ExternalLabels', external],
        ['ExternalURL', externalUrl],
        ['Value', value],
      ]);
      const state: State = {
        data: NO_ROW,
        parseName: parsed.name,
        text: parsed.text,
        templateName: parsed.name,
        out: '',
        node: { type: 'text', pos: 0, text: '' },
        variables: newVariables(main, dot),
        steps: 0,
        depth: 0,
      };
      main.run(state, dot);
      if (state.out.length <= MAX_TEXT_LENGTH) return state.out;
      throw new TemplateError(`text longer than ${MAX_TEXT_LENGTH} characters`);
    };
  }

  return {
    run(text, data) {
      if (!text.includes('{{')) return text;
      try {
        let render = compiled.get(text);
        if (render === undefined) {
          render = compile(text);
          compiled.set(text, render);
        }
        return render(data);
      } catch (error) {
        return `<error expanding template: ${messageOf(error)}>`;
      }
    },
  };
}

function labelMap(labels: Readonly<Record<string, string>>): LabelMap {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const byName = new Map(sorted);
  return new LabelMap({ get: name => byName.get(name), entries: () => sorted });
}
