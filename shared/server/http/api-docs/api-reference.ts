/**
 * Generates the page of all endpoints (docs/reference/http-api.md) from the route table and the descriptions
 * of its endpoints.
 */
import { pathsOf } from '../routes.ts';
import { type EndpointDoc, type ParameterDoc, TAGS, type Tag } from './endpoint-doc.ts';
import { docKey, ENDPOINT_DOCS } from './endpoint-docs.ts';
import type { DocumentedRoute } from './openapi.ts';

export const API_PAGE = 'docs/reference/http-api.md';
/** The text before this line is written by hand. */
export const API_MARK =
  '<!-- Generated from here on by `node scripts/make-http-reference.ts`: do not edit below. -->\n';

/** Generated part of the page. */
export function apiReference(routes: readonly DocumentedRoute[]): string {
  const sections = (Object.keys(TAGS) as Tag[]).map(tag => {
    const endpoints = routes.filter(route => ENDPOINT_DOCS[docKey(route)].tag === tag);
    return [`## ${TAGS[tag]}`, '', ...endpoints.flatMap(endpoint)].join('\n');
  });
  return `\n${sections.join('\n')}`;
}

function endpoint(route: DocumentedRoute): string[] {
  const doc = ENDPOINT_DOCS[docKey(route)];
  const others = pathsOf(route)
    .filter(path => path !== route.path)
    .map(shown);
  return [
    `### ${route.methods.join(', ')} ${shown(route.path)}`,
    '',
    `${doc.summary}.${doc.about === undefined ? '' : ` ${doc.about}`}`,
    '',
    ...(others.length === 0 ? [] : [`- Also: ${others.map(path => `\`${path}\``).join(', ')}`]),
    `- Scope: ${scopeOf(route)}`,
    ...(doc.body === undefined
      ? []
      : [`- Body: ${doc.body.about} (${Object.keys(doc.body.types).map(code).join(', ')})`]),
    `- Response: ${statuses(doc)}`,
    '',
    ...parameters(doc.parameters ?? []),
  ];
}

/** A path with its parameters in capitals, as on the other pages. */
function shown(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
}

function scopeOf({ access }: DocumentedRoute): string {
  if (access.kind === 'open') return 'none required';
  if (access.kind === 'known') return 'any token';
  return `${code(access.scope)}${access.over === 'store' ? ' for all tenants' : ''}`;
}

function statuses({ status, type, others = {} }: EndpointDoc): string {
  const rest = Object.entries(others).map(([status, about]) => `${status}: ${about}`);
  return [`${status}${type === undefined ? '' : ` ${code(type)}`}`, ...rest].join('. ');
}

function parameters(all: readonly ParameterDoc[]): string[] {
  if (all.length === 0) return [];
  const rows = all.map(({ name, about, in: location, required }) => {
    const marks = [...(location === 'header' ? ['header'] : []), ...(required ? ['required'] : [])];
    return `| ${code(name)} | ${about.replaceAll('|', '\\|')}${marks.length === 0 ? '' : ` (${marks.join(', ')})`} |`;
  });
  return ['| parameter | meaning |', '|---|---|', ...rows, ''];
}

function code(text: string): string {
  return `\`${text}\``;
}
