import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { labelsOf } from '../../shared/base/model/labels.ts';
import { LabelsEncoder } from '../../shared/server/http/labels-encoder.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.string({ maxLength: 8 }),
  fc.constantFrom('', '"', '\\', 'a"b\\c', '\ud800', '\udc00x', '\ufffd', 'é', '__proto__', '\u2028', '\x7f'),
);

test('encodes label sets as JSON does, with lone surrogates replaced', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.tuple(text, text), { maxLength: 5 }), { maxLength: 4 }), sets => {
      const encoder = new LabelsEncoder();
      for (const labels of sets.map(labelsOf)) {
        const encoded = encoder.encode(labels);
        const pairs = labels.map(({ name, value }) => [name, value.toWellFormed()]);
        expect(JSON.parse(encoded)).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(pairs))));
        expect(encoded.isWellFormed()).toBe(true);
      }
    }),
  );
});

test('writes names in their order, also those that look like indexes', () => {
  const labels = labelsOf({ b: '1', 10: '2', 9: '3' });
  expect(new LabelsEncoder().encode(labels)).toBe('{"10":"2","9":"3","b":"1"}');
});

test('the last of equal names counts', () => {
  const labels = [
    { name: 'a', value: '1' },
    { name: 'b', value: '2' },
    { name: 'b', value: '3' },
    { name: 'c', value: '4' },
  ];
  expect(new LabelsEncoder().encode(labels)).toBe('{"a":"1","b":"3","c":"4"}');
});

test('shows values with other characters than printable ASCII as the caller wants', () => {
  const labels = labelsOf({ a: 'x\ufffdy', b: 'plain' });
  expect(new LabelsEncoder().encode(labels, value => value.replaceAll('\ufffd', ' '))).toBe(
    '{"a":"x y","b":"plain"}',
  );
});
