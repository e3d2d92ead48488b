import { expect, test } from 'vitest';
import { createSealer } from '../../../src/secrets/seal.ts';
import { partnerKeyPlace } from '../../../src/secrets/seal-place.ts';
import { resealOld, tallySecrets } from '../../../src/secrets/stored-secrets.ts';
import type { SealedRecord } from '../../../src/secrets/stored-secrets.ts';

const key = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const [march, june, lost] = [key('2026-03', 3), key('2026-06', 6), key('lost', 1)];
const sealer = createSealer([june, march]);

const placeOf = (account: string) => partnerKeyPlace(account, 'https://partner.example');

/** A record in memory whose texts were sealed with `sealedWith`; `isChanged` makes replacing fail. */
function record(
  sealedWith: typeof march,
  account: string,
  secrets: string[],
  { isChanged = false }: { isChanged?: boolean } = {},
) {
  const old = createSealer([sealedWith]);
  const place = placeOf(account);
  const stored = { texts: secrets.map((secret) => old.seal(secret, place)), writes: 0 };
  const sealed: SealedRecord = {
    texts: stored.texts.map((text) => ({ text, place })),
    async replace(texts) {
      if (isChanged) return false;
      stored.texts = [...texts];
      stored.writes += 1;
      return true;
    },
  };
  return { stored, sealed };
}

test('what an older key sealed is sealed with the newest, and only that is written', async () => {
  const [old, current] = [record(march, 'a', ['one', 'two']), record(june, 'b', ['three'])];
  expect(await resealOld(sealer, [old.sealed, current.sealed])).toBe(1);
  expect(old.stored.texts.every((text) => sealer.isCurrent(text))).toBe(true);
  expect(old.stored.texts.map((text) => sealer.open(text, placeOf('a')))).toEqual(['one', 'two']);
  expect([old.stored.writes, current.stored.writes]).toEqual([1, 0]);
});

test('a record that does not open, or that somebody changes meanwhile, is left as it is', async () => {
  const unreadable = record(lost, 'a', ['one']);
  const changed = record(march, 'b', ['two'], { isChanged: true });
  const good = record(march, 'c', ['three']);
  expect(
    await resealOld(
      sealer,
      [unreadable, changed, good].map(({ sealed }) => sealed),
    ),
  ).toBe(1);
  expect([unreadable, changed, good].map(({ stored }) => stored.writes)).toEqual([0, 0, 1]);
});

test('texts are counted by key, and whose do not open is told', async () => {
  const records = [
    record(march, 'a', ['one', 'two']),
    record(june, 'b', ['three']),
    record(lost, 'c', ['four', 'five']),
    record(key('2026-06', 9), 'd', ['six']),
  ];
  const tally = await tallySecrets(
    sealer,
    records.map(({ sealed }) => sealed),
  );
  expect(Object.fromEntries(tally.readable)).toEqual({ '2026-03': 2, '2026-06': 1 });
  expect(Object.fromEntries(tally.unreadable)).toEqual({ lost: 2, '2026-06': 1 });
  expect(tally.unreadableOwners).toEqual(['account:c', 'account:d']);
});

test('a large store is gone through in turns with everything else', async () => {
  const many = Array.from({ length: 500 }, () => record(march, 'a', ['one']).sealed);
  let turns = 0;
  const count = setInterval(() => (turns += 1), 0);
  await tallySecrets(sealer, many);
  clearInterval(count);
  expect(turns).toBeGreaterThan(0);
});
