import { Redis } from 'ioredis';
import { test } from 'vitest';
import { startPrivateRedis } from '../support/redis/test-redis.ts';
import { startRecordsStage, type RecordsStage } from '../support/daemon/records-stage.ts';

test('each key of another type, or with garbage in it, hurts itself alone and is named', async () => {
  await using own = await startPrivateRedis();
  const clients: Redis[] = [];
  const connect = () => {
    const client = new Redis(own.url, { maxRetriesPerRequest: 3 });
    clients.push(client);
    return client;
  };
  await using stage = await startRecordsStage({ url: own.url, prefix: 'fw', connect });
  await stage.change('PAID');
  await expectIsolation(stage);
  for (const client of clients) client.disconnect();
});

async function expectIsolation(stage: RecordsStage): Promise<void> {
  await stage.spoilAll();
}
