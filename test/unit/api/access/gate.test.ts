import { expect, test } from 'vitest';
import { createGate } from '../../../../src/api/access/dear-requests.ts';

const always = new AbortController().signal;

/** What has come of a request for a place so far. */
function follow(entering: Promise<Disposable | null>) {
  const seen: { place: Disposable | null | undefined } = { place: undefined };
  void entering.then((place) => {
    seen.place = place;
  });
  return seen;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('lets in the share of each account and of all together, and the next as one leaves', async () => {
  const gate = createGate({ perAccount: 2, inAll: 3, waiting: 2, waitMs: 60_000 });
  const inside = await Promise.all(['a', 'a', 'b'].map((account) => gate.enter(account, always)));
  expect(inside).not.toContain(null);
  const [third, other] = [follow(gate.enter('a', always)), follow(gate.enter('b', always))];
  await settled();
  expect([third.place, other.place]).toEqual([undefined, undefined]);
  // Room for one, and the first in line has its share already.
  inside[2]?.[Symbol.dispose]();
  await settled();
  expect([third.place, other.place === undefined]).toEqual([undefined, false]);
  inside[0]?.[Symbol.dispose]();
  await settled();
  expect(third.place).toBeDefined();
});

test('refuses those beyond the queue, after the time, and when they are gone', async () => {
  const gate = createGate({ perAccount: 1, inAll: 9, waiting: 1, waitMs: 10 });
  const place = await gate.enter('a', always);
  const waiting = gate.enter('a', always);
  expect(await gate.enter('a', always)).toBeNull();
  expect(await waiting).toBeNull();
  const gone = new AbortController();
  const patient = createGate({ perAccount: 1, inAll: 9, waiting: 1, waitMs: 60_000 });
  using _ = await patient.enter('a', always);
  const leaving = patient.enter('a', gone.signal);
  gone.abort();
  expect(await leaving).toBeNull();
  expect(await patient.enter('a', gone.signal)).toBeNull();
  place?.[Symbol.dispose]();
  expect(await gate.enter('a', always)).not.toBeNull();
});
