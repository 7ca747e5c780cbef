import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { linkOf, MAX_LINKS, templateProblem, withLink } from '../../ui/src/lines/field-links.ts';

describe('a link of a field', () => {
  test.each([
    ['https://t.example/trace/{value}', 'https://t.example/trace/a%20b%2F%3C'],
    ['http://t.example/?q={value}&x={value}', 'http://t.example/?q=a%20b%2F%3C&x=a%20b%2F%3C'],
    ['https://t.example/', undefined],
    ['javascript:alert({value})', undefined],
    ['data:text/html,{value}', undefined],
    ['https://{value}', undefined],
    ['', undefined],
  ])('%s', (template, link) => {
    expect(linkOf(template, 'a b/<')).toBe(link);
  });

  test('stays at the address of its template, for any value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), value => {
        const link = linkOf('https://t.example/trace/{value}', value);
        if (link !== undefined) expect(new URL(link).origin).toBe('https://t.example');
      }),
    );
  });

  test.each([
    ['ftp://x/{value}', 'A link starts with http:// or https://.'],
    ['https://x/', 'A link contains {value} for the value.'],
    ['https://[/{value}', 'This is not a valid URL.'],
    ['https://x/{value}', undefined],
  ])('%s has the problem %s', (template, problem) => expect(templateProblem(template)).toBe(problem));

  test('is replaced, removed, and one of a limited number', () => {
    const one = withLink({}, 'a', 'https://x/{value}');
    expect(withLink(one, 'a', 'https://y/{value}')).toEqual({ a: 'https://y/{value}' });
    expect(withLink(one, 'a', '')).toEqual({});
    const full = Object.fromEntries(
      Array.from({ length: MAX_LINKS }, (_, i) => [`f${i}`, 'https://x/{value}']),
    );
    expect(withLink(full, 'z', 'https://x/{value}')).toEqual(full);
    expect(withLink(full, 'f1', 'https://y/{value}').f1).toBe('https://y/{value}');
  });
});
