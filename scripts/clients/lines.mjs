/** Lines that every client sends: numbered, and difficult for encoders, parsers and terminals. */
const ODD = [
  'plain text',
  'sold 3 of "größe M"',
  'back\\slash, \\n that is no line feed, \\u0041 that is no letter',
  'quotes \' " ` and a tab\there',
  '{"level":"warn","msg":"JSON in a line","nested":{"a":[1,null,true]}}',
  'level=error msg="logfmt \\"inside\\"" took=1.5ms',
  '日本語 中文 한국어',
  'emoji 🚚 family 👩‍👩‍👧‍👦 flag 🇪🇺',
  'عربي עברית',
  'e\u0301 combining, no-break\u00a0space, zero\u200bwidth, line\u2028separator, \ufeff mark',
  '%s %d %% {} {0} $HOST $\u007bHOST} $(id) {{.Line}} <no value>',
  '<b>&amp; "markup"</b> <![CDATA[x]]>',
  '\u001b[31mred\u001b[0m and a bell \u0007',
  'trailing spaces  ',
  'a=1&b=2;c=3,d=4|e=5#f',
  `long ${'0123456789abcdef'.repeat(250)} end`,
  'null undefined NaN -0 1e309 0x10',
  '2020-01-01T00:00:00Z a time that is not its own',
  '\ufffd replacement and \u{10ffff} the last character',
  'DROP TABLE x; -- \u00df\u0130\u0131',
];

/** `count` distinct lines. */
export function oddLines(count) {
  return Array.from({ length: count }, (_, i) => `${String(i).padStart(4, '0')} ${ODD[i % ODD.length]}`);
}
