import { expect, test } from 'vitest';
import { createTurns } from '../../../src/names/turns.ts';

/** Turns whose works end when the test says so; `begun` lists them in the order in which they began. */
function stage(limits: { overall: number; perOwner: number; waiting?: number }) {
  const turns = createTurns({ waiting: 100, ...limits });
  const begun: string[] = [];
  const ends = new Map<string, (failed?: boolean) => void>();
  let made = 0;
  function enter(owner: string): boolean {
    made += 1;
    const name = `${owner}${made}`;
    return turns.enter(owner, () => {
      begun.push(name);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      ends.set(name, (failed = false) => (failed ? reject(new Error('failed')) : resolve()));
      return promise;
    });
  }
  async function end(name: string, failed = false): Promise<void> {
    ends.get(name)?.(failed);
    await new Promise(setImmediate);
  }
  return { enter, end, begun };
}

test('an owner with much work takes no place from another', () => {
  const { enter, begun } = stage({ overall: 10, perOwner: 2 });
  for (let i = 0; i < 50; i += 1) enter('evil');
  enter('good');
  expect(begun).toEqual(['evil1', 'evil2', 'good51']);
});

test('its next work begins when one of its own has ended, also by a failure', async () => {
  const { enter, end, begun } = stage({ overall: 10, perOwner: 1 });
  for (let i = 0; i < 3; i += 1) enter('a');
  await end('a1', true);
  await end('a2');
  expect(begun).toEqual(['a1', 'a2', 'a3']);
});

test('where all places are taken, free ones go around the owners that wait', async () => {
  const { enter, end, begun } = stage({ overall: 2, perOwner: 2 });
  for (const owner of ['a', 'a', 'a', 'a', 'b', 'c']) enter(owner);
  await end('a1');
  await end('a2');
  await end('a3');
  await end('b5');
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b5', 'c6', 'a4']);
});

test('an owner whose own places are taken does not keep the next one waiting', async () => {
  const { enter, end, begun } = stage({ overall: 2, perOwner: 1 });
  for (const owner of ['a', 'b', 'a', 'c']) enter(owner);
  await end('b2');
  expect(begun).toEqual(['a1', 'b2', 'c4']);
});

test('too much waiting work is refused, and never begins', async () => {
  const { enter, end, begun } = stage({ overall: 9, perOwner: 1, waiting: 1 });
  expect([enter('a'), enter('a'), enter('a'), enter('b')]).toEqual([true, true, false, true]);
  await end('a1');
  await end('a2');
  expect(begun).toEqual(['a1', 'b4', 'a2']);
});
