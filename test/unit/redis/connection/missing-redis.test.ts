import { expect, test } from 'vitest';
import { connectedOnly, explainMissing } from '../../../../src/redis/connection/missing-redis.ts';

test.each([
  ['connect ECONNREFUSED 10.1.2.3:6379', 'Nothing listens'],
  ['getaddrinfo ENOTFOUND redis.example', 'host is not found'],
  ['getaddrinfo EAI_AGAIN redis.example', 'host is not found'],
  ['WRONGPASS invalid username-password pair or user is disabled.', 'refuses the user or the password'],
  ['NOAUTH HELLO must be called with the client already authenticated', 'wants a password'],
  ["NOPERM User app has no permissions to run the 'info' command", 'may not do what is needed'],
  ["NOPERM User app has no permissions to run the 'select' command", 'may not do what is needed'],
  ['ERR DB index is out of range', 'no database of the number'],
  ['ERR This instance has cluster support disabled', 'a single server, no cluster'],
  [
    "failed to connect to sentinel 10.1.2.3:6379 because ERR unknown command 'sentinel', with args",
    'no sentinel',
  ],
  ['MOVED 866 10.1.2.3:6379', 'redis+cluster://'],
  ['ERR SELECT is not allowed in cluster mode', 'redis+cluster://'],
  ["ERR unknown command 'info', with args beginning with: ", 'has no INFO'],
  ['connect ENOENT /run/example.sock', 'No socket has its path'],
  ['connect EACCES /run/example.sock', 'may not open its socket'],
  ['read ECONNRESET', 'whether it is to begin with rediss://'],
  ['Unknown RESP type 72 "H". Please report this.', 'no Redis'],
  ['LOADING Redis is loading the dataset in memory', 'loading its data'],
  [connectedOnly, 'may be loading its data'],
  ['ERR max number of clients reached', 'no place for more clients'],
  ['self-signed certificate', 'TLS fails'],
  ['All sentinels are unreachable. Retrying from scratch', 'does not answer'],
  ['no connection yet', 'does not answer'],
])('a Redis of which was heard "%s" is explained, without its name or address', (reason, meaning) => {
  const explained = explainMissing(reason);
  expect(explained).toContain(meaning);
  expect(explained).not.toMatch(/example|10\.1|app/);
});
