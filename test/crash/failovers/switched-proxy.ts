import { startPrivateRedis } from '../../support/redis/test-redis.ts';
import {
  failLagging,
  isFollowing,
  isPrimary,
  joinMember,
  mendReplication,
  syncAtOnce,
  until,
  type FailoverGroup,
  type Member,
} from './replication.ts';
import { startSwitchingProxy } from './switching-proxy.ts';

/**
 * A Redis and its replica behind a proxy that goes over to the replica while that lags behind; the former
 * primary follows it then.
 */
export async function startSwitchedProxy(): Promise<FailoverGroup> {
  await using stack = new AsyncDisposableStack();
  const servers = await Promise.all(
    [1, 2].map(async () => stack.use(await startPrivateRedis({ args: syncAtOnce }))),
  );
  const [first, second] = servers.map((redis) => stack.use(joinMember(redis))) as [Member, Member];
  await second.client.replicaof('127.0.0.1', first.redis.port);
  const proxy = stack.use(await startSwitchingProxy(first.redis.port));
  let pair: readonly [primary: Member, replica: Member] = [first, second];
  const untilWhole = () => until('the replica behind the proxy follows', () => isFollowing(pair[1]));
  await untilWhole();

  async function goOver(primary: Member, replica: Member): Promise<void> {
    await replica.client.replicaof('NO', 'ONE');
    await until('the replica is a primary', () => isPrimary(replica));
    await proxy.switchTo(replica.redis.port);
    await mendReplication(primary);
    await primary.client.replicaof('127.0.0.1', replica.redis.port);
    pair = [replica, primary];
  }

  const running = stack.move();
  return {
    url: `redis://127.0.0.1:${proxy.port}`,
    ways: [
      {
        name: 'a proxy that goes over to a replica',
        async run(whileLagging) {
          const undone = await failLagging(pair, whileLagging, goOver);
          await untilWhole();
          return undone;
        },
      },
    ],
    untilWhole,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
