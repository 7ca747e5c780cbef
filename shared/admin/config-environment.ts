/**
 * `${VAR}` and `${VAR:default}` (also `:-` and `:=`) in a configuration file. An unset or empty variable is its
 * default, or nothing. Only the form with braces counts: `$` stands in regular expressions too.
 */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::[-=]?([^}]*))?\}/g;

export function expandEnvironment(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  return text.replace(REFERENCE, (_, name: string, fallback: string | undefined) => {
    return environment[name] || (fallback ?? '');
  });
}
