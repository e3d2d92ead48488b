import { expect } from 'vitest';

/** Expects that none of these is so. Without any there is nothing to learn, so that fails too. */
export function expectNone<T>(all: readonly T[], isSo: (one: T) => boolean, where: string): void {
  expect(all.length, `number of ${where}`).toBeGreaterThan(0);
  expect(all.filter(isSo), where).toEqual([]);
}
