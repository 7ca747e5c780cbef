/**
 * Functions of alert templates: Go's own and those of Prometheus. There is no `query` function: a text is
 * rendered only from the alert, without other requests.
 */
import { BUILTINS } from '../../../execution/pipeline/template/builtins.ts';
import { CallError } from '../../../execution/pipeline/template/error.ts';
import {
  fixed,
  type TemplateFunction,
  variadic,
  weighted,
} from '../../../execution/pipeline/template/function-types.ts';
import { lower, title, upper } from '../../../execution/pipeline/template/letter-case.ts';
import { countPattern, replacePattern } from '../../../execution/pipeline/template/regex-cache.ts';
import type { Value } from '../../../execution/pipeline/template/values.ts';
import {
  humanize,
  humanize1024,
  humanizeDuration,
  humanizePercentage,
  humanizeTimestamp,
  parseDuration,
  toTime,
} from './humanize.ts';

/** External address of the store, and its path. */
interface ExternalUrl {
  readonly externalUrl: string;
}

export function ruleFunctions({ externalUrl }: ExternalUrl): ReadonlyMap<string, TemplateFunction> {
  return new Map([
    ...BUILTINS,
    ['args', variadic([], 'any', named)],
    ['title', ofText(title)],
    ['toUpper', ofText(upper)],
    ['toLower', ofText(lower)],
    ['stripPort', ofText(withoutPort)],
    ['stripDomain', ofText(withoutDomain)],
    ['graphLink', ofText(expr => `/graph?g0.expr=${encodeURIComponent(expr)}&g0.tab=0`)],
    ['tableLink', ofText(expr => `/graph?g0.expr=${encodeURIComponent(expr)}&g0.tab=1`)],
    ['safeHtml', ofText(text => text)],
    ['urlQueryEscape', ofText(text => encodeURIComponent(text))],
    ['humanize', fixed(['any'], ([value]) => humanize(value))],
    ['humanize1024', fixed(['any'], ([value]) => humanize1024(value))],
    ['humanizeDuration', fixed(['any'], ([value]) => humanizeDuration(value))],
    ['humanizePercentage', fixed(['any'], ([value]) => humanizePercentage(value))],
    ['humanizeTimestamp', fixed(['any'], ([value]) => humanizeTimestamp(value))],
    ['toTime', fixed(['any'], ([value]) => toTime(value))],
    ['parseDuration', fixed(['string'], ([text]) => parseDuration(text as string))],
    ['externalURL', fixed([], () => externalUrl)],
    ['pathPrefix', fixed([], () => pathOf(externalUrl))],
    ...weighted(64, [
      [
        'match',
        fixed(['string', 'string'], ([pattern, text]) => countPattern(pattern as string, text as string) > 0),
      ],
      [
        'reReplaceAll',
        fixed(['string', 'string', 'string'], ([pattern, by, text]) =>
          replacePattern(pattern as string, text as string, by as string, false),
        ),
      ],
    ] as const),
  ]);
}

/** Functions that any rule text may call. */
export const RULE_FUNCTIONS = ruleFunctions({ externalUrl: '' });

function ofText(map: (text: string) => string): TemplateFunction {
  return fixed(['string'], ([text]) => map(text as string));
}

/** `args 1 2` is a map of `arg0` and `arg1`, for templates that are called. */
function named(values: readonly Value[]): Value {
  return new Map(values.map((value, index) => [`arg${index}`, value]));
}

function withoutPort(host: string): string {
  const match = /^(?:\[([^\]]*)\]|([^:]*)):[^:]*$/.exec(host);
  return match === null ? host : (match[1] ?? match[2]);
}

/** Leaves IP addresses unchanged. */
function withoutDomain(hostPort: string): string {
  const match = /^(\[[^\]]*\]|[^:]*)(:[^:]*)?$/.exec(hostPort);
  if (match === null) return hostPort;
  const [, host, port = ''] = match;
  if (host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host)) return hostPort;
  return host.split('.', 1)[0] + port;
}

function pathOf(url: string): string {
  if (url === '') return '';
  if (!URL.canParse(url)) throw new CallError('external_url is not a URL');
  return new URL(url).pathname.replace(/\/$/, '');
}
