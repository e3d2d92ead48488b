// A forward proxy with credentials, for .ci/behind-a-proxy: node .ci/forward-proxy.mjs HOST PORT USER PASSWORD. It prints the destination
// of each tunnel.
import { Server } from 'proxy-chain';

const [host, port, user, expected] = process.argv.slice(2);

const server = new Server({
  host,
  port: Number(port),
  verbose: false,
  prepareRequestFunction({ username, password, hostname, port: to }) {
    const isKnown = username === user && password === expected;
    if (isKnown) process.stdout.write(`${hostname}:${to}\n`);
    return { requestAuthentication: !isKnown };
  },
});
await server.listen();
