import { describe, expect, test } from 'vitest';
import { hasCurrentCopy, takesGzip } from '../../../src/http/asset.ts';

test('an Accept-Encoding of thousands of codings is not read', () => {
  expect(takesGzip(`gzip${',br'.repeat(100)}`)).toBe(true);
  expect(takesGzip(`gzip${',br'.repeat(5_000)}`)).toBe(false);
});

test.each([
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['GZIP', true],
  ['gzip, deflate, br, zstd', true],
  ['deflate, gzip;q=1.0, *;q=0.5', true],
  ['*', true],
  ['br;q=1, gzip ; q=0.001', true],
  ['identity, gzip;q=0.5', false],
  ['gzip;q=0', false],
  ['gzip;q=0.000, identity', false],
  ['*;q=0', false],
  ['gzip2', false],
  ['x-gzip', false],
])('Accept-Encoding: %s takes gzip: %s', (header, takes) => {
  expect(takesGzip(header)).toBe(takes);
});

describe('If-None-Match', () => {
  test.each([
    [undefined, false],
    ['', false],
    ['W/"abc"', true],
    ['"abc"', true],
    ['W/"x", W/"abc"', true],
    ['*', true],
    ['W/"abcd"', false],
    ['abc', false],
  ])('%s names the tag W/"abc": %s', (header, current) => {
    expect(hasCurrentCopy(header, 'W/"abc"')).toBe(current);
  });
});
