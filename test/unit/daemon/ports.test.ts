import { expect, test } from 'vitest';
import { apiConnectionsMax, openFilesMax } from '../../../src/daemon/ports.ts';

test.each([
  [Infinity, 20_000],
  [1_048_576, 20_000],
  [20_000, 15_000],
  [1_024, 768],
  [300, 172],
  [100, 1],
])('of %s open files the API may have %s as connections', (files, connections) => {
  expect(apiConnectionsMax(files)).toBe(connections);
});

test('the limit of this process is known', () => {
  expect(openFilesMax()).toBeGreaterThan(100);
});
