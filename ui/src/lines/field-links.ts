/**
 * Links from values to other systems, such as from a trace ID to the trace. A template is a URL that contains
 * `{value}`.
 *
 *     linkOf('https://traces.example.com/trace/{value}', 'a b')   // https://traces.example.com/trace/a%20b
 */
export const VALUE_MARK = '{value}';

/** Maximum number of links per browser. */
export const MAX_LINKS = 50;

/**
 * Link of a value; undefined if the template is not an HTTP or HTTPS URL with the mark. Scripts never run.
 */
export function linkOf(template: string, value: string): string | undefined {
  if (!/^https?:\/\//i.test(template) || !template.includes(VALUE_MARK)) return undefined;
  const text = template.replaceAll(VALUE_MARK, encodeURIComponent(value.toWellFormed()));
  return URL.canParse(text) ? text : undefined;
}

/** Problem of a template; undefined if it is valid. */
export function templateProblem(template: string): string | undefined {
  if (!/^https?:\/\//i.test(template)) return 'A link starts with http:// or https://.';
  if (!template.includes(VALUE_MARK)) return `A link contains ${VALUE_MARK} for the value.`;
  return linkOf(template, 'x') === undefined ? 'This is not a valid URL.' : undefined;
}

type Links = Readonly<Record<string, string>>;

/** Sets a link. An empty template removes it. Links beyond MAX_LINKS are not added. */
export function withLink(links: Links, name: string, template: string): Links {
  const { [name]: _, ...others } = links;
  if (template === '' || Object.keys(others).length >= MAX_LINKS) return others;
  return { ...others, [name]: template };
}
