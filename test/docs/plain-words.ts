/** Words and phrases for which there is a plainer one, with that one. Code is not prose, and is not looked at. */
const PLAINER: readonly (readonly [RegExp, string])[] = [
  [/\bwho(m)?ever\b/i, 'any client that, any'],
  [/\b(some|no|any|every)body\b/i, 'the component or role'],
  [/\banew\b/i, 'again'],
  [/\blately\b/i, 'recently'],
  [/\bbesides?\b/i, 'next to, in addition to'],
  [/\binlets?\b|\bways? in\b(?! which)/i, 'receiver'],
  [/\bshippers?\b/i, 'agent'],
  [/\b(tells?|told)\b/i, 'reports, shows, describes'],
  [/\b(gives? back|takes? back)\b/i, 'releases, cancels'],
  [/\bgives? way\b/i, 'yields'],
  [/(?<!\b(?:a|one|single|plain|of) )\bpass(es|ed)? over\b/i, 'skips, prunes'],
  [/\b(goes|go|went) on\b/i, 'continues'],
  [/\bfor ever\b/i, 'forever'],
  [/\bof (its|their|one's|his) own\b/i, 'separate'],
  [/\bin turns\b/i, 'in time slices'],
  [/\btokens? of access\b/i, 'access token'],
  [/\bhousekeeping\b/i, 'maintenance'],
  [/\b(is|are) no (?=(number|time|file|name|address|text|object)\b)/i, 'is not a'],
  [/\bsome (?=\d)/i, 'about'],
  [/\bkept results?\b/i, 'results cache'],
  [/\b(leaves?|left) out\b/i, 'omits, omitted'],
  [/\bso many (?!(as|that|more|of)\b)/i, 'the number, that number'],
  [/\bstretch(es)?\b/i, 'range, interval'],
  [/\b(re)?packing\b/i, 'compaction, merge'],
  [/\bpromoted (column|field)s?\b/i, 'field column'],
  [/\b(licence|sanitis|grey|centre|favour)\w*/i, 'American spelling'],
  [/\b(colours?|behaviours?|cancelled|cancelling|recognised|optimis\w+|synthesised)\b/i, 'American spelling'],
];

/** Words of a text that have a plainer one, each with it. */
export function unplainWords(prose: string): string[] {
  return PLAINER.flatMap(([pattern, plainer]) => {
    const found = pattern.exec(prose);
    if (found === null) return [];
    const around = prose.slice(Math.max(0, found.index - 40), found.index + 40).replace(/\s+/g, ' ');
    return [`${found[0]}: ${plainer} (... ${around} ...)`];
  });
}
