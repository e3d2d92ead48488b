import { expect, test } from 'vitest';
import { whoMakesWay, type Claim } from '../../../../src/api/connections/who-makes-way.ts';

const some: Omit<Claim<string>, 'of'> = {
  doing: 'waiting',
  waitedMs: 5_000,
  address: '192.0.2.1',
  account: null,
  operator: null,
};

/** Claims by name, each with what is special about it. */
function order(claims: Readonly<Record<string, Partial<Claim<string>>>>, reserve = 2): string[] {
  return whoMakesWay(
    Object.entries(claims).map(([of, special]) => ({ ...some, ...special, of })),
    reserve,
  );
}

const crowd = (address: string, size: number, special: Partial<Claim<string>> = {}) =>
  Object.fromEntries(
    Array.from({ length: size }, (_, i): [string, Partial<Claim<string>>] => [
      `${address} ${i}`,
      { address, ...special },
    ]),
  );

test('the one that has waited longest for its client goes first', () => {
  expect(order({ b: { waitedMs: 2_000 }, a: { waitedMs: 3_000 }, c: { waitedMs: 1_000 } })).toEqual([
    'a',
    'b',
    'c',
  ]);
});

test('the address with the most goes before one that has waited longer', () => {
  const [first] = order({ alone: { address: '192.0.2.9', waitedMs: 60_000 }, ...crowd('192.0.2.1', 2) });
  expect(first).toBe('192.0.2.1 0');
});

test('an account with many addresses is one crowd', () => {
  const many = { a: { address: '192.0.2.1' }, b: { address: '192.0.2.2' }, c: { address: '192.0.2.3' } };
  const ofOne = Object.fromEntries(
    Object.entries(many).map(([name, special]) => [name, { ...special, account: 'evil' }]),
  );
  expect(order({ other: { address: '192.0.2.9', waitedMs: 60_000 }, ...ofOne }).at(-1)).toBe('other');
});

test('connections of proxies between two requests are no crowd', () => {
  const proxys = crowd('proxy', 5, { address: null, waitedMs: 60_000 });
  expect(order({ ...proxys, ...crowd('192.0.2.1', 2) }).slice(0, 2)).toEqual(['192.0.2.1 0', '192.0.2.1 1']);
});

test('streams and short requests stay; long requests of a crowd go before connections that have just begun', () => {
  const claims = {
    fresh: { address: '192.0.2.9', waitedMs: 10 },
    stream: { doing: 'streaming' as const },
    short: { doing: 'working' as const, waitedMs: 100 },
    long: { doing: 'working' as const, waitedMs: 4_000 },
  };
  expect(order(claims)).toEqual(['long', 'fresh']);
});

test('a long request of few stays', () => {
  const claims = {
    ...crowd('192.0.2.1', 9, { waitedMs: 10 }),
    long: { doing: 'working' as const, address: '192.0.2.7', waitedMs: 9_000 },
  };
  expect(order(claims)).not.toContain('long');
});

test('the reserve goes last; for connections with the token of the operator before others of its address', () => {
  const claims = {
    oldest: { operator: 'here' as const, waitedMs: 90_000 },
    newer: { operator: 'here' as const, waitedMs: 40_000 },
    newest: { operator: 'near' as const, waitedMs: 30_000 },
    fresh: { waitedMs: 1 },
  };
  expect(order(claims)).toEqual(['newest', 'fresh', 'oldest', 'newer']);
});

test('an address that the operator shares with a crowd keeps nothing for it', () => {
  const claims = { ...crowd('192.0.2.1', 3, { operator: 'near' }), other: { address: '192.0.2.9' } };
  expect(order(claims).at(-1)).toBe('other');
});
