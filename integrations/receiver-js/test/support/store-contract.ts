import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Delivery, Store } from '../../src/index.ts';
import { newId } from './sign.ts';

/** Opens the store under test on what is kept for all of these tests; null where this machine cannot run it. */
export type OpenStore = (waitMs: number) => Store<unknown> | null;

let filings = 0;

/** Deliveries of a filing that no other test has. */
export function filing(): (sequence: number, takes?: Delivery['takes'], webhookId?: string) => Delivery {
  filings += 1;
  const id = `f_${filings}`;
  return (sequence, takes = 'greater', webhookId = newId()) => ({
    webhookId,
    account: 'default',
    filing: { id, sequence },
    takes,
  });
}

/** A handler that does nothing. */
export const nothing = (): Promise<void> => Promise.resolve();
/** A handler that must not be called. */
export const never = (): Promise<void> => Promise.reject(new Error('handled although it should not be'));

/** A handler that is held until `release`, and says when it began. */
function held() {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const handle = () => {
    begun.resolve();
    return release.promise;
  };
  return { handle, begun: begun.promise, release: release.resolve, fail: release.reject };
}

/** What every store promises (`Store`). */
export function describeStore(name: string, open: OpenStore): void {
  describe(`every store: ${name}`, () => {
    // Whether a test is skipped would otherwise be decided before the file's `before` has run.
    const holds = (title: string, body: (store: Store<unknown>) => Promise<void>) =>
      test(title, async (context) => {
        const store = open(8_000);
        if (store === null) context.skip('its server is not installed');
        else await body(store);
      });

    holds('handles an event once, whatever comes again', async (store) => {
      const of = filing();
      const first = of(1);
      assert.equal(await store.take(first, nothing), 'handled');
      assert.equal(await store.take(first, never), 'repeated');
      assert.equal(await store.take(of(3), nothing), 'handled');
      assert.equal(await store.take(first, never), 'repeated');
      assert.equal(await store.take(of(2), never), 'stale');
      assert.equal(await store.take(of(3), never), 'stale');
      assert.equal(await store.take(of(10), nothing), 'handled');
    });

    holds('takes a snapshot of the same sequence, and none that is older', async (store) => {
      const of = filing();
      const snapshot = of(0, 'equal');
      assert.equal(await store.take(snapshot, nothing), 'handled');
      assert.equal(await store.take(snapshot, never), 'repeated');
      assert.equal(await store.take(of(4), nothing), 'handled');
      assert.equal(await store.take(of(4, 'equal'), nothing), 'handled');
      assert.equal(await store.take(of(3, 'equal'), never), 'stale');
    });

    holds('takes every event once where stale ones are wanted, and says which they are', async (store) => {
      const of = filing();
      const seen: boolean[] = [];
      const see = async ({ isStale }: { isStale: boolean }) => void seen.push(isStale);
      const late = of(4, 'any');
      assert.equal(await store.take(of(5, 'any'), see), 'handled');
      assert.equal(await store.take(late, see), 'handled');
      assert.equal(await store.take(late, never), 'repeated');
      assert.equal(await store.take(of(6, 'any'), see), 'handled');
      assert.deepEqual(seen, [false, true, false]);
      assert.equal(await store.take(of(5), never), 'stale'); // the sequence did not fall
    });

    holds('knows events without a filing by their id alone, and accounts apart', async (store) => {
      const operational: Delivery = {
        webhookId: newId(),
        account: 'default',
        filing: null,
        takes: 'greater',
      };
      assert.equal(await store.take(operational, nothing), 'handled');
      assert.equal(await store.take(operational, never), 'repeated');
      assert.equal(await store.take({ ...operational, webhookId: newId() }, nothing), 'handled');
      const of = filing();
      assert.equal(await store.take(of(7), nothing), 'handled');
      assert.equal(await store.take({ ...of(1), account: 'other' }, nothing), 'handled');
    });

    holds('keeps no mark of a handler that failed: the next delivery is handled', async (store) => {
      const first = filing()(1);
      const failing = store.take(first, () => Promise.reject(new Error('the handler’s own')));
      await assert.rejects(failing, /^Error: the handler’s own$/);
      assert.equal(await store.take(first, nothing), 'handled');
      assert.equal(await store.take(first, never), 'repeated');
    });

    holds(
      'handles one of ten deliveries that arrive at once; the others wait and are repeats',
      async (store) => {
        const of = filing();
        const first = of(1);
        const { handle, begun, release } = held();
        const one = store.take(first, handle);
        await begun;
        const others = Array.from({ length: 9 }, () => store.take(first, never));
        release();
        assert.equal(await one, 'handled');
        assert.deepEqual(new Set(await Promise.all(others)), new Set(['repeated']));
      },
    );

    holds('lets a delivery that waits take over where the handler before it failed', async (store) => {
      const first = filing()(1);
      const { handle, begun, fail } = held();
      const one = store.take(first, handle);
      await begun;
      const other = store.take(first, nothing);
      fail(new Error('later'));
      await assert.rejects(one);
      assert.equal(await other, 'handled');
    });

    holds('gives up waiting in time, and leaves other filings alone meanwhile', async (store) => {
      const of = filing();
      const impatient = open(300) ?? store;
      const { handle, begun, release } = held();
      const one = store.take(of(1), handle);
      await begun;
      assert.equal(await store.take(filing()(1), nothing), 'handled');
      assert.equal(await impatient.take(of(2), never), 'in_flight');
      release();
      await one;
      assert.equal(await impatient.take(of(2), nothing), 'handled');
    });
  });
}
